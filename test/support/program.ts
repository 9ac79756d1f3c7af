/** How a test starts a program of this repository as a process: the way the test itself was started. */
import { basename, join } from 'node:path'
import { fileURLToPath } from 'node:url'

const root = fileURLToPath(new URL('../..', import.meta.url))
/** Where scripts/test.mjs has compiled all sources to; not there when a test was started from its source. */
const compiled = process.env.PETALDB_COMPILED

/** Flags of Node that running sources takes. */
export const loader: readonly string[] = compiled === undefined ? ['--import', 'tsx'] : ['--enable-source-maps']

/** @param source its path in the repository; scripts/compile.mjs has to know it */
export function program(source: string): string {
  return compiled === undefined ? join(root, source) : join(compiled, 'programs', `${basename(source, '.ts')}.js`)
}
