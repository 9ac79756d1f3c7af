/** The part of the public API that the benchmarks use. */
import type { Document } from '../../src/model/types.ts'
import type { IndexStats } from '../../src/sharded-bloom/document-index.ts'

interface Cursor {
  sort(order: object): Cursor
  limit(count: number): Cursor
  toArray(): Promise<Document[]>
}

interface Database {
  insertMany(documents: Iterable<Document>): Promise<unknown>
  importLines(source: Iterable<Uint8Array>): Promise<unknown>
  find(filter: Document): Cursor
  readonly index: { stats(): IndexStats | Promise<IndexStats> }
  close(): Promise<void>
}

/** Of the built package, as users have it: the sources, run by tsx, name each closure again whenever it is made. */
export async function openDatabase(location: string): Promise<Database> {
  const built = new URL('../../dist/index.js', import.meta.url).href
  const { open } = (await import(built)) as { open: (location: string) => Promise<Database> }
  return open(location)
}
