/**
 * What a lookup has found so far: entries that have what was asked for and that the view sees, the best of them kept.
 *
 * An entry's rank is its sequence number, negated when the oldest come first: higher is better.
 *
 * Invariants:
 * 1. Every hit has passed the shadow check: the view sees this very version of the key. A value filter says nothing of
 *    newer versions and tombstones, which may be anywhere (docs/architecture.md).
 * 2. With a limit of K, an entry below the K best hits is not looked at.
 */

import type { Cursor } from '../format/cursor.ts'
import { EntryKind } from '../format/entry.ts'
import { Found } from '../format/found.ts'
import { NumberHeap } from './number-heap.ts'
import type { ValueView } from './value-view.ts'

export interface Hit {
  readonly key: Buffer
  readonly sequence: number
  /** Undefined when it is to be read again: results in waiting have a budget of memory. */
  readonly value: Buffer | undefined
}

/** The fields of an entry that hits are made of; cursors and memtable entries have them. */
export type EntryFields = Pick<
  Cursor,
  'keyBytes' | 'keyStart' | 'keyEnd' | 'sequence' | 'kind' | 'valueBytes' | 'valueStart' | 'valueEnd'
>

/** Bytes of values kept while hits wait for their turn. */
const maxWaitingBytes = 8 * 1024 * 1024

export interface HitOptions {
  /** Most that will be taken. */
  readonly limit: number
  readonly isReverse: boolean
  /** Keys must begin with this. */
  readonly prefix: Uint8Array
  /** Whether an entry has what is asked for. */
  matches(key: Uint8Array, value: Uint8Array): boolean
}

export class Hits {
  readonly #view: ValueView
  readonly #options: HitOptions
  /** By rank: entries that were ingested have one. */
  readonly #hits = new Map<number, Hit[]>()
  /** Negated ranks of the hits: the best first. */
  readonly #waiting = new NumberHeap()
  /** Ranks of the K best, the worst first; those already taken included. */
  readonly #best = new NumberHeap()
  readonly #found = new Found()
  #waitingBytes = 0

  constructor(view: ValueView, options: HitOptions) {
    this.#view = view
    this.#options = options
  }

  /** Entries of this rank or below are of no use. */
  get threshold(): number {
    return this.#best.size < this.#options.limit ? Number.NEGATIVE_INFINITY : (this.#best.least as number)
  }

  rankOf(sequence: number): number {
    return this.#options.isReverse ? -sequence : sequence
  }

  /** Takes an entry in if it is a hit. */
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
    const hit: Hit = { key: Buffer.from(key), sequence, value: keepsValue ? Buffer.from(value) : undefined }
    const equals = this.#hits.get(rank)
    if (equals === undefined) this.#hits.set(rank, [hit])
    else equals.push(hit)
    this.#waiting.push(-rank)
    if (this.#options.limit === Number.POSITIVE_INFINITY) return
    this.#best.push(rank)
    if (this.#best.size > this.#options.limit) this.#best.pop()
  }

  /** The best hit, if its rank is above `bound`; removed. */
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

  /** The value of a hit. */
  valueOf(hit: Hit): Buffer {
    if (hit.value !== undefined) return hit.value
    const found = this.#found
    this.#view.find(hit.key, found)
    return Buffer.from(found.valueBytes.subarray(found.valueStart, found.valueEnd))
  }

  /** The shadow check: whether the newest version of the key that the view sees is this one. */
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
