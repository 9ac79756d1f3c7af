/**
 * The catalog: which collections there are, with their numbers and declared indexes, and what is still to be deleted.
 *
 * Invariants:
 * 1. A number is never reused: the remains of an interrupted drop can never show up in a new collection.
 * 2. A drop takes effect with one batch; its deletions are repeated at every open until they are complete.
 * 3. Batches are written one after the other: of two in flight, a store might apply the later one first, and the stored
 *    `nextCollection` would then be that of the earlier one.
 * 4. With `sync`, a collection or declared index that a caller was told is dropped, renamed, replaced or built stays so
 *    after a power failure. Other records are made durable by the writes that follow them.
 */
import { PetalError } from '../../model/errors.ts'
import { commitFailed } from '../errors.ts'
import type { IndexDefinition } from '../indexes/definition.ts'
import type { Store } from '../options.ts'
import type { CollectionState } from '../write/write-batch.ts'
import { WriteQueue } from '../write/write-queue.ts'
import {
  type CatalogEntry,
  type Clearing,
  type CollectionTraits,
  clearingKey,
  deletionOf,
  objectIn,
  parse,
  parseEntry,
  readFormat,
  salvageEntry,
  splitKey,
  storeFormat
} from './catalog-records.ts'
import { Area } from './layout.ts'
import { accessTo } from './store-access.ts'

const defaultState: CollectionState = { nextOrdinal: 0, documents: 0, documentBytes: 0 }
const jsonOptions = { keyEncoding: 'view', valueEncoding: 'utf8' } as const

export class Catalog {
  readonly #store: Store
  readonly #meta: Area
  readonly #sync: boolean
  readonly #entries = new Map<string, CatalogEntry>()
  /** Keys `dropped:` and `clearing:` of drops whose deletions are not finished. */
  readonly #unfinished = new Set<string>()
  /** States of collections that have not been opened yet, by key. */
  readonly #states = new Map<string, string>()
  readonly #writes = new WriteQueue()
  #nextCollection = 1

  readonly #onDamage: ((what: string) => void) | undefined

  private constructor(store: Store, sync: boolean, onDamage: ((what: string) => void) | undefined) {
    this.#store = store
    this.#sync = sync
    this.#onDamage = onDamage
    this.#meta = new Area('meta')
  }

  /**
   * @param sync whether writes wait for the disk
   * @param onDamage told of malformed records, which are then left out instead of being thrown
   * @throws PetalError UnsupportedFormat, DataCorruption
   */
  static async open(store: Store, sync: boolean, onDamage?: (what: string) => void): Promise<Catalog> {
    const catalog = new Catalog(store, sync, onDamage)
    await catalog.#read()
    return catalog
  }

  get names(): readonly string[] {
    return [...this.#entries.keys()]
  }

  /** Whether any collection has this kind of index. */
  hasIndex(kind: string): boolean {
    return [...this.#entries.values()].some(({ index }) => index === kind)
  }

  entry(name: string): CatalogEntry | undefined {
    return this.#entries.get(name)
  }

  stateKey(number: number): Uint8Array {
    return this.#meta.textKey(`state:${number}`)
  }

  /**
   * Returns the stored state to open the collection with; from then on the open collection owns its state. A malformed
   * one is returned as it is, or empty (sound-state.ts).
   */
  async state(number: number): Promise<CollectionState> {
    const key = `state:${number}`
    const found = this.#states.get(key)
    this.#states.delete(key)
    const text = found ?? (await this.#store.get<Uint8Array, string | undefined>(this.stateKey(number), jsonOptions))
    return text === undefined ? defaultState : ((objectIn(text) ?? {}) as unknown as CollectionState)
  }

  /** The name is reserved synchronously, so that two callers cannot create the same collection. */
  async create(name: string, traits: CollectionTraits): Promise<CatalogEntry> {
    const entry: CatalogEntry = { number: this.#nextCollection++, ...traits }
    this.#entries.set(name, entry)
    try {
      await this.#write({ format: this.#format, [`name:${name}`]: entry })
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

  /** Removes the name; the caller then deletes the records and calls finishDrop(). */
  async drop(name: string): Promise<void> {
    const entry = this.#entries.get(name)
    if (entry === undefined) return
    await this.#write({ [`name:${name}`]: undefined, ...deletionOf(entry, {}) }, this.#sync)
    this.#entries.delete(name)
  }

  /** Reserves a number for a collection to be filled. Unless it gets installed, the next open deletes its records. */
  async reserve(traits: CollectionTraits): Promise<CatalogEntry> {
    const entry: CatalogEntry = { number: this.#nextCollection++, ...traits }
    await this.#write({ format: this.#format, ...deletionOf(entry, {}) })
    return entry
  }

  /**
   * Replaces the collection of this name by a reserved one; the records of the old one are to be deleted as after
   * drop().
   */
  async install(name: string, entry: CatalogEntry): Promise<void> {
    const before = this.#entries.get(name)
    const deletions = { ...deletionOf(entry, undefined), ...(before && deletionOf(before, {})) }
    await this.#write({ [`name:${name}`]: entry, ...deletions }, this.#sync)
    this.#entries.set(name, entry)
  }

  /** Renames a collection; the records of one that had the new name are to be deleted as after drop(). */
  async rename(from: string, to: string): Promise<void> {
    const entry = this.#entryOf(from)
    const replaced = this.#entries.get(to)
    const deletions = replaced && deletionOf(replaced, {})
    await this.#write({ [`name:${from}`]: undefined, [`name:${to}`]: entry, ...deletions }, this.#sync)
    this.#entries.delete(from)
    this.#entries.set(to, entry)
  }

  /** Reserves a number for a declared index to be built. Unless it gets added, the next open deletes its entries. */
  async reserveDeclared(name: string): Promise<number> {
    const entry = this.#entryOf(name)
    const id = entry.nextDeclared ?? 1
    await this.#change(name, { ...entry, nextDeclared: id + 1 }, { [clearingKey(entry.number, id)]: {} }, false)
    return id
  }

  /** The index has been built and exists from now on. */
  async addDeclared(name: string, definition: IndexDefinition): Promise<void> {
    const entry = this.#entryOf(name)
    const declared = [...(entry.declared ?? []), definition]
    await this.#change(
      name,
      { ...entry, declared },
      { [clearingKey(entry.number, definition.id)]: undefined },
      this.#sync
    )
  }

  /** Removes the index; the caller then deletes its entries and calls finishClearing(). */
  async dropDeclared(name: string, id: number): Promise<void> {
    const entry = this.#entryOf(name)
    const declared = (entry.declared ?? []).filter((definition) => definition.id !== id)
    await this.#change(name, { ...entry, declared }, { [clearingKey(entry.number, id)]: {} }, this.#sync)
  }

  async finishClearing({ number, id }: Clearing): Promise<void> {
    await this.#write({ [clearingKey(number, id)]: undefined })
  }

  clearings(): readonly Clearing[] {
    return this.#unfinishedOf('clearing:').map((text) => {
      const [number = Number.NaN, id = Number.NaN] = text.split('.').map(Number)
      return { number, id }
    })
  }

  async finishDrop(number: number): Promise<void> {
    await this.#write({ [`dropped:${number}`]: undefined })
  }

  /** Numbers of collections that were dropped and are not fully deleted. */
  dropped(): readonly number[] {
    return this.#unfinishedOf('dropped:').map(Number)
  }

  /** Reads all records in one pass: separate queries would take longer than these few records. */
  async #read(): Promise<void> {
    const { first, end } = this.#meta
    const decoder = new TextDecoder()
    const texts = new Map<string, string>()
    for await (const [key, value] of this.#store.iterator<Uint8Array, string>({
      gte: first,
      lt: end,
      ...jsonOptions
    })) {
      texts.set(decoder.decode(this.#meta.suffix(key)), value)
    }
    const format = texts.get('format')
    // Only trust the rest if the format is known.
    if (format !== undefined) {
      this.#nextCollection = this.#orDamage(() => readFormat(parse('format', format))) ?? this.#nextCollection
    }
    for (const [key, text] of texts) {
      const [kind, rest] = splitKey(key)
      if (kind === 'name:') {
        const entry = this.#orDamage(() => parseEntry(key, text)) ?? salvageEntry(text)
        if (entry !== undefined) this.#use(rest, entry)
      } else if (kind === 'state:') this.#states.set(key, text)
      else if (kind === 'dropped:' || kind === 'clearing:') this.#unfinished.add(key)
      if (kind !== 'name:') this.#isUsed(Number.parseInt(rest, 10))
    }
  }

  #orDamage<T>(read: () => T): T | undefined {
    try {
      return read()
    } catch (error) {
      const { codeName, message } = error as PetalError
      if (codeName !== 'DataCorruption' || this.#onDamage === undefined) throw error
      this.#onDamage(message)
      return undefined
    }
  }

  #use(name: string, entry: CatalogEntry): void {
    this.#entries.set(name, entry)
    this.#isUsed(entry.number)
  }

  /** The record of the next number may be lost or older, as a repair of the store can leave it. */
  #isUsed(number: number): void {
    if (number >= this.#nextCollection) this.#nextCollection = number + 1
  }

  get #format(): object {
    return { format: storeFormat, nextCollection: this.#nextCollection }
  }

  #unfinishedOf(kind: string): string[] {
    const keys = [...this.#unfinished].map(splitKey)
    return keys.filter(([of]) => of === kind).map(([, rest]) => rest)
  }

  #entryOf(name: string): CatalogEntry {
    const entry = this.#entries.get(name)
    if (entry !== undefined) return entry
    throw new PetalError('NamespaceNotFound', `There is no collection '${name}'`)
  }

  async #change(
    name: string,
    entry: CatalogEntry,
    others: Readonly<Record<string, object | undefined>>,
    sync: boolean
  ): Promise<void> {
    await this.#write({ [`name:${name}`]: entry, ...others }, sync)
    this.#entries.set(name, entry)
  }

  async #write(values: Readonly<Record<string, object | undefined>>, sync = false): Promise<void> {
    const batch = accessTo(this.#store).newSink()
    const encoder = new TextEncoder()
    for (const [suffix, value] of Object.entries(values)) {
      const key = encoder.encode(suffix)
      if (value === undefined) batch.del(this.#meta.first, key)
      else batch.putText(this.#meta.first, key, JSON.stringify(value))
    }
    try {
      await this.#writes.run(() => batch.commit(sync))
    } catch (error) {
      throw commitFailed(error)
    }
    for (const [key, value] of Object.entries(values)) {
      const [kind] = splitKey(key)
      if (kind !== 'dropped:' && kind !== 'clearing:') continue
      if (value === undefined) this.#unfinished.delete(key)
      else this.#unfinished.add(key)
    }
  }
}
