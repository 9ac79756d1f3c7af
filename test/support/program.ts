/** Starting a program of this repository as a process, from sources or compiled as the test itself. */
import { basename, join } from 'node:path'
import { fileURLToPath } from 'node:url'

const root = fileURLToPath(new URL('../..', import.meta.url))
/** Where scripts/test.mjs has compiled all sources to; undefined when a test was started from its source. */
const compiled = process.env.PETALDB_COMPILED

/** Node flags for running a program. */
export const loader: readonly string[] = compiled === undefined ? ['--import', 'tsx'] : ['--enable-source-maps']

/** @param source its path in the repository; scripts/compile.mjs must list it */
export function program(source: string): string {
  return compiled === undefined ? join(root, source) : join(compiled, 'programs', `${basename(source, '.ts')}.js`)
}
