/**
 * Checks a database from the bottom up: first the store, if it can check itself; then for each collection that every
 * document can be read and has an `_id`, that every `_id` leads to its document, that the index contains exactly these
 * documents and finds a sample of them, and that every declared index has their entries and no others.
 *
 * Reads and writes continue meanwhile: a collection is checked as of when its check starts.
 */
import { AbortedError, PetalError, throwIfAborted } from '../../model/errors.ts'
import { encodeKey } from '../../model/key.ts'
import { all, type PairExpression } from '../../model/pairs.ts'
import type { Document } from '../../model/types.ts'
import { compileFilter } from '../../query/filter.ts'
import type { Collections } from '../collections.ts'
import { decodeRecord } from '../documents/record.ts'
import { fromStore } from '../errors.ts'
import type { Known } from '../known-options.ts'
import type { OpenCollection } from '../open-collection.ts'
import type { Store } from '../options.ts'
import { Control } from '../read/control.ts'
import type { ReadView } from '../read/read-view.ts'
import { DeclaredCheck } from './verify-declared.ts'

/** Options of Database.verify(). */
export interface VerifyOptions {
  /** Aborts the check with an AbortedError. */
  readonly signal?: AbortSignal
  /** Called from time to time. */
  readonly onProgress?: (progress: VerifyProgress) => void
}

export const knownVerifyOptions = { signal: true, onProgress: true } satisfies Known<VerifyOptions>

/** Progress of Database.verify(). */
export interface VerifyProgress {
  /** Name of the collection being checked; undefined for the underlying store. */
  readonly collection: string | undefined
  /** Items checked so far, and the total: tables of the store, or documents of the collection. */
  readonly checked: number
  readonly total: number
}

/** A problem found by Database.verify(). */
export interface VerifyProblem {
  /** undefined for a problem of the underlying store. */
  readonly collection: string | undefined
  /** `document`, `id`, `index`, or the store's own kind of problem. */
  readonly kind: string
  /** Description, with the ordinal or the file and offset where the problem was found. */
  readonly what: string
}

/** Result of Database.verify(). */
export interface DatabaseVerifyReport {
  /** Whether the store could be checked. */
  readonly hasCheckedStore: boolean
  /** Number of documents checked. */
  readonly documents: number
  /** At most a thousand; empty if all is well. */
  readonly problems: readonly VerifyProblem[]
  /** Number of all problems found, including those beyond the limit of `problems`. */
  readonly problemCount: number
}

const maxProblems = 1000
/** Approximate number of documents looked up through the index. */
const samples = 200
/** Lookups at a time: where the store reads asynchronously, they wait together. */
const lookupsAtOnce = 32
const progressDocuments = 1000

/** @returns the problems found; they are not thrown @throws AbortedError */
export async function verifyDatabase(
  collections: Collections,
  options: VerifyOptions = {}
): Promise<DatabaseVerifyReport> {
  const findings = new Findings()
  const hasCheckedStore = await verifyStore(collections.store, findings, options)
  let documents = 0
  for (const name of collections.names) documents += await verifyCollection(collections, name, findings, options)
  return { hasCheckedStore, documents, problems: findings.problems, problemCount: findings.count }
}

/** @returns the number of documents in the collection */
async function verifyCollection(
  collections: Collections,
  name: string,
  findings: Findings,
  options: VerifyOptions
): Promise<number> {
  for (;;) {
    let collection: OpenCollection | undefined
    const found = new Findings()
    try {
      collection = await collections.openForRead(name)
      const documents = collection === undefined ? 0 : await new CollectionCheck(collection, found, options).run()
      findings.merge(found)
      return documents
    } catch (error) {
      if (error instanceof AbortedError) throw error
      // The collection was dropped or replaced; check its replacement instead.
      if (collection !== undefined && (await collections.openForRead(name)) !== collection) continue
      const cause = fromStore(error)
      const { codeName, message } = cause as { readonly codeName?: unknown; readonly message?: unknown }
      if (codeName !== 'DataCorruption' && codeName !== 'StoreFailure') throw cause
      findings.merge(found)
      findings.add(name, 'store', String(message))
      return 0
    }
  }
}

class Findings {
  readonly problems: VerifyProblem[] = []
  count = 0

  add(collection: string | undefined, kind: string, what: string): void {
    if (this.count++ < maxProblems) this.problems.push({ collection, kind, what })
  }

  merge({ problems, count }: Findings): void {
    this.problems.push(...problems.slice(0, Math.max(0, maxProblems - this.problems.length)))
    this.count += count
  }
}

/** Implemented by LsmLevel. */
interface VerifiedStore {
  verify(options: {
    readonly signal: AbortSignal | undefined
    readonly onProgress: (progress: { readonly tables: number; readonly totalTables: number }) => void
  }): Promise<{ readonly problems: readonly StoreProblem[]; readonly problemCount: number }>
}

interface StoreProblem {
  readonly kind: string
  readonly path: string
  readonly offset?: number | undefined
  readonly what: string
}

async function verifyStore(store: Store, findings: Findings, options: VerifyOptions): Promise<boolean> {
  if (store.supports.additionalMethods?.verify !== true) return false
  const { problems, problemCount } = await (store as unknown as VerifiedStore)
    .verify({
      signal: options.signal,
      onProgress: ({ tables, totalTables }) =>
        options.onProgress?.({ collection: undefined, checked: tables, total: totalTables })
    })
    .catch((error: unknown) => {
      throwIfAborted(options.signal)
      throw fromStore(error)
    })
  for (const { kind, path, offset, what } of problems) {
    findings.add(undefined, kind, `${path}${offset === undefined ? '' : ` at offset ${offset}`}: ${what}`)
  }
  findings.count += problemCount - problems.length
  return true
}

class CollectionCheck {
  readonly #collection: OpenCollection
  readonly #findings: Findings
  readonly #options: VerifyOptions
  readonly #control: Control
  /** Documents read so far, and the collection's own count. */
  #documents = 0
  readonly #total: number

  constructor(collection: OpenCollection, findings: Findings, options: VerifyOptions) {
    this.#collection = collection
    this.#findings = findings
    this.#options = options
    this.#control = new Control(options.signal === undefined ? {} : { signal: options.signal })
    this.#total = collection.state.documents
  }

  /** Returns the number of documents. */
  async run(): Promise<number> {
    const view = this.#collection.capture()
    const { ready, store } = this.#collection.declared
    const declared = ready.map((index) => new DeclaredCheck(store, index, view, (what) => this.#report('index', what)))
    try {
      const known = liveOrdinals(view)
      let live = await known.next()
      const reader = view.documents({ from: 0, to: view.limit })
      try {
        for (let entries = await reader.next(); entries.length > 0; entries = await reader.next()) {
          const keys: Uint8Array[] = []
          const ordinals: number[] = []
          for (const [key, record] of entries) {
            const ordinal = reader.ordinalOf(key)
            for (; live.done !== true && live.value < ordinal; live = await known.next())
              this.#reportMissing(live.value)
            if (live.done === true || live.value !== ordinal)
              this.#report('index', `does not contain document ${ordinal}`)
            else live = await known.next()
            const document = this.#decode(ordinal, record)
            if (document === undefined) continue
            keys.push(encodeKey(document._id))
            ordinals.push(ordinal)
            for (const check of declared) check.add(ordinal, document)
            if (this.#documents % this.#stride === 0) await this.#checkLookup(view, ordinal, document)
            if (this.#documents % progressDocuments === 0) this.#reportProgress()
            await this.#pauseIfDue()
          }
          await this.#checkIds(view, keys, ordinals)
          for (const check of declared) await check.checkEntries()
        }
      } finally {
        view.closeReader(reader)
      }
      for (; live.done !== true; live = await known.next()) this.#reportMissing(live.value)
      await this.#countIds(view)
      for (const check of declared) await check.checkCount(() => this.#pauseIfDue())
    } finally {
      view.close()
    }
    if (this.#documents !== this.#total) {
      this.#report(
        'document',
        `there are ${this.#documents} documents, but ${this.#total} were counted when they were written`
      )
    }
    return this.#documents
  }

  get #stride(): number {
    return Math.max(1, Math.floor(this.#total / samples))
  }

  #decode(ordinal: number, record: string): Document | undefined {
    this.#documents++
    try {
      return decodeRecord(record)
    } catch (error) {
      this.#report('document', `${ordinal}: ${(error as Error).message}`)
      return undefined
    }
  }

  async #checkIds(view: ReadView, keys: readonly Uint8Array[], ordinals: readonly number[]): Promise<void> {
    const found = await view.ordinalsOf(keys)
    ordinals.forEach((ordinal, i) => {
      if (found[i] === ordinal) return
      const instead = found[i] === undefined ? 'to no document' : `to document ${found[i]}`
      this.#report('id', `the _id of document ${ordinal} points ${instead}`)
    })
  }

  /** Every document's `_id` has been checked, so any surplus `_id`s lead nowhere. */
  async #countIds(view: ReadView): Promise<void> {
    if (this.#collection.store.ids !== undefined) return
    let count = 0
    for await (const ordinal of this.#collection.store.idOrdinals(view.readOptions)) {
      if (ordinal < view.limit) count++
      await this.#pauseIfDue()
    }
    if (count !== this.#documents) this.#report('id', `there are ${count} _ids for ${this.#documents} documents`)
  }

  /** Looks up a document by its own fields, several at once. */
  async #checkLookup(view: ReadView, ordinal: number, document: Document): Promise<void> {
    const segment = await segmentOf(view, ordinal)
    if (segment === undefined) return
    const isFoundBy = async ([key, value]: readonly [string, unknown]): Promise<void> => {
      const bounds = boundsOf(key, value)
      if (bounds === undefined || (await view.index.evaluate(segment, bounds)).has(ordinal)) return
      this.#report('index', `does not find document ${ordinal} by its own ${key}`)
    }
    const fields = Object.entries(document).filter(([key]) => !key.startsWith('$') && !key.includes('.'))
    for (let i = 0; i < fields.length; i += lookupsAtOnce) {
      await Promise.all(fields.slice(i, i + lookupsAtOnce).map(isFoundBy))
    }
  }

  #reportProgress(): void {
    this.#options.onProgress?.({ collection: this.#collection.name, checked: this.#documents, total: this.#total })
  }

  async #pauseIfDue(): Promise<void> {
    if (!this.#control.isPauseDue) return
    await this.#control.pause()
    this.#control.check()
  }

  #reportMissing(ordinal: number): void {
    this.#report('index', `contains document ${ordinal}, which does not exist`)
  }

  #report(kind: string, what: string): void {
    this.#findings.add(this.#collection.name, kind, what)
  }
}

/** Returns the bounds of an equality with the value; undefined if it is nested too deep for a filter. */
function boundsOf(key: string, value: unknown): PairExpression | undefined {
  try {
    return compileFilter({ [key]: { $eq: value } }).bounds
  } catch (error) {
    if (error instanceof PetalError) return undefined
    throw error
  }
}

/** Returns the segment whose range contains the ordinal. */
async function segmentOf({ index }: ReadView, ordinal: number): Promise<number | undefined> {
  for (let i = 0; i < index.segmentCount; i++) {
    const { firstOrdinal, endOrdinal } = await index.evaluate(i, all)
    if (ordinal >= firstOrdinal && ordinal < endOrdinal) return i
  }
  return undefined
}

/** Yields the ordinals that the index considers live, ascending. */
async function* liveOrdinals(view: ReadView): AsyncGenerator<number, void> {
  for (let i = 0; i < view.index.segmentCount; i++) {
    const candidates = await view.index.evaluate(i, all)
    for (let k = 0; k < candidates.upperCount; k++) yield candidates.ordinal(k)
  }
}
