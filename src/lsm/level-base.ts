/**
 * The store as a plain abstract-level database: translation only. Arguments arrive checked, encoded and prefixed;
 * engine/ implements the operations. Methods beyond abstract-level's are in lsm-level.ts.
 *
 * Invariant: every read takes its snapshot before the first `await`.
 */
import type { AbstractGetOptions, AbstractSnapshot } from 'abstract-level'
import { type ClearOptions, clearRange } from './engine/clear-range.ts'
import type { Engine } from './engine/engine.ts'
import type { EngineReadView } from './engine/engine-read-view.ts'
import { isTurnLong, nextTurn } from './engine/event-loop-turn.ts'
import { mapKeys } from './engine/map-keys.ts'
import { openEngine } from './engine/open-engine.ts'
import { hasValue, readValue } from './engine/point-reads.ts'
import type { Moment } from './engine/snapshots.ts'
import type { WriteOperation } from './engine/write-group.ts'
import { notOpen } from './errors.ts'
import { absoluteLocation } from './fs/absolute-location.ts'
import { nodeFileSystem } from './fs/node-file-system.ts'
import { type LevelContract, manifest, type ReadOptions } from './level-contract.ts'
import { LsmSnapshot } from './lsm-snapshot.ts'
import { assertOptions, type LsmOptions, type StoreOptions } from './options.ts'
import { LsmIterator, type LsmIteratorOptions, LsmKeyIterator, LsmValueIterator } from './read/lsm-iterator.ts'
import { type CacheOptions, TypedLevel, type WriteOptions } from './typed-level.ts'
import { checkedHashes, type HashesOption } from './value/hashes-option.ts'
import { loadExtractor } from './value/load-extractor.ts'
import type { ValueQueries } from './value/value-queries.ts'

/** The methods common to all abstract-level databases. */
export class LevelBase<K, V> extends TypedLevel<K, V> implements LevelContract {
  readonly #location: string
  /** What the location meant when it was passed. */
  readonly #absolute: string
  #opened: Engine | undefined
  #queries: ValueQueries | undefined
  /** Whether hashes passed to puts cover everything that the extractor would find: it has no zone fields. */
  #takesHashes = false

  /**
   * Opens in the next microtask; see StoreOptions for the options.
   * @param location the directory; a relative path is resolved here, once and for all
   * @throws TypeError unless `location` is a non-empty string
   */
  constructor(location: string, options?: LsmOptions<K, V>) {
    const checked = checkedLocation(location)
    super(manifest, options)
    this.#location = checked
    this.#absolute = absoluteLocation(checked)
  }

  /** The directory, as passed to the constructor. */
  get location(): string {
    return this.#location
  }

  /** @param options of the constructor, overridden by those of open() */
  async _open(options: StoreOptions): Promise<void> {
    if (options.values !== undefined) assertOptions('values', options.values)
    // First, so that nothing is written if the extractor cannot be loaded.
    if (options.values !== undefined) await loadExtractor(options.values.extractor)
    const valueSide = options.values && (await import('./value/value-queries.ts'))
    const isShared = (options.fileSystem ?? nodeFileSystem).isShared
    const engine = await openEngine(isShared ? this.#absolute : this.#location, options)
    try {
      this.#queries = await valueSide?.ValueQueries.open(engine, engine.fileSystem)
    } catch (error) {
      await engine.close()
      throw error
    }
    this.#takesHashes = this.#queries?.values.extractor.zoneFields.length === 0
    this.#opened = engine
  }

  async _close(): Promise<void> {
    const engine = this.#opened
    this.#opened = undefined
    this.#queries = undefined
    await engine?.close()
  }

  /**
   * Returns the value of `key`, or undefined if there is none.
   * @throws LEVEL_DATABASE_NOT_OPEN, LEVEL_INVALID_KEY, LEVEL_SNAPSHOT_NOT_OPEN, LEVEL_CORRUPTION, LEVEL_IO_ERROR
   */
  override get(key: K): Promise<V | undefined>
  override get<L = K, W = V>(key: L, options: AbstractGetOptions<L, W> & CacheOptions): Promise<W | undefined>
  override get(key: K, options?: AbstractGetOptions<K, V> & CacheOptions): Promise<V | undefined> {
    if (options !== undefined) return super.get(key, options)
    // The common case is getSync() wrapped in a promise: AbstractLevel's work around _get() costs a sixth of a read.
    const isThere = this.status === 'open' && this._engine.options.diskReads === 'blocking' && !isTurnLong()
    if (!isThere) return super.get(key)
    try {
      return Promise.resolve(super.getSync(key))
    } catch (error) {
      return Promise.reject(error)
    }
  }

  _get(key: Uint8Array, options: ReadOptions): Buffer | undefined | Promise<Buffer | undefined> {
    const engine = this._engine
    if (engine.options.diskReads === 'threaded') {
      return mapKeys(engine, [key], this._moment(options), options, readValue).then(([value]) => value)
    }
    const value = this._getSync(key, options)
    return isTurnLong() ? nextTurn().then(() => value) : value
  }

  _getSync(key: Uint8Array, options: ReadOptions): Buffer | undefined {
    const at = this._moment(options)
    return readValue(at, key, at.sequence, options.fillCache !== false)
  }

  _getMany(keys: readonly Uint8Array[], options: ReadOptions): Promise<(Buffer | undefined)[]> {
    return mapKeys(this._engine, keys, this._moment(options), options, readValue)
  }

  _has(key: Uint8Array, options: ReadOptions): boolean | Promise<boolean> {
    const engine = this._engine
    if (engine.options.diskReads === 'threaded') {
      return mapKeys(engine, [key], this._moment(options), options, hasValue).then(([has]) => has === true)
    }
    const at = this._moment(options)
    const has = hasValue(at, key, at.sequence, options.fillCache !== false)
    return isTurnLong() ? nextTurn().then(() => has) : has
  }

  _hasMany(keys: readonly Uint8Array[], options: ReadOptions): Promise<boolean[]> {
    return mapKeys(this._engine, keys, this._moment(options), options, hasValue)
  }

  _put(key: Uint8Array, value: Uint8Array, options: WriteOptions & HashesOption): Promise<void> {
    const hashes = this.#takesHashes ? checkedHashes(options) : undefined
    return this._engine.put(key, value, options.sync === true, hashes)
  }

  _del(key: Uint8Array, options: WriteOptions): Promise<void> {
    return this._engine.delete(key, options.sync === true)
  }

  _batch(operations: readonly WriteOperation[], options: WriteOptions): Promise<void> {
    if (this.#takesHashes) for (const operation of operations) if (operation.type === 'put') checkedHashes(operation)
    return this._engine.batch(operations, options.sync === true, this.#takesHashes)
  }

  _clear(options: ClearOptions & ReadOptions): Promise<void> {
    return clearRange(this._engine, options, this._momentOf(options))
  }

  _iterator(options: LsmIteratorOptions & ReadOptions): LsmIterator<this, K, V> {
    return new LsmIterator<this, K, V>(this, this._view(options), options)
  }

  _keys(options: LsmIteratorOptions & ReadOptions): LsmKeyIterator<this, K> {
    return new LsmKeyIterator<this, K>(this, this._view(options), options)
  }

  _values(options: LsmIteratorOptions & ReadOptions): LsmValueIterator<this, K, V> {
    return new LsmValueIterator<this, K, V>(this, this._view(options), options)
  }

  _snapshot(options: object): AbstractSnapshot {
    return new LsmSnapshot(this._engine, options)
  }

  /** The running engine. @throws LEVEL_DATABASE_NOT_OPEN */
  protected get _engine(): Engine {
    if (this.#opened === undefined) throw notOpen()
    return this.#opened
  }

  /** Undefined without the option `values`. @throws LEVEL_DATABASE_NOT_OPEN */
  protected get _queries(): ValueQueries | undefined {
    if (this.#opened === undefined) throw notOpen()
    return this.#queries
  }

  /** Whether hashes passed along with puts are used. */
  protected get _takesHashes(): boolean {
    return this.#takesHashes
  }

  /** The snapshot's moment, or the present. */
  protected _moment(options: ReadOptions): Moment {
    return this._momentOf(options) ?? this._engine
  }

  /**
   * The moment of the options' snapshot; undefined for the present.
   * @throws LEVEL_SNAPSHOT_NOT_OPEN, TypeError for a snapshot of another database
   */
  protected _momentOf({ snapshot }: ReadOptions): Moment | undefined {
    if (snapshot === undefined || snapshot === null) return undefined
    if (!(snapshot instanceof LsmSnapshot)) throw new TypeError("The option 'snapshot' belongs to another database")
    return snapshot.momentIn(this._engine)
  }

  protected _view(options: ReadOptions): EngineReadView {
    return this._engine.view(this._momentOf(options))
  }
}

/** @throws TypeError */
export function checkedLocation(location: string): string {
  if (typeof location === 'string' && location !== '') return location
  throw new TypeError("The first argument 'location' must be a non-empty string")
}
