/** PetalDB as the benchmarks use it. */
import type { Database, OpenOptions } from '../../src/index.ts'

/** Of the built package, as users have it: the sources, run by tsx, name each closure again whenever it is made. */
export async function openDatabase(location: string, options?: OpenOptions): Promise<Database> {
  const built = new URL('../../dist/index.js', import.meta.url).href
  const { open } = (await import(built)) as typeof import('../../src/index.ts')
  return open(location, options)
}
