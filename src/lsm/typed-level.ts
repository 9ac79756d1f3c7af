/** AbstractLevel as a base class whose methods also take this store's options. Types only; the class is the same. */
import {
  type AbstractBatchOperation,
  type AbstractBatchOptions,
  type AbstractDelOptions,
  type AbstractGetManyOptions,
  type AbstractGetOptions,
  type AbstractHasManyOptions,
  type AbstractHasOptions,
  type AbstractIterator,
  type AbstractIteratorOptions,
  type AbstractKeyIterator,
  type AbstractKeyIteratorOptions,
  AbstractLevel,
  type AbstractPutOptions,
  type AbstractValueIterator,
  type AbstractValueIteratorOptions
} from 'abstract-level'
import type { LsmOptions, StoreOptions } from './options.ts'
import type { HashesOption } from './value/hashes-option.ts'

/** Additional options of reads. */
export interface CacheOptions {
  /** Keep blocks that are read in the block cache. Default true; iterators keep the blocks that they seek to, clear() none. */
  readonly fillCache?: boolean | undefined
}

/** Additional options of iterators. */
export interface ScanCacheOptions extends CacheOptions {
  /** nextv() returns once it has more bytes than this, with at least one entry. Default 16 KiB. */
  readonly highWaterMarkBytes?: number | undefined
}

/** Additional options of writes. */
export interface WriteOptions {
  /**
   * True: durable before the promise resolves, even if the power fails; costs one fdatasync, shared by concurrent
   * writes. False: handed to the operating system, safe if this process dies. Default false.
   */
  readonly sync?: boolean | undefined
}

interface TypedMethods<KDefault, VDefault> {
  open(options?: StoreOptions): Promise<void>
  get<K = KDefault, V = VDefault>(key: K, options: AbstractGetOptions<K, V> & CacheOptions): Promise<V | undefined>
  getSync<K = KDefault, V = VDefault>(key: K, options: AbstractGetOptions<K, V> & CacheOptions): V | undefined
  getMany<K = KDefault, V = VDefault>(
    keys: K[],
    options: AbstractGetManyOptions<K, V> & CacheOptions
  ): Promise<(V | undefined)[]>
  has<K = KDefault>(key: K, options: AbstractHasOptions<K> & CacheOptions): Promise<boolean>
  hasMany<K = KDefault>(keys: K[], options: AbstractHasManyOptions<K> & CacheOptions): Promise<boolean[]>
  put<K = KDefault, V = VDefault>(
    key: K,
    value: V,
    options: AbstractPutOptions<K, V> & WriteOptions & HashesOption
  ): Promise<void>
  del<K = KDefault>(key: K, options: AbstractDelOptions<K> & WriteOptions): Promise<void>
  batch<K = KDefault, V = VDefault>(
    operations: (AbstractBatchOperation<this, K, V> & HashesOption)[],
    options?: AbstractBatchOptions<K, V> & WriteOptions
  ): Promise<void>
  iterator<K = KDefault, V = VDefault>(
    options: AbstractIteratorOptions<K, V> & ScanCacheOptions
  ): AbstractIterator<this, K, V>
  keys<K = KDefault>(options: AbstractKeyIteratorOptions<K> & ScanCacheOptions): AbstractKeyIterator<this, K>
  values<K = KDefault, V = VDefault>(
    options: AbstractValueIteratorOptions<K, V> & ScanCacheOptions
  ): AbstractValueIterator<this, K, V>
}

type TypedLevelConstructor = new <K, V>(
  manifest: object,
  options: LsmOptions<K, V> | undefined
) => AbstractLevel<Buffer, K, V> & TypedMethods<K, V>

export const TypedLevel = AbstractLevel as unknown as TypedLevelConstructor
