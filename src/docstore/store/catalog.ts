/**
 * The store's own records: its format, and which collection has which number.
 *
 * | key in `meta`   | value                                                          |
 * | --------------- | -------------------------------------------------------------- |
 * | `format`        | `{ format, nextCollection }`                                   |
 * | `name:<name>`   | `{ number, index, ids, declared, nextDeclared }`               |
 * | `state:<n>`     | what a collection writes with each commit, see write-batch.ts  |
 * | `dropped:<n>`   | a collection whose records are still to be deleted             |
 * | `clearing:<n>.<id>` | a declared index that is being built, or was dropped: its entries are still to be deleted |
 *
 * Invariants:
 * 1. A number is never given twice: what an interrupted drop left behind can never show up in a new collection.
 * 2. A drop is decided by one batch; its deletions are repeated at the next open until they are complete.
 * 3. Batches are written one after the other: of two under way together a store may apply the later one first, and the
 *    number of the earlier one would then be the last that was given.
 */
import { PetalError } from '../../model/errors.ts'
import { commitFailed } from '../errors.ts'
import type { ReversibleHeader } from '../ids/reversible-ids.ts'
import type { IndexDefinition } from '../indexes/definition.ts'
import type { Store } from '../options.ts'
import type { CollectionState } from '../write/write-batch.ts'
import { WriteQueue } from '../write/write-queue.ts'
import { Area } from './layout.ts'
import { accessTo } from './store-access.ts'

/** The newest layout of the store that this code reads, and the one it writes. */
export const storeFormat = 1

const defaultState: CollectionState = { nextOrdinal: 0, documents: 0, documentBytes: 0 }
const maxNameBytes = 255
const jsonOptions = { keyEncoding: 'view', valueEncoding: 'utf8' } as const

export interface CatalogEntry {
  readonly number: number
  /** Kind of the index whose records the collection has. */
  readonly index: string
  /** How `_id`s are computed, where there is no table of them. */
  readonly ids?: ReversibleHeader
  /** Indexes that createIndex() made. */
  readonly declared?: readonly IndexDefinition[]
  /** Number that the next of them gets. */
  readonly nextDeclared?: number
}

/** A declared index whose entries are to be deleted. */
export interface Clearing {
  /** Of the collection. */
  readonly number: number
  readonly id: number
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

  /** Whether some collection has this kind of index. */
  hasIndex(kind: string): boolean {
    return [...this.#entries.values()].some(({ index }) => index === kind)
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
  async create(name: string, index: string, ids: ReversibleHeader | undefined): Promise<CatalogEntry> {
    const entry: CatalogEntry = { number: this.#nextCollection++, index, ...(ids && { ids }) }
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
    const clearings = (entry.declared ?? []).map(({ id }) => [clearingKey(entry.number, id), {}])
    await this.#write({
      [`name:${name}`]: undefined,
      [`dropped:${entry.number}`]: {},
      ...(Object.fromEntries(clearings) as Record<string, object>)
    })
    this.#entries.delete(name)
  }

  /** A number for a declared index to be built. Until it is added, the next open deletes what was written of it. */
  async reserveDeclared(name: string): Promise<number> {
    const entry = this.#entryOf(name)
    const id = entry.nextDeclared ?? 1
    await this.#change(name, { ...entry, nextDeclared: id + 1 }, { [clearingKey(entry.number, id)]: {} })
    return id
  }

  /** The index is built: from now on it is there. */
  async addDeclared(name: string, definition: IndexDefinition): Promise<void> {
    const entry = this.#entryOf(name)
    const declared = [...(entry.declared ?? []), definition]
    await this.#change(name, { ...entry, declared }, { [clearingKey(entry.number, definition.id)]: undefined })
  }

  /** The index is gone; its entries are deleted by whoever calls finishClearing() afterwards. */
  async dropDeclared(name: string, id: number): Promise<void> {
    const entry = this.#entryOf(name)
    const declared = (entry.declared ?? []).filter((definition) => definition.id !== id)
    await this.#change(name, { ...entry, declared }, { [clearingKey(entry.number, id)]: {} })
  }

  async finishClearing({ number, id }: Clearing): Promise<void> {
    await this.#write({ [clearingKey(number, id)]: undefined })
  }

  async clearings(): Promise<readonly Clearing[]> {
    const found: Clearing[] = []
    for await (const [text] of records(this.#store, this.#meta, 'clearing:')) {
      const [number, id] = text.split('.').map(Number)
      found.push({ number: number ?? Number.NaN, id: id ?? Number.NaN })
    }
    return found
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

  #entryOf(name: string): CatalogEntry {
    const entry = this.#entries.get(name)
    if (entry !== undefined) return entry
    throw new PetalError('NamespaceNotFound', `There is no collection '${name}'`)
  }

  async #change(name: string, entry: CatalogEntry, others: Readonly<Record<string, object | undefined>>) {
    await this.#write({ [`name:${name}`]: entry, ...others })
    this.#entries.set(name, entry)
  }

  async #write(values: Readonly<Record<string, object | undefined>>): Promise<void> {
    const batch = accessTo(this.#store).newSink()
    const encoder = new TextEncoder()
    for (const [suffix, value] of Object.entries(values)) {
      const key = encoder.encode(suffix)
      if (value === undefined) batch.del(this.#meta.first, key)
      else batch.putText(this.#meta.first, key, JSON.stringify(value))
    }
    try {
      await this.#writes.run(() => batch.commit(false))
    } catch (error) {
      throw commitFailed(error)
    }
  }
}

function clearingKey(number: number, id: number): string {
  return `clearing:${number}.${id}`
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
