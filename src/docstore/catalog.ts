/**
 * The store's own records: its format, and which collection has which number.
 *
 * | key in `meta`   | value                                                          |
 * | --------------- | -------------------------------------------------------------- |
 * | `format`        | `{ format, nextCollection }`                                   |
 * | `name:<name>`   | `{ number, index }`                                            |
 * | `state:<n>`     | what a collection writes with each commit, see write-batch.ts  |
 * | `dropped:<n>`   | a collection whose records are still to be deleted             |
 *
 * Invariants:
 * 1. A number is never given twice: what an interrupted drop left behind can never show up in a new collection.
 * 2. A drop is decided by one batch; its deletions are repeated at the next open until they are complete.
 * 3. Batches are written one after the other: of two under way together a store may apply the later one first, and the
 *    number of the earlier one would then be the last that was given.
 */
import { PetalError } from '../model/errors.ts'
import type { Operation } from './collection-store.ts'
import { commitFailed } from './errors.ts'
import { Area } from './layout.ts'
import type { Store } from './options.ts'
import type { CollectionState } from './write-batch.ts'
import { WriteQueue } from './write-queue.ts'

/** The newest layout of the store that this code reads, and the one it writes. */
export const storeFormat = 1

const defaultState: CollectionState = { nextOrdinal: 0, documents: 0, documentBytes: 0 }
const maxNameBytes = 255
const jsonOptions = { keyEncoding: 'view', valueEncoding: 'utf8' } as const

export interface CatalogEntry {
  readonly number: number
  /** Kind of the index whose records the collection has. */
  readonly index: string
}

/** @throws PetalError InvalidNamespace for what MongoDB refuses as a name */
export function checkCollectionName(name: unknown): asserts name is string {
  if (typeof name !== 'string') throw invalidName(`must be a string, not ${typeof name}`)
  if (name === '') throw invalidName('must not be empty')
  if (name.includes('$')) throw invalidName(`must not contain '$': '${name}'`)
  if (name.includes('\0')) throw invalidName('must not contain the null character')
  if (name.startsWith('.') || name.endsWith('.')) throw invalidName(`must not start or end with '.': '${name}'`)
  const bytes = new TextEncoder().encode(name).length
  if (bytes > maxNameBytes) throw invalidName(`must have at most ${maxNameBytes} bytes, has ${bytes}`)
}

function invalidName(why: string): PetalError {
  return new PetalError('InvalidNamespace', `A collection name ${why}`)
}

export class Catalog {
  readonly #store: Store
  readonly #meta: Area
  readonly #entries: Map<string, CatalogEntry>
  readonly #writes = new WriteQueue()
  #nextCollection: number

  private constructor(store: Store, meta: Area, entries: Map<string, CatalogEntry>, nextCollection: number) {
    this.#store = store
    this.#meta = meta
    this.#entries = entries
    this.#nextCollection = nextCollection
  }

  /** @throws PetalError UnsupportedFormat, DataCorruption */
  static async open(store: Store): Promise<Catalog> {
    const meta = new Area(store, 'meta')
    const format = await store.get<Uint8Array, string | undefined>(meta.textKey('format'), jsonOptions)
    const header = format === undefined ? { format: storeFormat, nextCollection: 1 } : parse('format', format)
    if (typeof header.format !== 'number' || header.format > storeFormat) {
      throw new PetalError(
        'UnsupportedFormat',
        `The store has format ${String(header.format)}; this version reads formats up to ${storeFormat}`,
        { details: { found: header.format, supported: storeFormat } }
      )
    }
    const entries = new Map<string, CatalogEntry>()
    for await (const [name, value] of records(store, meta, 'name:')) {
      entries.set(name, parse(`name:${name}`, value) as unknown as CatalogEntry)
    }
    return new Catalog(store, meta, entries, header.nextCollection as number)
  }

  get names(): readonly string[] {
    return [...this.#entries.keys()]
  }

  entry(name: string): CatalogEntry | undefined {
    return this.#entries.get(name)
  }

  stateKey(number: number): Uint8Array {
    return this.#meta.textKey(`state:${number}`)
  }

  async state(number: number): Promise<CollectionState> {
    const text = await this.#store.get<Uint8Array, string | undefined>(this.stateKey(number), jsonOptions)
    return text === undefined ? defaultState : (parse(`state:${number}`, text) as unknown as CollectionState)
  }

  /** Names are reserved at once, so that two callers cannot create the same collection. */
  async create(name: string, index: string): Promise<CatalogEntry> {
    const entry: CatalogEntry = { number: this.#nextCollection++, index }
    this.#entries.set(name, entry)
    try {
      await this.#write({
        format: { format: storeFormat, nextCollection: this.#nextCollection },
        [`name:${name}`]: entry
      })
    } catch (error) {
      this.#entries.delete(name)
      throw error
    }
    return entry
  }

  async changeIndex(name: string, entry: CatalogEntry, index: string): Promise<void> {
    const changed: CatalogEntry = { ...entry, index }
    await this.#write({ [`name:${name}`]: changed })
    this.#entries.set(name, changed)
  }

  /** Forgets the name; the records are deleted by whoever calls finishDrop() afterwards. */
  async drop(name: string): Promise<void> {
    const entry = this.#entries.get(name)
    if (entry === undefined) return
    await this.#write({ [`name:${name}`]: undefined, [`dropped:${entry.number}`]: {} })
    this.#entries.delete(name)
  }

  async finishDrop(number: number): Promise<void> {
    await this.#write({ [`dropped:${number}`]: undefined })
  }

  /** Numbers of collections that were dropped and not yet deleted. */
  async dropped(): Promise<readonly number[]> {
    const numbers: number[] = []
    for await (const [number] of records(this.#store, this.#meta, 'dropped:')) numbers.push(Number(number))
    return numbers
  }

  async #write(values: Readonly<Record<string, object | undefined>>): Promise<void> {
    const operations = Object.entries(values).map(([suffix, value]): Operation => {
      const key = this.#meta.textKey(suffix)
      return value === undefined
        ? { type: 'del', key, keyEncoding: 'view' }
        : { type: 'put', key, value: JSON.stringify(value), ...jsonOptions }
    })
    try {
      await this.#writes.run(() => this.#store.batch(operations))
    } catch (error) {
      throw commitFailed(error)
    }
  }
}

/** Records of the meta area whose key begins with `kind`: the rest of the key, and the value. */
async function* records(store: Store, meta: Area, kind: string): AsyncIterable<readonly [string, string]> {
  const from = meta.textKey(kind)
  const to = from.slice()
  to[to.length - 1] = (to.at(-1) ?? 0) + 1
  const decoder = new TextDecoder()
  for await (const [key, value] of store.iterator<Uint8Array, string>({ gte: from, lt: to, ...jsonOptions })) {
    yield [decoder.decode(key.subarray(from.length)), value]
  }
}

function parse(key: string, text: string): Readonly<Record<string, unknown>> {
  try {
    const value: unknown = JSON.parse(text)
    if (typeof value === 'object' && value !== null) return value as Record<string, unknown>
  } catch {
    // Reported below, as any other damage.
  }
  throw new PetalError('DataCorruption', `The catalog's record '${key}' is damaged`, { details: { key } })
}
