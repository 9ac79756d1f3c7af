/** PetalDB as the benchmarks use it. */
import type { Database, OpenOptions } from '../../src/index.ts'

// Of the built package, as users have it: the sources, run by tsx, name each closure again whenever it is made.
const built = (file: string): string => new URL(`../../dist/${file}`, import.meta.url).href
const { open } = (await import(built('index.js'))) as typeof import('../../src/index.ts')
// The first open() imports the store. Here tsx would take as long again for that, and other stores are loaded with their libraries.
await import(built('lsm.js'))

export async function openDatabase(location: string, options?: OpenOptions): Promise<Database> {
  return open(location, options)
}
