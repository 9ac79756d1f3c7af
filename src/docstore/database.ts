/**
 * A database: its default collection, and all others by name.
 */

import type { Document } from '../model/types.ts'
import type { IndexStats } from '../sharded-bloom/document-index.ts'
import { Collection } from './collection.ts'
import type { Collections } from './collections.ts'
import type { ReversibleOption } from './ids/ids-option.ts'
import type { DeclaredIndexStats } from './indexes/declared-indexes.ts'
import type { AutoRebuildStats } from './jobs/auto-rebuild.ts'
import { type BackupOptions, type BackupResult, backupDatabase, knownBackupOptions } from './jobs/backup.ts'
import { type CompactOptions, type CompactResult, compactDatabase, knownCompactOptions } from './jobs/compact.ts'
import type { ExpiryStats } from './jobs/expiry.ts'
import { type DatabaseVerifyReport, knownVerifyOptions, type VerifyOptions, verifyDatabase } from './jobs/verify.ts'
import { assertKnownInside } from './opening-options.ts'
import { assertOptions } from './option-checks.ts'
import { type CollectionOptions, knownCollectionOptions } from './options.ts'
import { checkCollectionName } from './store/catalog.ts'

/** The collection that a database is itself. */
export const defaultCollectionName = 'default'

export interface CollectionInfo {
  readonly name: string
  readonly type: 'collection'
}

export interface CollectionStats {
  readonly name: string
  readonly documents: number
  /** UTF-8 bytes of all records. */
  readonly documentBytes: number
  readonly index: IndexStats
  /** How `_id`s lead to documents. */
  readonly ids: 'table' | Required<ReversibleOption>
  /** Declared indexes. */
  readonly declared: readonly DeclaredIndexStats[]
  /** What is built again by itself. */
  readonly autoRebuild: AutoRebuildStats
  /** What is deleted by itself, by indexes with `expireAfterSeconds`. */
  readonly expiry: ExpiryStats
}

export interface DatabaseStats {
  readonly documents: number
  readonly documentBytes: number
  readonly indexBytes: number
  readonly collections: readonly CollectionStats[]
}

/**
 * @example
 * await using db = await open('./tweets.db')
 * await db.insertOne({ text: 'into the default collection' })
 * await db.collection('people').insertOne({ name: 'Ada' })
 */
export class Database<T extends object = Document> extends Collection<T> implements AsyncDisposable {
  readonly #collections: Collections

  /** Databases come from open(). */
  constructor(collections: Collections) {
    super(collections, defaultCollectionName)
    this.#collections = collections
  }

  /**
   * A collection by name; it is created by the first write.
   * @param options for the whole database's life: those of open() where they are left out
   * @throws PetalError InvalidNamespace, BadValue; InvalidOptions when the collection is open with other options, or was
   *   made with other ids
   * @example
   * db.collection('log', { index: 'none' })
   * db.collection('orders', { ids: 'reversible' })
   */
  collection<U extends object = Document>(name: string, options?: CollectionOptions): Collection<U> {
    checkCollectionName(name)
    if (options !== undefined) {
      assertOptions('collection', options, knownCollectionOptions)
      assertKnownInside('collection', options)
      this.#collections.choose(name, options)
    }
    return new Collection<U>(this.#collections, name)
  }

  /** The collections there are. The list is at hand; toArray() is for code written against a driver. */
  listCollections(): readonly CollectionInfo[] & { toArray(): Promise<CollectionInfo[]> } {
    const list = this.#collections.names.map((name): CollectionInfo => ({ name, type: 'collection' }))
    return Object.assign([...list], { toArray: async () => list })
  }

  /**
   * Deletes a collection and all of it; cursors over it end with an error.
   * @returns false when there was none
   * @throws PetalError InvalidNamespace
   */
  async dropCollection(name: string): Promise<boolean> {
    checkCollectionName(name)
    return this.#collections.drop(name)
  }

  /** Figures of every collection, and their sums. */
  async stats(): Promise<DatabaseStats> {
    const collections: CollectionStats[] = []
    for (const name of this.#collections.names) {
      const collection = await this.#collections.reading(name)
      if (collection === undefined) continue
      const { documents, documentBytes } = collection.state
      const declared = await collection.declared.stats()
      const index = collection.indexStats()
      const { ids, autoRebuildStats: autoRebuild, expiryStats: expiry } = collection
      collections.push({ name, documents, documentBytes, index, ids, declared, autoRebuild, expiry })
    }
    const sum = (of: (stats: CollectionStats) => number): number =>
      collections.reduce((total, stats) => total + of(stats), 0)
    return {
      documents: sum(({ documents }) => documents),
      documentBytes: sum(({ documentBytes }) => documentBytes),
      indexBytes: sum(({ index }) => index.bytes.total),
      collections
    }
  }

  /**
   * Checks the store, where it can check itself, every document and `_id`, and the index. Reading and writing go on.
   * @throws AbortedError; what is wrong is reported, not thrown
   * @example
   * const { problems } = await db.verify()
   * for (const { collection, kind, what } of problems) console.error(collection, kind, what)
   */
  async verify(options: VerifyOptions = {}): Promise<DatabaseVerifyReport> {
    assertOptions('verify', options, knownVerifyOptions)
    return verifyDatabase(this.#collections, options)
  }

  /**
   * Copies the database as it is at the call into a new directory, while reading and writing go on. What is acknowledged
   * by then is in the copy, what is written later is not. Tables of the LSM store, which never change, get a second name
   * where the file system allows it: they take no room, and damage to them on the disk is damage to both.
   * @param location must not be there, or be an empty directory; it is there when the copy is complete and durable
   * @throws PetalError DatabaseExists, BadValue for a location within a database, StoreFailure, DataCorruption; AbortedError
   * @example
   * await db.backup('./backups/monday.db')
   */
  async backup(location: string, options: BackupOptions = {}): Promise<BackupResult> {
    assertOptions('backup', options, knownBackupOptions)
    return backupDatabase(this.#collections, location, options)
  }

  /**
   * Merges what the store holds until nothing is kept twice, while reading and writing go on. The store does so by itself,
   * a little at a time; this is for when much was deleted, or nothing will be written any more.
   * @throws PetalError IllegalOperation in a read-only database, StoreFailure, DataCorruption; AbortedError
   * @example
   * const { bytesBefore, bytesAfter } = await db.compact()
   */
  async compact(options: CompactOptions = {}): Promise<CompactResult> {
    assertOptions('compact', options, knownCompactOptions)
    return compactDatabase(this.#collections, options)
  }

  /**
   * Waits for writes, ends all reads, closes the store if open() opened it. Harmless when repeated. An insertMany() or importLines()
   * of an asynchronous source, which may never end, is not waited for to its end: what the source has given is written, and
   * the call fails with DatabaseNotOpen.
   */
  close(): Promise<void> {
    return this.#collections.close()
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close()
  }
}
