/** The manifest that this store declares to abstract-level, and the private methods that abstract-level calls. */
import type { AbstractSnapshot } from 'abstract-level'
import type { ClearOptions } from './engine/clear-range.ts'
import type { WriteOperation } from './engine/write-group.ts'
import type { StoreOptions } from './options.ts'
import type { LsmIteratorOptions } from './read/lsm-iterator.ts'
import type { CacheOptions, WriteOptions } from './typed-level.ts'
import type { HashesOption } from './value/hashes-option.ts'

/** Options of a read, as they arrive from abstract-level. */
export interface ReadOptions extends CacheOptions {
  readonly snapshot?: AbstractSnapshot | undefined
}

/** Methods that abstract-level calls but does not declare in its types. */
export interface LevelContract {
  _open(options: StoreOptions): Promise<void>
  _close(): Promise<void>
  _get(key: Uint8Array, options: ReadOptions): Buffer | undefined | Promise<Buffer | undefined>
  _getSync(key: Uint8Array, options: ReadOptions): Buffer | undefined
  _getMany(keys: readonly Uint8Array[], options: ReadOptions): Promise<(Buffer | undefined)[]>
  _has(key: Uint8Array, options: ReadOptions): boolean | Promise<boolean>
  _hasMany(keys: readonly Uint8Array[], options: ReadOptions): Promise<boolean[]>
  _put(key: Uint8Array, value: Uint8Array, options: WriteOptions & HashesOption): Promise<void>
  _del(key: Uint8Array, options: WriteOptions): Promise<void>
  _batch(operations: readonly WriteOperation[], options: WriteOptions): Promise<void>
  _clear(options: ClearOptions & ReadOptions): Promise<void>
  _iterator(options: LsmIteratorOptions & ReadOptions): unknown
  _keys(options: LsmIteratorOptions & ReadOptions): unknown
  _values(options: LsmIteratorOptions & ReadOptions): unknown
  _snapshot(options: object): AbstractSnapshot
}

// A variable, not an inline literal: the declared manifest type lacks `getSync`.
export const manifest = {
  // A single encoding: keys are ordered by their bytes, unlike JavaScript strings.
  encodings: { buffer: true },
  seek: true,
  permanence: true,
  implicitSnapshots: true,
  explicitSnapshots: true,
  has: true,
  getSync: true,
  createIfMissing: true,
  errorIfExists: true,
  signals: { iterators: true },
  additionalMethods: {
    approximateSize: true,
    backup: true,
    beginIngest: true,
    compactRange: true,
    keyRanges: true,
    lookup: true,
    rangeLookup: true,
    readInto: true,
    readText: true,
    rebuildFilters: true,
    scanBytes: true,
    shareView: true,
    verify: true,
    write: true
  }
}
