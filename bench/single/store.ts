/** The interface of a store in bench/single-operations.ts and bench/queue.ts: operations on one document at a time. */
import type { Document } from '../../src/model/types.ts'

export const singleStoreNames = ['petaldb', 'sqlite-indexed', 'sqlite', 'nedb', 'classic-level'] as const

export type SingleStoreName = (typeof singleStoreNames)[number]

export interface SingleStore {
  /** Library, version, and how it is used. */
  readonly description: string
  /** Stores a batch of documents before anything is timed. */
  load(documents: readonly Document[]): Promise<void>
  /** Called after the last batch. */
  settle?(): Promise<void>
  /** Each write resolves once it would survive a kill of the process. */
  insert(document: Document): Promise<unknown>
  get(id: number): Promise<Document | undefined>
  /** Adds one to retweet_count and sets `seen`. */
  update(id: number): Promise<unknown>
  /** As update(), for the tweet of a user at a time; undefined if the store would have to scan. */
  updateOfUser?(name: string, at: unknown): Promise<unknown>
  replace(document: Document): Promise<unknown>
  remove(id: number): Promise<unknown>
  /** Deletes the document with the least `_id` and returns it; undefined if the store would have to scan. */
  takeOldest?(): Promise<Document | undefined>
  close(): Promise<void>
}

export async function openSingleStore(name: SingleStoreName, directory: string): Promise<SingleStore> {
  switch (name) {
    case 'petaldb':
      return (await import('./petaldb.ts')).openPetalDb(directory)
    case 'sqlite':
      return (await import('./sqlite.ts')).openSqlite(directory, false)
    case 'sqlite-indexed':
      return (await import('./sqlite.ts')).openSqlite(directory, true)
    case 'nedb':
      return (await import('./nedb.ts')).openNeDb(directory)
    case 'classic-level':
      return (await import('./classic-level.ts')).openLevel(directory)
  }
}
