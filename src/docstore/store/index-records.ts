/** The records that a collection's index keeps in the store: under the index's own keys, in an area of their own. */
import type { IndexStore, IndexWrite } from '../../sharded-bloom/document-index.ts'
import type { Store } from '../options.ts'
import type { Area } from './layout.ts'
import { accessTo, type StoreAccess } from './store-access.ts'

const bytesOptions = { keyEncoding: 'view', valueEncoding: 'view' } as const
/** The index keeps what it reads: the store's cache is left to documents. */
const getOptions = { ...bytesOptions, fillCache: false } as const

/** Where getTransient() reads to: large enough for most tables of private pairs. */
let transient = new Uint8Array(64 << 10)
const maxTransientBytes = 1 << 20

/** Write operations that the collection provides for its index. */
interface Writing {
  /** One atomic batch. */
  write(operations: readonly IndexWrite[]): Promise<void>
  /** @throws PetalError in a read-only database */
  assertWritable(): void
}

export class IndexRecords implements IndexStore {
  readonly #store: Store
  readonly #area: Area
  readonly #canReadSync: boolean
  readonly #readInto: StoreAccess['readInto']
  readonly #writing: Writing

  constructor(store: Store, area: Area, canReadSync: boolean, writing: Writing) {
    this.#store = store
    this.#area = area
    this.#canReadSync = canReadSync
    this.#readInto = canReadSync ? accessTo(store).readInto : undefined
    this.#writing = writing
  }

  get(key: Uint8Array): Uint8Array | undefined | Promise<Uint8Array | undefined> {
    const prefixed = this.#area.key(key)
    return this.#canReadSync
      ? plainBytes(this.#store.getSync<Uint8Array, Uint8Array>(prefixed, getOptions))
      : this.#store.get<Uint8Array, Uint8Array | undefined>(prefixed, getOptions).then(plainBytes)
  }

  getTransient(key: Uint8Array): Uint8Array | undefined | Promise<Uint8Array | undefined> {
    const readInto = this.#readInto
    if (readInto === undefined) return this.get(key)
    const prefixed = this.#area.key(key)
    const length = readInto(prefixed, transient)
    if (length === undefined) return undefined
    if (length <= transient.length) return transient.subarray(0, length)
    if (length > maxTransientBytes) return this.get(key)
    transient = new Uint8Array(Math.max(length, Math.min(maxTransientBytes, 2 * transient.length)))
    return this.getTransient(key)
  }

  write(operations: readonly IndexWrite[]): Promise<void> {
    return this.#writing.write(operations)
  }

  clear(from: Uint8Array, to: Uint8Array): Promise<void> {
    return this.#clear(this.#area.key(from), this.#area.key(to))
  }

  clearAll(): Promise<void> {
    return this.#clear(this.#area.first, this.#area.end)
  }

  async *scan(from: Uint8Array, to: Uint8Array): AsyncIterable<readonly [Uint8Array, Uint8Array]> {
    const range = { gte: this.#area.key(from), lt: this.#area.key(to), ...bytesOptions }
    const iterator = this.#store.iterator<Uint8Array, Uint8Array>(range)
    for await (const [key, value] of iterator) yield [plainBytes(this.#area.suffix(key)), plainBytes(value)]
  }

  async #clear(gte: Uint8Array, lt: Uint8Array): Promise<void> {
    this.#writing.assertWritable()
    await this.#store.clear<Uint8Array>({ gte, lt, keyEncoding: 'view' })
  }
}

function plainBytes(bytes: Uint8Array): Uint8Array
function plainBytes(bytes: Uint8Array | undefined): Uint8Array | undefined
/** Stores may return Buffers, whose slice() is a view, while that of a Uint8Array is a copy. */
function plainBytes(bytes: Uint8Array | undefined): Uint8Array | undefined {
  return bytes === undefined ? undefined : new Uint8Array(bytes.buffer, bytes.byteOffset, bytes.byteLength)
}
