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

export async function openDatabase(location: string): Promise<Database> {
  const { open } = (await import('../../src/index.ts')) as unknown as { open: (location: string) => Promise<Database> }
  return open(location)
}
