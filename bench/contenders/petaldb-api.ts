/** PetalDB as used by the benchmarks. */
import type { Database, OpenOptions } from '../../src/index.ts'

// The built package, as users have it: in sources run by tsx, every closure is named whenever it is created.
const built = (file: string): string => new URL(`../../dist/${file}`, import.meta.url).href
const { open } = (await import(built('node.js'))) as typeof import('../../src/index.ts')

export async function openDatabase(location: string, options?: OpenOptions): Promise<Database> {
  return open(location, options)
}
