/**
 * Checks a collection: that every document can be read and has an `_id`, that every `_id` leads to its document, that
 * the index contains exactly these documents and finds a sample of them, and that every declared index has their
 * entries and no others.
 *
 * Reads and writes continue meanwhile: the collection is checked as of when the check starts.
 */
import { PetalError } from '../../model/errors.ts'
import { encodeKey } from '../../model/key.ts'
import { all, type PairExpression } from '../../model/pairs.ts'
import type { Document } from '../../model/types.ts'
import { compileFilter } from '../../query/filter.ts'
import { decodeRecord } from '../documents/record.ts'
import type { OpenCollection } from '../open-collection.ts'
import { Control } from '../read/control.ts'
import type { ReadView } from '../read/read-view.ts'
import { DeclaredCheck } from './verify-declared.ts'

/** Approximate number of documents looked up through the index. */
const samples = 200
/** Lookups at a time: where the store reads asynchronously, they wait together. */
const lookupsAtOnce = 32
const progressDocuments = 1000

/** Told while a collection is checked. */
interface CheckObserver {
  onProblem(kind: string, what: string): void
  /** Called from time to time with the number of documents checked so far, and of all. */
  onProgress(checked: number, total: number): void
}

export class CollectionCheck {
  readonly #collection: OpenCollection
  readonly #observer: CheckObserver
  readonly #control: Control
  /** Documents read so far, and the collection's own count. */
  #documents = 0
  readonly #total: number
  /** No document still to be looked up is in a segment before it. */
  #segment = 0

  constructor(collection: OpenCollection, signal: AbortSignal | undefined, observer: CheckObserver) {
    this.#collection = collection
    this.#observer = observer
    this.#control = new Control(signal === undefined ? {} : { signal })
    this.#total = collection.state.documents
  }

  /** Returns the number of documents. @throws AbortedError */
  async run(): Promise<number> {
    const view = this.#collection.capture()
    const { ready, store } = this.#collection.declared
    const declared = ready.map((index) => new DeclaredCheck(store, index, view, (what) => this.#report('index', what)))
    try {
      await this.#checkDocuments(view, declared)
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

  async #checkDocuments(view: ReadView, declared: readonly DeclaredCheck[]): Promise<void> {
    const live = new LiveOrdinals(view, (ordinal) => this.#reportMissing(ordinal))
    const reader = view.documents({ from: 0, to: view.limit })
    try {
      for (let entries = await reader.next(); entries.length > 0; entries = await reader.next()) {
        const keys: Uint8Array[] = []
        const ordinals: number[] = []
        for (const [key, record] of entries) {
          const ordinal = reader.ordinalOf(key)
          if (!(await live.moveTo(ordinal))) this.#report('index', `does not contain document ${ordinal}`)
          const document = this.#decode(ordinal, record)
          if (document === undefined) continue
          keys.push(encodeKey(document._id))
          ordinals.push(ordinal)
          for (const check of declared) check.add(ordinal, document)
          if (this.#documents % this.#stride === 0) await this.#checkLookup(view, ordinal, document)
          if (this.#documents % progressDocuments === 0) this.#observer.onProgress(this.#documents, this.#total)
          await this.#pauseIfDue()
        }
        await this.#checkIds(view, keys, ordinals)
        for (const check of declared) await check.checkEntries()
      }
    } finally {
      view.closeReader(reader)
    }
    await live.moveTo(Number.POSITIVE_INFINITY)
  }

  get #stride(): number {
    return Math.max(1, Math.floor(this.#total / samples))
  }

  #decode(ordinal: number, record: string): Document | undefined {
    this.#documents++
    try {
      const document = decodeRecord(record)
      if (document._id !== undefined) return document
      this.#report('document', `${ordinal}: it has no _id`)
    } catch (error) {
      this.#report('document', `${ordinal}: ${(error as Error).message}`)
    }
    return undefined
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
    const segment = await this.#segmentOf(view, ordinal)
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

  /** Returns the segment whose range contains the ordinal. REQUIRES: called with ascending ordinals */
  async #segmentOf({ index }: ReadView, ordinal: number): Promise<number | undefined> {
    for (; this.#segment < index.segmentCount; this.#segment++) {
      const { firstOrdinal, endOrdinal } = await index.evaluate(this.#segment, all)
      if (ordinal < endOrdinal) return ordinal < firstOrdinal ? undefined : this.#segment
      await this.#pauseIfDue()
    }
    return undefined
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
    this.#observer.onProblem(kind, what)
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

/** The ordinals that the index considers live, compared with those of the documents: both ascend. */
class LiveOrdinals {
  readonly #ordinals: AsyncIterator<number, void>
  readonly #onMissing: (ordinal: number) => void
  #next: IteratorResult<number, void> | undefined

  /** @param onMissing told of live ordinals that have no document */
  constructor(view: ReadView, onMissing: (ordinal: number) => void) {
    this.#ordinals = liveOrdinals(view)
    this.#onMissing = onMissing
  }

  /** Goes on to the next document. @returns whether its ordinal is live */
  async moveTo(ordinal: number): Promise<boolean> {
    let next = this.#next ?? (await this.#ordinals.next())
    for (; next.done !== true && next.value < ordinal; next = await this.#ordinals.next()) this.#onMissing(next.value)
    const isLive = next.value === ordinal
    this.#next = isLive ? undefined : next
    return isLive
  }
}

/** Yields the ordinals that the index considers live, ascending. */
async function* liveOrdinals(view: ReadView): AsyncGenerator<number, void> {
  for (let i = 0; i < view.index.segmentCount; i++) {
    const candidates = await view.index.evaluate(i, all)
    for (let k = 0; k < candidates.upperCount; k++) yield candidates.ordinal(k)
  }
}
