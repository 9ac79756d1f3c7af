/**
 * Sorting with bounded memory. Both ways are stable: documents that compare equal keep the order they came in.
 */
import { PetalError } from '../model/errors.ts'
import type { Document } from '../model/types.ts'
import type { CompiledSort } from './sort.ts'
import type { SortKey } from './sort-key.ts'

/** What a sort may hold in memory, as in MongoDB. */
export const defaultSortBytes = 100 * 2 ** 20

/** Bytes of an entry besides its document. */
const entryBytes = 100

export interface SortLimits {
  /** Sum of the documents' sizes beyond which sorting fails. */
  readonly maxBytes?: number
}

interface Entry<T> {
  readonly key: SortKey
  readonly arrival: number
  readonly item: T
  readonly bytes: number
}

/**
 * The first `limit` documents of an order: a heap of at most `limit` entries, the last of them on top.
 * @example
 * const newest = new TopK<Document>(compileSort({ at: -1 }), 10)
 * for (const document of documents) newest.push(document)
 * newest.toArray()
 */
export class TopK<T = Document> {
  readonly #sort: CompiledSort
  readonly #limit: number
  readonly #budget: Budget
  readonly #heap: Entry<T>[] = []
  #arrivals = 0

  /** @param limit ≥ 0 */
  constructor(sort: CompiledSort, limit: number, limits: SortLimits = {}) {
    this.#sort = sort
    this.#limit = limit
    this.#budget = new Budget(limits)
  }

  /**
   * @param item what toArray() returns in the document's place
   * @param bytes size of the document; estimated when left out
   * @param arrival decides between documents that compare equal, the lower one being first; all of a heap's pushes give one,
   *   or none does
   * @returns false when the document is not, or not at present, among the first
   * @throws PetalError QueryExceededMemoryLimit
   */
  push(document: Document, item: T = document as T, bytes?: number, arrival = this.#arrivals++): boolean {
    if (this.#limit === 0) return false
    const key = this.#sort.keyOf(document)
    const top = this.#heap[0]
    const isFull = this.#heap.length >= this.#limit
    if (isFull && top !== undefined && (this.#sort.compareKeys(key, top.key) || arrival - top.arrival) >= 0)
      return false
    const entry: Entry<T> = { key, arrival, item, bytes: bytes ?? estimateBytes(document) }
    if (isFull && top !== undefined) {
      this.#budget.change(entry.bytes - top.bytes)
      this.#heap[0] = entry
      this.#siftDown()
    } else {
      this.#budget.change(entry.bytes + entryBytes)
      this.#heap.push(entry)
      this.#siftUp()
    }
    return true
  }

  get length(): number {
    return this.#heap.length
  }

  /** The last of the first `limit` documents: what comes behind it is not among them. undefined while they are fewer. */
  get last(): { readonly key: SortKey; readonly arrival: number } | undefined {
    return this.#heap.length < this.#limit ? undefined : this.#heap[0]
  }

  /** In order. */
  toArray(): T[] {
    return [...this.#heap].sort((a, b) => this.#compare(a, b)).map(({ item }) => item)
  }

  #compare(a: Entry<T>, b: Entry<T>): number {
    return this.#sort.compareKeys(a.key, b.key) || a.arrival - b.arrival
  }

  #siftUp(): void {
    let child = this.#heap.length - 1
    while (child > 0) {
      const parent = (child - 1) >> 1
      if (!this.#swapIfLater(parent, child)) return
      child = parent
    }
  }

  #siftDown(): void {
    let parent = 0
    for (;;) {
      const left = 2 * parent + 1
      if (left >= this.#heap.length) return
      const right = left + 1
      const later = right < this.#heap.length && this.#compare(this.#heap[right]!, this.#heap[left]!) > 0 ? right : left
      if (!this.#swapIfLater(parent, later)) return
      parent = later
    }
  }

  /** Keeps the entry that sorts later on top. */
  #swapIfLater(parent: number, child: number): boolean {
    const above = this.#heap[parent]!
    const below = this.#heap[child]!
    if (this.#compare(below, above) <= 0) return false
    this.#heap[parent] = below
    this.#heap[child] = above
    return true
  }
}

/**
 * Every document in order, in memory.
 * @throws PetalError QueryExceededMemoryLimit when they are larger than the budget together
 */
export function sortAll(sort: CompiledSort, documents: Iterable<Document>, limits: SortLimits = {}): Document[] {
  const sorter = new FullSort<Document>(sort, limits)
  for (const document of documents) sorter.push(document)
  return sorter.toArray()
}

/** sortAll for documents that come one by one. */
export class FullSort<T = Document> {
  readonly #sort: CompiledSort
  readonly #budget: Budget
  readonly #entries: { readonly key: SortKey; readonly item: T }[] = []

  constructor(sort: CompiledSort, limits: SortLimits = {}) {
    this.#sort = sort
    this.#budget = new Budget(limits)
  }

  /** See TopK.push. */
  push(document: Document, item: T = document as T, bytes?: number): void {
    this.#budget.change((bytes ?? estimateBytes(document)) + entryBytes)
    this.#entries.push({ key: this.#sort.keyOf(document), item })
  }

  get length(): number {
    return this.#entries.length
  }

  /** In order. Array.prototype.sort is stable, so entries need no arrival number. */
  toArray(): T[] {
    return this.#entries.sort((a, b) => this.#sort.compareKeys(a.key, b.key)).map(({ item }) => item)
  }
}

class Budget {
  readonly #maxBytes: number
  #usedBytes = 0

  constructor({ maxBytes = defaultSortBytes }: SortLimits) {
    this.#maxBytes = maxBytes
  }

  change(bytes: number): void {
    this.#usedBytes += bytes
    if (this.#usedBytes <= this.#maxBytes) return
    throw new PetalError(
      'QueryExceededMemoryLimit',
      `The sort needs more than its ${this.#maxBytes} bytes of memory; add a limit or a narrower filter`,
      { details: { maxBytes: this.#maxBytes, usedBytes: this.#usedBytes } }
    )
  }
}

/** Rough size in memory, from strings and the number of values. */
function estimateBytes(value: unknown): number {
  if (typeof value === 'string') return 16 + value.length
  if (typeof value !== 'object' || value === null) return 8
  if (value instanceof Uint8Array) return 64 + value.length
  let bytes = 32
  if (Array.isArray(value)) for (const element of value) bytes += estimateBytes(element)
  else for (const key of Object.keys(value)) bytes += 8 + estimateBytes((value as Document)[key])
  return bytes
}
