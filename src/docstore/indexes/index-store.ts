/** The store as used by declared indexes: an area for each, read entry by entry. */
import type { AbstractIterator } from 'abstract-level'
import type { Store } from '../options.ts'
import { Area } from '../store/layout.ts'
import type { TextReadOptions } from '../store/store-access.ts'
import { rethrow, wrapStoreErrors } from '../store/store-errors.ts'
import { arraysKey } from './entry-key.ts'
import type { KeyRange } from './key-ranges.ts'

export type EntryIterator = AbstractIterator<Store, Uint8Array, Uint8Array>

interface SizedStore {
  approximateSize(start: Uint8Array, end: Uint8Array, options: object): Promise<number>
}

const bytesOptions = { keyEncoding: 'view', valueEncoding: 'view' } as const

export class IndexStore {
  readonly #store: Store
  /** Number of the collection. */
  readonly collection: number
  /** False for stores without getSync(). */
  readonly canReadSync: boolean

  constructor(store: Store, collection: number) {
    this.#store = store
    this.collection = collection
    // Declared in its manifest, but not in abstract-level's type of it.
    this.canReadSync = (store.supports as { readonly getSync?: boolean }).getSync === true
  }

  /** @param id of the index */
  area(id: number): Area {
    return new Area(`${this.collection}.x${id}`)
  }

  /** Returns the value of a full key, from a snapshot or as currently committed. REQUIRES: canReadSync. */
  value(key: Uint8Array, snapshot?: TextReadOptions['snapshot']): Uint8Array | undefined {
    return wrapStoreErrors(() => this.#store.getSync<Uint8Array, Uint8Array | undefined>(key, optionsAt(snapshot)))
  }

  /** Like value(), for many keys. */
  values(keys: readonly Uint8Array[], snapshot?: TextReadOptions['snapshot']): Promise<(Uint8Array | undefined)[]> {
    return this.#store.getMany<Uint8Array, Uint8Array | undefined>([...keys], optionsAt(snapshot)).catch(rethrow)
  }

  /** Iterates over the entries of a key range in an area. The caller closes the iterator. */
  entries(
    area: Area,
    { from, to }: KeyRange,
    how: { readonly reverse: boolean; readonly values: boolean; readonly snapshot: TextReadOptions['snapshot'] }
  ): EntryIterator {
    return this.#store.iterator<Uint8Array, Uint8Array>({
      ...bytesOptions,
      gte: area.key(from),
      lt: to === undefined ? area.end : area.key(to),
      reverse: how.reverse,
      values: how.values,
      ...(how.snapshot && { snapshot: how.snapshot })
    }) as unknown as EntryIterator
  }

  /** Reads the record of an index's arrays: bit i is set if field i of some document leads to or through an array. */
  async arrays(area: Area): Promise<number> {
    const [bytes] = await this.values([area.key(arraysKey)])
    return bytes === undefined || bytes.length < 4
      ? 0
      : (bytes[0]! << 24) | (bytes[1]! << 16) | (bytes[2]! << 8) | bytes[3]!
  }

  /** Deletes everything in an area. */
  async clear(area: Area): Promise<void> {
    await this.#store.clear<Uint8Array>({ gte: area.first, lt: area.end, keyEncoding: 'view' })
  }

  /** Returns the approximate size of an area on disk; undefined if the store cannot tell. */
  async bytes(area: Area): Promise<number | undefined> {
    const { additionalMethods } = this.#store.supports
    if (additionalMethods?.approximateSize !== true) return undefined
    return (this.#store as unknown as SizedStore).approximateSize(area.first, area.end, { keyEncoding: 'view' })
  }
}

function optionsAt(snapshot: TextReadOptions['snapshot']) {
  return snapshot === undefined ? bytesOptions : { ...bytesOptions, snapshot }
}

export function arraysValue(arrays: number): Uint8Array {
  return new Uint8Array([arrays >>> 24, arrays >>> 16, arrays >>> 8, arrays])
}
