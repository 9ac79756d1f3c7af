/**
 * The catalog: records of the store's format, and of its collections and their numbers.
 *
 * | key in `meta`   | value                                                          |
 * | --------------- | -------------------------------------------------------------- |
 * | `format`        | `{ format, nextCollection }`                                   |
 * | `name:<name>`   | `{ number, index, ids, declared, nextDeclared }`               |
 * | `state:<n>`     | state that a collection writes with each commit, see write-batch.ts |
 * | `dropped:<n>`   | a collection whose records are still to be deleted: it was dropped, or is being filled and has no name yet |
 * | `clearing:<n>.<id>` | a declared index that is being built, or was dropped: its entries are still to be deleted |
 *
 * Invariants:
 * 1. A number is never reused: the remains of an interrupted drop can never show up in a new collection.
 * 2. A drop takes effect with one batch; its deletions are repeated at every open until they are complete.
 * 3. Batches are written one after the other: of two in flight, a store might apply the later one first, and the stored
 *    `nextCollection` would then be that of the earlier one.
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

/** The newest store format that this code reads, and the one it writes. */
export const storeFormat = 1

const defaultState: CollectionState = { nextOrdinal: 0, documents: 0, documentBytes: 0 }
const maxNameBytes = 255
const jsonOptions = { keyEncoding: 'view', valueEncoding: 'utf8' } as const

/** Properties of a collection that do not depend on its contents. */
export interface CollectionTraits {
  /** Kind of the index whose records the collection has. */
  readonly index: string
  /** How `_id`s are computed; undefined with an id table. */
  readonly ids?: ReversibleHeader
  /** Indexes created by createIndex(). */
  readonly declared?: readonly IndexDefinition[]
  /** Number of the next declared index. */
  readonly nextDeclared?: number
}

export interface CatalogEntry extends CollectionTraits {
  readonly number: number
}

/** A declared index whose entries are to be deleted. */
export interface Clearing {
  /** Number of the collection. */
  readonly number: number
  readonly id: number
}

/** @throws PetalError InvalidNamespace for a name that MongoDB rejects, or that has no unambiguous UTF-8 encoding */
export function checkCollectionName(name: unknown): asserts name is string {
  if (typeof name !== 'string') throw invalidName(`must be a string, not ${typeof name}`)
  if (name === '') throw invalidName('must not be empty')
  if (name.includes('$')) throw invalidName(`must not contain '$': '${name}'`)
  if (name.includes('\0')) throw invalidName('must not contain the null character')
  if (/\p{Surrogate}/u.test(name)) throw invalidName('must be well-formed, without lone surrogates')
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
  readonly #entries = new Map<string, CatalogEntry>()
  /** Keys `dropped:` and `clearing:` of drops whose deletions are not finished. */
  readonly #unfinished = new Set<string>()
  /** States of collections that have not been opened yet, by key. */
  readonly #states = new Map<string, string>()
  readonly #writes = new WriteQueue()
  #nextCollection = 1

  private constructor(store: Store) {
    this.#store = store
    this.#meta = new Area('meta')
  }

  /** @throws PetalError UnsupportedFormat, DataCorruption */
  static async open(store: Store): Promise<Catalog> {
    const catalog = new Catalog(store)
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

  /** Returns the stored state to open the collection with; from then on the open collection owns its state. */
  async state(number: number): Promise<CollectionState> {
    const key = `state:${number}`
    const found = this.#states.get(key)
    this.#states.delete(key)
    const text = found ?? (await this.#store.get<Uint8Array, string | undefined>(this.stateKey(number), jsonOptions))
    return text === undefined ? defaultState : (parse(key, text) as unknown as CollectionState)
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
    await this.#write({ [`name:${name}`]: undefined, ...deletionOf(entry, {}) })
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
   * @param sync whether to wait for the disk, as for the writes that filled the collection
   */
  async install(name: string, entry: CatalogEntry, sync: boolean): Promise<void> {
    const before = this.#entries.get(name)
    const deletions = { ...deletionOf(entry, undefined), ...(before && deletionOf(before, {})) }
    await this.#write({ [`name:${name}`]: entry, ...deletions }, sync)
    this.#entries.set(name, entry)
  }

  /** Renames a collection; the records of one that had the new name are to be deleted as after drop(). */
  async rename(from: string, to: string): Promise<void> {
    const entry = this.#entryOf(from)
    const replaced = this.#entries.get(to)
    await this.#write({ [`name:${from}`]: undefined, [`name:${to}`]: entry, ...(replaced && deletionOf(replaced, {})) })
    this.#entries.delete(from)
    this.#entries.set(to, entry)
  }

  /** Reserves a number for a declared index to be built. Unless it gets added, the next open deletes its entries. */
  async reserveDeclared(name: string): Promise<number> {
    const entry = this.#entryOf(name)
    const id = entry.nextDeclared ?? 1
    await this.#change(name, { ...entry, nextDeclared: id + 1 }, { [clearingKey(entry.number, id)]: {} })
    return id
  }

  /** The index has been built and exists from now on. */
  async addDeclared(name: string, definition: IndexDefinition): Promise<void> {
    const entry = this.#entryOf(name)
    const declared = [...(entry.declared ?? []), definition]
    await this.#change(name, { ...entry, declared }, { [clearingKey(entry.number, definition.id)]: undefined })
  }

  /** Removes the index; the caller then deletes its entries and calls finishClearing(). */
  async dropDeclared(name: string, id: number): Promise<void> {
    const entry = this.#entryOf(name)
    const declared = (entry.declared ?? []).filter((definition) => definition.id !== id)
    await this.#change(name, { ...entry, declared }, { [clearingKey(entry.number, id)]: {} })
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
    if (format !== undefined) this.#nextCollection = readFormat(parse('format', format))
    for (const [key, text] of texts) {
      const [kind, rest] = splitKey(key)
      if (kind === 'name:') this.#entries.set(rest, parse(key, text) as unknown as CatalogEntry)
      else if (kind === 'state:') this.#states.set(key, text)
      else if (kind === 'dropped:' || kind === 'clearing:') this.#unfinished.add(key)
    }
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

  async #change(name: string, entry: CatalogEntry, others: Readonly<Record<string, object | undefined>>) {
    await this.#write({ [`name:${name}`]: entry, ...others })
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

/** Returns the records that mark everything of a collection for deletion, or with undefined, unmark it. */
function deletionOf(
  { number, declared = [] }: CatalogEntry,
  value: object | undefined
): Record<string, object | undefined> {
  const clearings = declared.map(({ id }) => [clearingKey(number, id), value] as const)
  return { [`dropped:${number}`]: value, ...Object.fromEntries(clearings) }
}

function clearingKey(number: number, id: number): string {
  return `clearing:${number}.${id}`
}

/** Splits `name:tweets` into the kind `name:` and the rest. */
function splitKey(key: string): readonly [kind: string, rest: string] {
  const end = key.indexOf(':') + 1
  return [key.slice(0, end), key.slice(end)]
}

/** @returns the number of the next collection @throws PetalError UnsupportedFormat */
function readFormat({ format, nextCollection }: Readonly<Record<string, unknown>>): number {
  if (typeof format === 'number' && format <= storeFormat) return nextCollection as number
  throw new PetalError(
    'UnsupportedFormat',
    `The store has format ${String(format)}; this version reads formats up to ${storeFormat}`,
    { details: { found: format, supported: storeFormat } }
  )
}

function parse(key: string, text: string): Readonly<Record<string, unknown>> {
  try {
    const value: unknown = JSON.parse(text)
    if (typeof value === 'object' && value !== null) return value as Record<string, unknown>
  } catch {
    // Reported below, like any other damage.
  }
  throw new PetalError('DataCorruption', `The catalog's record '${key}' is damaged`, { details: { key } })
}
