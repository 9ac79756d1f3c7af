/** A database: its default collection, and access to all others by name. */

import type { Filled } from '../model/filled.ts'
import { answered } from '../model/time-slice.ts'
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
import { type CollectionOptions, knownCollectionOptions, type NoOptions } from './options.ts'
import type { RenameOptions } from './rename-collection.ts'
import { checkCollectionName } from './store/collection-name.ts'
import { runTransaction, type Transaction, type TransactionOptions } from './transaction/transaction.ts'

/** Name of the collection that the Database object itself represents. */
export const defaultCollectionName = 'default'

/** A collection as returned by listCollections(). */
export interface CollectionInfo {
  readonly name: string
  readonly type: 'collection'
}

/** Statistics of a collection. */
export interface CollectionStats {
  readonly name: string
  /** Number of documents. */
  readonly documents: number
  /** UTF-8 bytes of all stored documents. */
  readonly documentBytes: number
  /** The index over all pairs. */
  readonly index: IndexStats
  /** How the collection maps `_id`s to documents. */
  readonly ids: 'table' | Filled<ReversibleOption>
  /** Declared indexes. */
  readonly declared: readonly DeclaredIndexStats[]
  /** Automatic index rebuilds. */
  readonly autoRebuild: AutoRebuildStats
  /** Automatic deletion of expired documents, by indexes with `expireAfterSeconds`. */
  readonly expiry: ExpiryStats
}

/** Result of Database.stats(): totals, and the statistics of every collection. */
export interface DatabaseStats {
  readonly documents: number
  readonly documentBytes: number
  readonly indexBytes: number
  readonly collections: readonly CollectionStats[]
}

/**
 * An open database, which is also a handle to its default collection.
 * @example
 * await using db = await open('./tweets.db')
 * await db.insertOne({ text: 'into the default collection' })
 * await db.collection('people').insertOne({ name: 'Ada' })
 */
export class Database<out T extends object = Document> extends Collection<T> implements AsyncDisposable {
  readonly #collections: Collections

  /** Not to be called directly: use open(). */
  constructor(collections: Collections) {
    super(collections, defaultCollectionName)
    this.#collections = collections
  }

  /**
   * Returns a handle to a collection by name. The first write creates the collection.
   * @param options apply until the database is closed; where omitted, those of open() apply
   * @throws PetalError InvalidNamespace, BadValue; InvalidOptions when the collection is already open with other
   *   options, or was created with other ids
   * @example
   * db.collection('log', { index: 'none' })
   * db.collection('orders', { ids: 'reversible' })
   */
  collection<U extends object = Document>(name: string, options?: CollectionOptions): Collection<U> {
    checkCollectionName(name)
    if (options !== undefined) {
      assertOptions('collection', options, knownCollectionOptions)
      assertKnownInside('collection', options)
      this.#collections.setOptions(name, options)
    }
    return new Collection<U>(this.#collections, name)
  }

  /**
   * Lists the existing collections. The list is returned synchronously; toArray() is for code written for MongoDB's
   * driver.
   */
  listCollections(options: NoOptions = {}): readonly CollectionInfo[] & { toArray(): Promise<CollectionInfo[]> } {
    assertOptions('listCollections', options, {})
    const list = this.#collections.names.map((name): CollectionInfo => ({ name, type: 'collection' }))
    return Object.assign([...list], { toArray: async () => list })
  }

  /**
   * Deletes a collection with its documents and indexes; open cursors over it fail.
   * @returns false if the collection did not exist
   * @throws PetalError InvalidNamespace; IllegalOperation in a read-only database
   */
  async dropCollection(name: string, options: NoOptions = {}): Promise<boolean> {
    return answered(() => {
      checkCollectionName(name)
      assertOptions('dropCollection', options, {})
      return this.#collections.drop(name)
    })
  }

  /** Renames a collection, like rename() of the collection. @throws as rename() */
  async renameCollection(from: string, to: string, options: RenameOptions = {}): Promise<Collection> {
    return this.collection(from).rename(to, options)
  }

  /**
   * Runs a transaction: what `body` writes through its argument is committed all at once when the promise it returns is
   * fulfilled, and nothing of it if it is rejected, the process is killed, or a limit is exceeded. Its calls see its
   * own changes; other readers do not before they are committed. Writes of others to a collection wait from the first
   * call of the transaction on it until its end, and other transactions and rename() until it has ended: a `body` should
   * not wait for anything slow, and must not wait for writes of the database itself.
   * @returns what `body` returns
   * @throws whatever `body` throws; PetalError MaxTimeMSExpired, TransactionTooLarge for more than 1,000 changed
   *   documents, or 16 Mi characters of them, before or after the change, DuplicateKey of unique indexes,
   *   IllegalOperation in a read-only database, DatabaseNotOpen when the database is closed before `body` is done;
   *   AbortedError. Nothing is then committed
   * @example
   * await db.collection('accounts').insertMany([{ _id: 'a', balance: 50 }, { _id: 'b', balance: 0 }])
   * await db.withTransaction(async (tx) => {
   *   const accounts = tx.collection('accounts')
   *   const enough = { _id: 'a', balance: { $gte: 10 } }
   *   const { modifiedCount } = await accounts.updateOne(enough, { $inc: { balance: -10 } })
   *   if (modifiedCount === 0) throw new Error('Too little money')
   *   await accounts.updateOne({ _id: 'b' }, { $inc: { balance: 10 } })
   *   await tx.collection('log').insertOne({ from: 'a', to: 'b', amount: 10 })
   * })
   */
  withTransaction<R>(body: (tx: Transaction<T>) => R | Promise<R>, options: TransactionOptions = {}): Promise<R> {
    return answered(() => runTransaction(this.#collections, defaultCollectionName, body, options))
  }

  /** Statistics of every collection, with totals. */
  stats(): Promise<DatabaseStats> {
    return answered(() => this.#stats())
  }

  /**
   * Checks the integrity of the store (if it supports that), of every document and `_id`, and of the indexes. Reads and
   * writes continue meanwhile.
   * @returns the problems found; they are not thrown
   * @throws AbortedError
   * @example
   * const { problems } = await db.verify()
   * for (const { collection, kind, what } of problems) console.error(collection, kind, what)
   */
  verify(options: VerifyOptions = {}): Promise<DatabaseVerifyReport> {
    return answered(() => {
      assertOptions('verify', options, knownVerifyOptions)
      return verifyDatabase(this.#collections, options)
    })
  }

  /**
   * Copies the database as of the call into a new directory, while reads and writes continue. The copy contains every
   * write acknowledged by then and none made later. Tables of the LSM store, which are immutable, are hard-linked where
   * the file system allows it: the copies take no space, but damage to such a file on disk affects both databases.
   * @param location must not exist, or be an empty directory; it appears once the copy is complete and durable
   * @throws PetalError DatabaseExists, BadValue for a location inside a database, StoreFailure, DataCorruption;
   *   AbortedError
   * @example
   * await db.backup('./backups/monday.db')
   */
  backup(location: string, options: BackupOptions = {}): Promise<BackupResult> {
    return answered(() => {
      assertOptions('backup', options, knownBackupOptions)
      return backupDatabase(this.#collections, location, options)
    })
  }

  /**
   * Compacts the store until no obsolete version is left, while reads and writes continue. The store compacts
   * incrementally by itself; call this after mass deletions, or when no more writes are to come.
   * @throws PetalError IllegalOperation in a read-only database, StoreFailure, DataCorruption; AbortedError
   * @example
   * const { bytesBefore, bytesAfter } = await db.compact()
   */
  compact(options: CompactOptions = {}): Promise<CompactResult> {
    return answered(() => {
      assertOptions('compact', options, knownCompactOptions)
      return compactDatabase(this.#collections, options)
    })
  }

  /**
   * Waits for pending writes, aborts all reads, and closes the store if open() opened it. Calling it again is harmless.
   * An insertMany() or importLines() whose source is asynchronous does not wait for the source to end: what it has
   * received by then is inserted, and the call fails with DatabaseNotOpen.
   */
  close(): Promise<void> {
    return this.#collections.close()
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close()
  }

  async #stats(): Promise<DatabaseStats> {
    const collections: CollectionStats[] = []
    for (const name of this.#collections.names) {
      const collection = await this.#collections.openForRead(name)
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
}
