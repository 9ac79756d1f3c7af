/**
 * Collects the best hits of a lookup: matching entries that are visible in the view.
 *
 * An entry's rank is its sequence number, negated if the oldest come first: higher is better.
 *
 * Invariants:
 * 1. Every hit has passed the shadow check: the view sees this very version of the key. A value filter says nothing
 *    about newer versions and tombstones, which may be anywhere (docs/architecture.md).
 * 2. With a limit of K, entries ranked below the K best hits are not examined.
 */

import type { Cursor } from '../format/cursor.ts'
import { EntryKind } from '../format/entry.ts'
import { Found } from '../format/found.ts'
import { NumberHeap } from './number-heap.ts'
import type { ValueView } from './value-view.ts'

export interface Hit {
  readonly key: Buffer
  /** Undefined if it has to be read again: pending results have a memory budget. */
  readonly value: Buffer | undefined
}

/** The fields of an entry needed for a hit; both cursors and memtable entries have them. */
export type EntryFields = Pick<
  Cursor,
  'keyBytes' | 'keyStart' | 'keyEnd' | 'sequence' | 'kind' | 'valueBytes' | 'valueStart' | 'valueEnd'
>

/** Limit on the value bytes kept in pending hits. */
const maxWaitingBytes = 8 * 1024 * 1024

export interface HitOptions {
  /** Maximum number of hits that will be taken. */
  readonly limit: number
  readonly isReverse: boolean
  /** Required prefix of keys. */
  readonly prefix: Uint8Array
  /** Whether an entry matches the lookup. */
  matches(key: Uint8Array, value: Uint8Array): boolean
}

export class Hits {
  readonly #view: ValueView
  readonly #options: HitOptions
  /** Hits by rank; ingested entries can share one. */
  readonly #hits = new Map<number, Hit[]>()
  /** Negated ranks of the hits: the best first. */
  readonly #waiting = new NumberHeap()
  /** Ranks of the K best, the worst first; includes those already taken. */
  readonly #best = new NumberHeap()
  readonly #found = new Found()
  #waitingBytes = 0

  constructor(view: ValueView, options: HitOptions) {
    this.#view = view
    this.#options = options
  }

  /** Entries of this rank or below are useless. */
  get threshold(): number {
    return this.#best.size < this.#options.limit ? Number.NEGATIVE_INFINITY : (this.#best.least as number)
  }

  rankOf(sequence: number): number {
    return this.#options.isReverse ? -sequence : sequence
  }

  /** Adds the entry if it is a hit. */
  offer(entry: EntryFields): void {
    const { sequence } = entry
    if (entry.kind === EntryKind.tombstone || sequence > this.#view.sequence) return
    const rank = this.rankOf(sequence)
    if (rank <= this.threshold || !this.#hasPrefix(entry)) return
    const key = entry.keyBytes.subarray(entry.keyStart, entry.keyEnd)
    const value = entry.valueBytes.subarray(entry.valueStart, entry.valueEnd)
    if (!this.#options.matches(key, value) || !this.#isVisible(key, sequence)) return
    this.#waitingBytes += value.length
    const keepsValue = this.#waitingBytes <= maxWaitingBytes
    const hit: Hit = { key: Buffer.from(key), value: keepsValue ? Buffer.from(value) : undefined }
    const equals = this.#hits.get(rank)
    if (equals === undefined) this.#hits.set(rank, [hit])
    else equals.push(hit)
    this.#waiting.push(-rank)
    if (this.#options.limit === Number.POSITIVE_INFINITY) return
    this.#best.push(rank)
    if (this.#best.size > this.#options.limit) this.#best.pop()
  }

  /** Removes and returns the best hit if its rank is above `bound`. */
  takeAbove(bound: number): Hit | undefined {
    const least = this.#waiting.least
    if (least === undefined || -least <= bound) return undefined
    this.#waiting.pop()
    const equals = this.#hits.get(-least) as Hit[]
    const hit = equals.pop() as Hit
    if (equals.length === 0) this.#hits.delete(-least)
    this.#waitingBytes -= hit.value?.length ?? 0
    return hit
  }

  /** Returns the value of a hit, reading it again if necessary. */
  valueOf(hit: Hit): Buffer {
    if (hit.value !== undefined) return hit.value
    const found = this.#found
    this.#view.find(hit.key, found)
    return Buffer.from(found.valueBytes.subarray(found.valueStart, found.valueEnd))
  }

  /** The shadow check: whether this is the newest version of the key that the view sees. */
  #isVisible(key: Uint8Array, sequence: number): boolean {
    return this.#view.find(key, this.#found) && this.#found.sequence === sequence
  }

  #hasPrefix({ keyBytes, keyStart, keyEnd }: EntryFields): boolean {
    const { prefix } = this.#options
    if (keyEnd - keyStart < prefix.length) return false
    for (let i = 0; i < prefix.length; i++) if (keyBytes[keyStart + i] !== prefix[i]) return false
    return true
  }
}
