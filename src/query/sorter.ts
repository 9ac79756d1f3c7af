/** Sorts with bounded memory. Both sorters are stable: documents that compare equal keep their order of arrival. */
import { estimateBytes, MemoryBudget } from '../model/memory-budget.ts'
import type { Document } from '../model/types.ts'
import type { CompiledSort } from './sort.ts'
import type { SortKey } from './sort-key.ts'

/** Memory of an entry in bytes, besides its document. */
const entryBytes = 100

/** Entries sorted or merged between two pauses: about a millisecond. */
const stepEntries = 512

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
 * The first `limit` documents of an order: a heap of at most `limit` entries, with the last of them on top.
 * @example
 * const newest = new TopK<Document>(compileSort({ at: -1 }), 10)
 * for (const document of documents) newest.push(document)
 * newest.toArray()
 */
export class TopK<T = Document> {
  readonly #sort: CompiledSort
  readonly #limit: number
  readonly #budget: MemoryBudget
  readonly #heap: Entry<T>[] = []
  #arrivals = 0

  /** @param limit ≥ 0 */
  constructor(sort: CompiledSort, limit: number, limits: SortLimits = {}) {
    this.#sort = sort
    this.#limit = limit
    this.#budget = sortBudget(limits)
  }

  /**
   * @param item what toArray() returns in place of the document
   * @param bytes size of the document; estimated when omitted
   * @param arrival breaks ties, lower first; given in all pushes to a heap, or in none
   * @returns false when the document is not, at least at present, among the first
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

  /** The last of the first `limit` documents, which excludes everything after it; undefined while there are fewer. */
  get last(): { readonly key: SortKey; readonly arrival: number } | undefined {
    return this.#heap.length < this.#limit ? undefined : this.#heap[0]
  }

  /** Returns the items in order. */
  toArray(): T[] {
    return [...this.#heap].sort((a, b) => this.#compare(a, b)).map(({ item }) => item)
  }

  /** As toArray(), pausing after every few hundred entries sorted or merged. */
  *steps(): Generator<void, T[]> {
    return itemsOf(yield* sortInSteps(this.#heap, (a, b) => this.#compare(a, b)))
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

interface SortEntry<T> {
  readonly key: SortKey
  readonly item: T
}

/** Sorts documents that arrive one by one, in memory. */
export class FullSort<T = Document> {
  readonly #sort: Pick<CompiledSort, 'keyOf' | 'compareKeys'>
  readonly #budget: MemoryBudget
  readonly #entries: SortEntry<T>[] = []

  constructor(sort: Pick<CompiledSort, 'keyOf' | 'compareKeys'>, limits: SortLimits = {}) {
    this.#sort = sort
    this.#budget = sortBudget(limits)
  }

  /** See TopK.push. */
  push(document: Document, item: T = document as T, bytes?: number): void {
    this.#budget.change((bytes ?? estimateBytes(document)) + entryBytes)
    this.#entries.push({ key: this.#sort.keyOf(document), item })
  }

  get length(): number {
    return this.#entries.length
  }

  /** Returns the items in order. Array.prototype.sort is stable, so entries need no arrival number. */
  toArray(): T[] {
    return this.#entries.sort((a, b) => this.#sort.compareKeys(a.key, b.key)).map(({ item }) => item)
  }

  /** As toArray(), pausing after every few hundred entries sorted or merged. */
  *steps(): Generator<void, T[]> {
    return itemsOf(yield* sortInSteps(this.#entries, (a, b) => this.#sort.compareKeys(a.key, b.key)))
  }
}

function itemsOf<T>(entries: readonly { readonly item: T }[]): T[] {
  return entries.map(({ item }) => item)
}

type Compare<E> = (a: E, b: E) => number

/** Sorts stably, pausing after every few hundred entries sorted or merged. */
export function* sortInSteps<E>(entries: readonly E[], compare: Compare<E>): Generator<undefined, readonly E[]> {
  let runs: E[][] = []
  for (let from = 0; from < entries.length; from += stepEntries) {
    runs.push(entries.slice(from, from + stepEntries).sort(compare))
    yield undefined
  }
  while (runs.length > 1) {
    const merged: E[][] = []
    // Merges only neighbours, to keep equal entries in order.
    for (let i = 0; i < runs.length; i += 2) merged.push(yield* merge(runs[i] ?? [], runs[i + 1] ?? [], compare))
    runs = merged
  }
  return runs[0] ?? []
}

function* merge<E>(left: E[], right: readonly E[], compare: Compare<E>): Generator<undefined, E[]> {
  if (right.length === 0) return left
  const merged: E[] = []
  let i = 0
  let j = 0
  while (i < left.length || j < right.length) {
    const a = left[i]
    const b = right[j]
    const takesLeft = b === undefined || (a !== undefined && compare(a, b) <= 0)
    merged.push((takesLeft ? a : b) as E)
    if (takesLeft) i++
    else j++
    if (merged.length % stepEntries === 0) yield undefined
  }
  return merged
}

function sortBudget({ maxBytes }: SortLimits): MemoryBudget {
  return new MemoryBudget('The sort', 'add a limit or a narrower filter', maxBytes)
}
