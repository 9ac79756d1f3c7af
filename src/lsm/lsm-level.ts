/**
 * Methods beyond abstract-level's own (level-base.ts): zero-copy reads, encoded batches, lookups by value, and tools.
 * Rarely used code is imported on first use, because loading modules is a large part of the time to open.
 */
import type { AbstractReadOptions, AbstractSnapshot, Transcoder } from 'abstract-level'
import { EncodedBatch } from './encoded-batch.ts'
import { approximateSize } from './engine/approximate-size.ts'
import { captureState } from './engine/capture.ts'
import type { Ingest } from './engine/ingest.ts'
import { readInto, readText } from './engine/point-reads.ts'
import { readProperty } from './engine/properties.ts'
import { type SharedView, shareView } from './engine/share-view.ts'
import type { Moment } from './engine/snapshots.ts'
import { invalidKey, notSupported } from './errors.ts'
import { absoluteLocation } from './fs/absolute-location.ts'
import { nodeFileSystem } from './fs/node-file-system.ts'
import { checkedLocation, LevelBase } from './level-base.ts'
import type { ReadOptions } from './level-contract.ts'
import { assertOptions, type StoreOptions } from './options.ts'
import { ByteScan, type ByteScanOptions, fillsCache } from './read/byte-scan.ts'
import type { BackupOptions, BackupResult } from './tools/backup.ts'
import { type LsmStats, lsmStats } from './tools/level-stats.ts'
import type { RepairReport, StoreRepairOptions } from './tools/repair/repair.ts'
import type { VerifyOptions, VerifyReport } from './tools/verify.ts'
import type { WriteOptions } from './typed-level.ts'
import { type Cancellation, LookupIterator, runAttached } from './value/attached.ts'
import type { ZoneValue } from './value/extractor.ts'
import type { KeyRanges } from './value/key-ranges.ts'
import {
  assertRange,
  decodeEntries,
  lookupOptions,
  type ValueLookupOptions,
  type ValueQueryOptions
} from './value/level-lookups.ts'
import type { Entry, LookupOptions } from './value/lookup.ts'
import type { RebuildResult } from './value/rebuild-filters.ts'
import type { ValueQueries } from './value/value-queries.ts'
import type { ValueStats } from './value/value-stats.ts'

/** Options of methods that take keys but are not part of abstract-level. */
export interface KeyOptions<K> {
  /** As in get(); the database's key encoding by default. */
  readonly keyEncoding?: string | Transcoder.PartialEncoder<K> | undefined
}

/**
 * A log-structured merge tree as an abstract-level database, with tables that know which values they hold.
 *
 * Only one process can have it open at a time. Reads run on the calling thread; tables are written and merged in a
 * worker shared by all databases of the process.
 * @example
 * const words = new LsmLevel('./words', { valueEncoding: 'json', values: { extractor: jsonExtractor({ fields: ['lang'] }) } })
 * await words.put('Blatt', { lang: 'de' })
 * for await (const [key] of words.lookup(['lang', 'de'])) console.log(key)
 * await words.close()
 */
export class LsmLevel<K = string, V = string> extends LevelBase<K, V> {
  /**
   * Removes the database, and its directory if nothing else is in it. Does nothing if there is no database.
   * @throws LEVEL_LOCKED while it is open; LEVEL_NOT_SUPPORTED for a directory that does not belong to this store,
   * which is left untouched; LEVEL_IO_ERROR
   */
  static destroy(location: string, options: Pick<StoreOptions, 'fileSystem'> = {}): Promise<void> {
    assertOptions('destroy', options)
    const checked = absoluteLocation(checkedLocation(location), options.fileSystem)
    return import('./tools/destroy.ts').then(({ destroyStore }) =>
      destroyStore(checked, options.fileSystem ?? nodeFileSystem)
    )
  }

  /**
   * Makes a damaged database openable again, keeping everything that can still be read: see tools/repair/repair.ts.
   * Damaged files are moved to the directory `lost` inside it.
   * @param options as for opening it: rewritten tables get its filters
   * @throws LEVEL_LOCKED while it is open; LEVEL_NOT_SUPPORTED for a directory that does not belong to this store,
   * which is left untouched; LEVEL_IO_ERROR, also when there is no database; LEVEL_ABORTED
   */
  static repair(location: string, options: StoreRepairOptions = {}): Promise<RepairReport> {
    assertOptions('repair', options)
    const checked = absoluteLocation(checkedLocation(location), options.fileSystem)
    return import('./tools/repair/repair.ts').then(({ repairStore }) => repairStore(checked, options))
  }

  /**
   * Reads the value of `key` into the start of `target`, bypassing the block cache; a large value is read straight
   * into it.
   * @returns the value's length in bytes, or undefined if there is none; a value longer than `target` is not copied
   * @throws LEVEL_DATABASE_NOT_OPEN, LEVEL_INVALID_KEY, LEVEL_CORRUPTION, LEVEL_IO_ERROR
   */
  readInto(key: K, target: Uint8Array, options: KeyOptions<K> & AbstractReadOptions = {}): number | undefined {
    assertOptions('readInto', options)
    if (key === undefined || key === null) throw invalidKey()
    if (!(target instanceof Uint8Array)) throw new TypeError("The second argument 'target' must be a Uint8Array")
    const at = this._moment(options)
    return readInto(at, this.#encodeKey(key, options), at.sequence, target)
  }

  /**
   * The value of `key` as text, decoded in place; undefined if there is none. Like getSync() with the encoding utf8,
   * without the overhead of its generality.
   * @param key as bytes, including any prefix
   * @throws LEVEL_DATABASE_NOT_OPEN, LEVEL_SNAPSHOT_NOT_OPEN, LEVEL_CORRUPTION, LEVEL_IO_ERROR
   */
  readText(key: Uint8Array, snapshot?: AbstractSnapshot): string | undefined {
    if (!(key instanceof Uint8Array)) throw new TypeError("The first argument 'key' must be a Uint8Array")
    const at = this._moment({ snapshot })
    return readText(at, key, at.sequence)
  }

  /**
   * Scans a range of keys, given as bytes including any prefix, on this thread, and exposes entries without copying.
   * @throws LEVEL_DATABASE_NOT_OPEN
   */
  scanBytes(options: ByteScanOptions & ReadOptions): ByteScan {
    assertOptions('scanBytes', options)
    const fillCache = fillsCache(options, this._engine.options.cacheSize)
    return new ByteScan(this, this._view(options), { ...options, fillCache })
  }

  /**
   * Lets another thread of PetalDB scan the keys from ≤ k < to, now or as of the snapshot, with a ThreadView, which is
   * not exported. The store is not closed before the view is released.
   * REQUIRES: canShareViews
   * @throws LEVEL_DATABASE_NOT_OPEN
   */
  shareView(from: Uint8Array, to: Uint8Array, snapshot?: AbstractSnapshot): SharedView {
    return shareView(this._engine, { start: from, end: to }, this._momentOf({ snapshot }))
  }

  /** Whether other threads can read the tables: only on a file system that threads share. @throws as shareView() */
  get canShareViews(): boolean {
    return this._engine.fileSystem.isShared
  }

  /**
   * Writes a batch atomically. The batch is copied before this returns, so it can be cleared and reused at once. Like
   * batch(), without events and hooks.
   * @throws LEVEL_DATABASE_NOT_OPEN, LEVEL_NOT_SUPPORTED for a batch too large for a log record, LEVEL_IO_ERROR
   */
  async write(batch: EncodedBatch, options: WriteOptions = {}): Promise<void> {
    assertOptions('write', options)
    if (!(batch instanceof EncodedBatch)) throw new TypeError("The first argument 'batch' must be an EncodedBatch")
    const engine = this._engine
    if (batch.count === 0) return
    const hashes = this._takesHashes ? batch.hashes : []
    await engine.write(batch.bytes, batch.count, options.sync === true, hashes)
  }

  /**
   * The approximate size on disk, in bytes, of the table entries in [start, end); recent writes are not counted.
   * @throws LEVEL_DATABASE_NOT_OPEN, LEVEL_CORRUPTION, LEVEL_IO_ERROR
   */
  async approximateSize(start: K, end: K, options: KeyOptions<K> = {}): Promise<number> {
    assertOptions('approximateSize', options)
    if (start === undefined || end === undefined) throw new TypeError("The arguments 'start' and 'end' are required")
    if (this.status === 'opening') return this.deferAsync(() => this.approximateSize(start, end, options))
    return approximateSize(this._engine, this.#encodeKey(start, options), this.#encodeKey(end, options))
  }

  /**
   * Flushes the memtables and merges the tables in [start, end] into one level, dropping entries that nobody can see.
   * @throws LEVEL_DATABASE_NOT_OPEN, LEVEL_CORRUPTION, LEVEL_IO_ERROR
   */
  async compactRange(start: K, end: K, options: KeyOptions<K> = {}): Promise<void> {
    assertOptions('compactRange', options)
    if (start === undefined || end === undefined) throw new TypeError("The arguments 'start' and 'end' are required")
    if (this.status === 'opening') return this.deferAsync(() => this.compactRange(start, end, options))
    return this._engine.compactRange(this.#encodeKey(start, options), this.#encodeKey(end, options))
  }

  /**
   * `leveldb.num-files-at-levelN`, `leveldb.stats`, `leveldb.sstables`, `leveldb.approximate-memory-usage`; an empty
   * string for any other name.
   * @throws LEVEL_DATABASE_NOT_OPEN
   */
  getProperty(name: string): string {
    if (typeof name !== 'string') throw new TypeError("The first argument 'property' must be a string")
    return readProperty(this._engine, name)
  }

  /** Contents and activity since opening, by level and partition. @throws LEVEL_DATABASE_NOT_OPEN */
  stats(): LsmStats {
    return lsmStats(this._engine, this._queries?.values)
  }

  /**
   * Copies the store, as it is at the time of the call, into a new directory while reads and writes continue: see
   * tools/backup.ts.
   * @param location must not exist, or be an empty directory
   * @throws LEVEL_DATABASE_NOT_OPEN, LEVEL_IO_ERROR, LEVEL_CORRUPTION, LEVEL_ABORTED; nothing is left at `location`
   * then
   */
  async backup(location: string, options: BackupOptions = {}): Promise<BackupResult> {
    assertOptions('backup', options)
    const checked = absoluteLocation(checkedLocation(location))
    if (this.status === 'opening') return this.deferAsync(() => this.backup(checked, options))
    const engine = this._engine
    const state = captureState(engine)
    return runAttached(this, options.signal, async (signal) => {
      try {
        const load = () => import('./tools/backup.ts')
        const { backupStore } = await engine.fileSystem.importing(engine.directory, load)
        return await backupStore(engine, state, checked, { ...options, signal })
      } finally {
        state.view.release()
      }
    })
  }

  /**
   * Reads the whole store and reports every problem: see tools/verify.ts for the checks.
   * @throws LEVEL_DATABASE_NOT_OPEN, LEVEL_ABORTED; LEVEL_IO_ERROR if the directory cannot be read
   * @example
   * const { problems } = await db.verify()
   * for (const { kind, path, offset, what } of problems) console.error(kind, path, offset, what)
   */
  async verify(options: VerifyOptions = {}): Promise<VerifyReport> {
    assertOptions('verify', options)
    if (this.status === 'opening') return this.deferAsync(() => this.verify(options))
    const engine = this._engine
    const target = { engine, values: this._queries?.values, view: engine.view() }
    return runAttached(this, options.signal, async (signal) => {
      try {
        const load = () => import('./tools/verify.ts')
        const { verify } = await engine.fileSystem.importing(engine.directory, load)
        return await verify(target, { ...options, signal })
      } finally {
        target.view.release()
      }
    })
  }

  /** Writes the memtables out as tables. @throws LEVEL_DATABASE_NOT_OPEN, LEVEL_IO_ERROR */
  async flush(): Promise<void> {
    if (this.status === 'opening') return this.deferAsync(() => this.flush())
    return this._engine.flush()
  }

  /**
   * Whether beginIngest() can be called: not if the store keeps value filters.
   * @throws LEVEL_DATABASE_NOT_OPEN
   */
  get canIngest(): boolean {
    return this._engine.options.values === undefined
  }

  /** Whether other threads can write the tables. @throws as canIngest */
  get canIngestFromThreads(): boolean {
    return this.canIngest && this.canShareViews
  }

  /**
   * Begins an ingest of tables written by IngestTables, in any thread, with keys that the store does not have; they
   * are added to the store atomically.
   * @throws LEVEL_DATABASE_NOT_OPEN, LEVEL_NOT_SUPPORTED with the option `values`, LEVEL_IO_ERROR
   */
  async beginIngest(): Promise<Ingest> {
    if (this.status === 'opening') return this.deferAsync(() => this.beginIngest())
    return this._engine.beginIngest()
  }

  /**
   * The entries that have a pair, newest first. Filters select tables and blocks, the extractor confirms entries, and
   * entries hidden by a newer version are left out: the result equals that of a full scan. Reads the state at the
   * first next(), or the snapshot's.
   * @param pair as the extractor understands it
   * @throws LEVEL_DATABASE_NOT_OPEN, LEVEL_NOT_SUPPORTED without the option `values`, LEVEL_CORRUPTION,
   * LEVEL_IO_ERROR, LEVEL_ABORTED
   * @example
   * for await (const [key, value] of db.lookup(['user.lang', 'de'], { limit: 10 })) console.log(key, value)
   */
  lookup(pair: unknown, options: ValueLookupOptions<K, V> = {}): LookupIterator<[K, V]> {
    assertOptions('lookup', options)
    return this.#lookup(options, (queries, how, at) => queries.lookup(pair, how, at))
  }

  /**
   * The entries with a value of the field in [low, high], newest first. An undefined bound is open; numbers order
   * before strings. Zone maps select tables and blocks.
   * @throws as lookup()
   */
  rangeLookup(
    field: string,
    low: ZoneValue | undefined,
    high: ZoneValue | undefined,
    options: ValueLookupOptions<K, V> = {}
  ): LookupIterator<[K, V]> {
    assertOptions('rangeLookup', options)
    assertRange(field, low, high)
    return this.#lookup(options, (queries, how, at) => queries.rangeLookup(field, low, high, how, at))
  }

  /**
   * Key ranges that contain every entry with all of the pairs.
   * @throws as lookup()
   */
  async keyRanges(pairs: readonly unknown[], options: ValueQueryOptions = {}): Promise<KeyRanges> {
    assertOptions('keyRanges', options)
    if (this.status === 'opening') return this.deferAsync(() => this.keyRanges(pairs, options))
    const queries = this.#values
    return runAttached(this, options.signal, (signal) =>
      queries.keyRanges(pairs, lookupOptions(options, signal), this._momentOf(options))
    )
  }

  /**
   * Writes side files with filters and zone maps for tables that have none of the current extractor.
   * @throws as lookup()
   */
  async rebuildFilters(options: { readonly signal?: AbortSignal | undefined } = {}): Promise<RebuildResult> {
    assertOptions('rebuildFilters', options)
    if (this.status === 'opening') return this.deferAsync(() => this.rebuildFilters(options))
    const queries = this.#values
    return runAttached(this, options.signal, (signal) => queries.rebuildFilters(signal))
  }

  /** Statistics of filters and filter index; undefined without the option `values`. @throws LEVEL_DATABASE_NOT_OPEN */
  valueStats(): ValueStats | undefined {
    return this._queries?.stats()
  }

  get #values(): ValueQueries {
    const queries = this._queries
    if (queries === undefined) throw notSupported('Lookups by value need the option values')
    return queries
  }

  #lookup(
    options: ValueLookupOptions<K, V>,
    start: (queries: ValueQueries, how: LookupOptions, at: Moment | undefined) => AsyncGenerator<Entry, void>
  ): LookupIterator<[K, V]> {
    return new LookupIterator(this, options.signal, (signal) => this.#decoded(options, signal, start))
  }

  async *#decoded(
    options: ValueLookupOptions<K, V>,
    signal: Cancellation,
    start: (queries: ValueQueries, how: LookupOptions, at: Moment | undefined) => AsyncGenerator<Entry, void>
  ): AsyncGenerator<[K, V], void> {
    if (this.status === 'opening') await this.deferAsync(async () => undefined)
    const decoder = {
      key: this.keyEncoding(options.keyEncoding as 'buffer'),
      value: this.valueEncoding(options.valueEncoding as 'buffer')
    }
    const entries = start(this.#values, lookupOptions(options, signal), this._momentOf(options))
    yield* decodeEntries<K, V>(entries, decoder, options.snapshot)
  }

  #encodeKey(key: K, { keyEncoding }: KeyOptions<K>): Uint8Array {
    // Encoding names and custom encodings are declared as two overloads, neither of which takes both.
    const encoding = keyEncoding === undefined ? this.keyEncoding() : this.keyEncoding(keyEncoding as 'buffer')
    // Whatever the encoding, its format is the one this store supports.
    return (encoding as { encode(key: K): unknown }).encode(key) as Uint8Array
  }
}
