/**
 * What the store has beside what abstract-level asks of it (level-base.ts): bytes where they lie, encoded batches,
 * lookups by value, and tools. What few users ask for is loaded when they do: modules are a good part of the time to open.
 */
import type { AbstractReadOptions, AbstractSnapshot, Transcoder } from 'abstract-level'
import { EncodedBatch } from './encoded-batch.ts'
import { approximateSize } from './engine/approximate-size.ts'
import { captureState } from './engine/capture.ts'
import type { Ingest } from './engine/ingest.ts'
import { readInto, readText } from './engine/point-reads.ts'
import { readProperty } from './engine/properties.ts'
import type { Moment } from './engine/snapshots.ts'
import { notSupported } from './errors.ts'
import { nodeFileSystem } from './fs/node-file-system.ts'
import { checkedLocation, LevelBase } from './level-base.ts'
import type { ReadOptions } from './level-contract.ts'
import { assertOptions, type StoreOptions } from './options.ts'
import { ByteScan, type ByteScanOptions, fillsCache } from './read/byte-scan.ts'
import type { BackupOptions, BackupResult } from './tools/backup.ts'
import { type LsmStats, lsmStats } from './tools/level-stats.ts'
import type { RepairReport } from './tools/repair/repair.ts'
import type { VerifyOptions, VerifyReport } from './tools/verify.ts'
import type { WriteOptions } from './typed-level.ts'
import { type Cancellation, LookupIterator, runAttached } from './value/attached.ts'
import type { ZoneValue } from './value/extractor.ts'
import type { KeyRanges } from './value/key-ranges.ts'
import { decodeEntries, lookupOptions, type ValueLookupOptions, type ValueQueryOptions } from './value/level-lookups.ts'
import type { Entry, LookupOptions } from './value/lookup.ts'
import type { RebuildResult } from './value/rebuild-filters.ts'
import type { ValueQueries } from './value/value-queries.ts'
import type { ValueStats } from './value/value-stats.ts'

/** Of methods that take keys and are not abstract-level's. */
export interface KeyOptions<K> {
  /** As of get(); the database's own by default. */
  readonly keyEncoding?: string | Transcoder.PartialEncoder<K> | undefined
}

/**
 * A log-structured merge tree as an abstract-level database, whose tables know which values they hold.
 *
 * One process at a time has it open. Reads are answered on the calling thread; tables are written and merged in a worker
 * that all databases of the process share.
 * @example
 * const words = new LsmLevel('./words', { valueEncoding: 'json', values: { extractor: jsonExtractor({ fields: ['lang'] }) } })
 * await words.put('Blatt', { lang: 'de' })
 * for await (const [key] of words.lookup(['lang', 'de'])) console.log(key)
 * await words.close()
 */
export class LsmLevel<K = string, V = string> extends LevelBase<K, V> {
  /**
   * Removes the database and, when nothing else is in it, its directory. Fine when there is none.
   * @throws LEVEL_LOCKED while it is open; LEVEL_NOT_SUPPORTED for a directory that is not of this store, which is left
   * as it is; LEVEL_IO_ERROR
   */
  static destroy(location: string, options: Pick<StoreOptions, 'fileSystem'> = {}): Promise<void> {
    assertOptions('destroy', options)
    const checked = checkedLocation(location)
    return import('./tools/destroy.ts').then(({ destroyStore }) =>
      destroyStore(checked, options.fileSystem ?? nodeFileSystem)
    )
  }

  /**
   * Makes a damaged database one that can be opened, with all that can still be read: see tools/repair/repair.ts.
   * Damaged files are kept in the directory `lost` inside it.
   * @param options as it is opened with: what is written anew gets its filters
   * @throws LEVEL_LOCKED while it is open; LEVEL_NOT_SUPPORTED for a directory that is not of this store, which is left
   * as it is; LEVEL_IO_ERROR, also when there is no database
   */
  static repair(location: string, options: StoreOptions = {}): Promise<RepairReport> {
    assertOptions('repair', options)
    const checked = checkedLocation(location)
    return import('./tools/repair/repair.ts').then(({ repairStore }) => repairStore(checked, options))
  }

  /**
   * Brings the value of `key` to the beginning of `target`, past the block cache; a large one is read straight into it.
   * @returns bytes of the value, undefined when there is none; when `target` has no room for so many, they are not
   * written
   * @throws LEVEL_DATABASE_NOT_OPEN, LEVEL_CORRUPTION, LEVEL_IO_ERROR
   */
  readInto(key: K, target: Uint8Array, options: KeyOptions<K> & AbstractReadOptions = {}): number | undefined {
    assertOptions('readInto', options)
    const at = this._moment(options)
    return readInto(at, this.#encodeKey(key, options), at.sequence, target)
  }

  /**
   * The value of `key` as text, decoded where it lies; undefined when there is none. As getSync() with the encoding
   * utf8, without what makes that one general.
   * @param key as bytes, prefix and all
   * @throws LEVEL_DATABASE_NOT_OPEN, LEVEL_SNAPSHOT_NOT_OPEN, LEVEL_CORRUPTION, LEVEL_IO_ERROR
   */
  readText(key: Uint8Array, snapshot?: AbstractSnapshot): string | undefined {
    if (!(key instanceof Uint8Array)) throw new TypeError("The first argument 'key' must be a Uint8Array")
    const at = this._moment({ snapshot })
    return readText(at, key, at.sequence)
  }

  /**
   * Walks over a range of keys, given as bytes with prefix and all, on this thread, and shows entries where they lie.
   * @throws LEVEL_DATABASE_NOT_OPEN
   */
  scanBytes(options: ByteScanOptions & ReadOptions): ByteScan {
    assertOptions('scanBytes', options)
    const fillCache = fillsCache(options, this._engine.options.cacheSize)
    return new ByteScan(this, this._view(options), { ...options, fillCache })
  }

  /**
   * Writes a batch, whole or not at all, and copies what it holds before it returns: the batch can be cleared and used
   * again at once. As batch(), without events and hooks.
   * @throws LEVEL_DATABASE_NOT_OPEN, LEVEL_NOT_SUPPORTED for a batch that no log record can hold, LEVEL_IO_ERROR
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
   * About how many bytes of tables the entries in [start, end) take on disk; recent writes are not counted.
   * @throws LEVEL_DATABASE_NOT_OPEN, LEVEL_CORRUPTION, LEVEL_IO_ERROR
   */
  async approximateSize(start: K, end: K, options: KeyOptions<K> = {}): Promise<number> {
    assertOptions('approximateSize', options)
    if (start === undefined || end === undefined) throw new TypeError("The arguments 'start' and 'end' are required")
    if (this.status === 'opening') return this.deferAsync(() => this.approximateSize(start, end, options))
    return approximateSize(this._engine, this.#encodeKey(start, options), this.#encodeKey(end, options))
  }

  /**
   * Writes out what is in memory and merges the tables in [start, end] into one level, without what nobody can see.
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
   * string for anything else.
   * @throws LEVEL_DATABASE_NOT_OPEN
   */
  getProperty(name: string): string {
    if (typeof name !== 'string') throw new TypeError("The first argument 'property' must be a string")
    return readProperty(this._engine, name)
  }

  /** What the store holds and has done since it was opened, by level and partition. @throws LEVEL_DATABASE_NOT_OPEN */
  stats(): LsmStats {
    return lsmStats(this._engine, this._queries?.values)
  }

  /**
   * Copies the store as it is at the call into a new directory, while reads and writes go on: see tools/backup.ts.
   * @param location must not be there, or be an empty directory
   * @throws LEVEL_DATABASE_NOT_OPEN, LEVEL_IO_ERROR, LEVEL_CORRUPTION, LEVEL_ABORTED; there is nothing at `location` then
   */
  async backup(location: string, options: BackupOptions = {}): Promise<BackupResult> {
    assertOptions('backup', options)
    const checked = checkedLocation(location)
    if (this.status === 'opening') return this.deferAsync(() => this.backup(location, options))
    const engine = this._engine
    const state = captureState(engine)
    return runAttached(this, options.signal, async (signal) => {
      try {
        const { backupStore } = await import('./tools/backup.ts')
        return await backupStore(engine, state, checked, { ...options, signal })
      } finally {
        state.view.release()
      }
    })
  }

  /**
   * Reads everything there is and reports what is wrong: see tools/verify.ts for what is checked.
   * @throws LEVEL_DATABASE_NOT_OPEN, LEVEL_ABORTED
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
        const { verify } = await import('./tools/verify.ts')
        return await verify(target, { ...options, signal })
      } finally {
        target.view.release()
      }
    })
  }

  /** Writes out what is in memory as tables. @throws LEVEL_DATABASE_NOT_OPEN, LEVEL_IO_ERROR */
  async flush(): Promise<void> {
    if (this.status === 'opening') return this.deferAsync(() => this.flush())
    return this._engine.flush()
  }

  /**
   * Whether beginIngest() can be called: not where the store keeps value filters.
   * @throws LEVEL_DATABASE_NOT_OPEN
   */
  get canIngest(): boolean {
    return this._engine.options.values === undefined
  }

  /** Whether other threads can write the tables: not where the store's files are not those that they see. @throws as canIngest */
  get canIngestFromThreads(): boolean {
    return this.canIngest && this._engine.fileSystem.isShared
  }

  /**
   * For tables that are written elsewhere, by IngestTables in any thread, with keys that the store does not have; they
   * become part of it all at once.
   * @throws LEVEL_DATABASE_NOT_OPEN, LEVEL_NOT_SUPPORTED with the option values, LEVEL_IO_ERROR
   */
  async beginIngest(): Promise<Ingest> {
    if (this.status === 'opening') return this.deferAsync(() => this.beginIngest())
    return this._engine.beginIngest()
  }

  /**
   * Entries that have a pair, newest first. Filters name tables and blocks, the extractor confirms entries, and what a
   * newer version hides is left out: the answer is that of a full scan. Reads the state at the first next(), or that of
   * the snapshot.
   * @param pair as the extractor understands it
   * @throws LEVEL_DATABASE_NOT_OPEN, LEVEL_NOT_SUPPORTED without the option values, LEVEL_CORRUPTION, LEVEL_IO_ERROR,
   * LEVEL_ABORTED
   * @example
   * for await (const [key, value] of db.lookup(['user.lang', 'de'], { limit: 10 })) console.log(key, value)
   */
  lookup(pair: unknown, options: ValueLookupOptions<K, V> = {}): LookupIterator<[K, V]> {
    assertOptions('lookup', options)
    return this.#lookup(options, (queries, how, at) => queries.lookup(pair, how, at))
  }

  /**
   * Entries that have a value of the field in [low, high], newest first; an undefined end is open, and numbers order
   * before strings. Zone maps name tables and blocks.
   * @throws as lookup()
   */
  rangeLookup(
    field: string,
    low: ZoneValue | undefined,
    high: ZoneValue | undefined,
    options: ValueLookupOptions<K, V> = {}
  ): LookupIterator<[K, V]> {
    assertOptions('rangeLookup', options)
    return this.#lookup(options, (queries, how, at) => queries.rangeLookup(field, low, high, how, at))
  }

  /**
   * Where entries that have all of the pairs may be: what is outside the ranges has not.
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
   * Makes filters and zone maps for tables that have none of the extractor in use, beside the tables.
   * @throws as lookup()
   */
  async rebuildFilters(options: { readonly signal?: AbortSignal | undefined } = {}): Promise<RebuildResult> {
    assertOptions('rebuildFilters', options)
    if (this.status === 'opening') return this.deferAsync(() => this.rebuildFilters(options))
    const queries = this.#values
    return runAttached(this, options.signal, (signal) => queries.rebuildFilters(signal))
  }

  /** Of filters and filter index; undefined without the option values. @throws LEVEL_DATABASE_NOT_OPEN */
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
    // A name and an encoding of one's own are declared as two overloads, of which neither takes both.
    const encoding = keyEncoding === undefined ? this.keyEncoding() : this.keyEncoding(keyEncoding as 'buffer')
    // Whatever the encoding, its format is the one that this store supports.
    return (encoding as { encode(key: K): unknown }).encode(key) as Uint8Array
  }
}
