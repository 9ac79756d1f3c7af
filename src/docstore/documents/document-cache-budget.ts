/**
 * The memory for decoded documents that all collections of a database share.
 *
 * When it is full, a new document replaces one, of any collection, that has not been requested for longer than the time
 * between the new one's last two requests. A loop over more documents than fit thus finds the cached ones every time,
 * and documents requested more often get in at once.
 *
 * Invariant: usedBytes ≤ budgetBytes, always.
 * @see Jiang and Zhang 2002, LIRS: inter-reference recency
 */
import { AccessHistory } from './access-history.ts'

/** A document larger than this fraction (1/n) of the budget would evict too many others. */
const largestShare = 16
/** Maximum number of entries examined to find one to evict. */
const maxProbes = 4

/** An entry and the collection that holds it. */
export interface CacheEntry {
  readonly ordinal: number
  readonly bytes: number
  /** Time of the last request. */
  accessedAt: number
  /** The collection's entries by ordinal. */
  readonly owner: Map<number, CacheEntry>
}

export class DocumentCacheBudget {
  readonly budgetBytes: number
  readonly largestBytes: number
  /** Logical clock: counts requests. */
  now = 0
  readonly accessHistory = new AccessHistory()
  /** Entries in clock order, for the eviction hand. */
  #clock: CacheEntry[] = []
  #hand = 0
  #usedBytes = 0

  /** @param budgetBytes 0 disables caching */
  constructor(budgetBytes: number) {
    this.budgetBytes = budgetBytes
    this.largestBytes = budgetBytes / largestShare
  }

  get usedBytes(): number {
    return this.#usedBytes
  }

  /** REQUIRES: makeRoom() for its size */
  add(kept: CacheEntry): void {
    kept.owner.set(kept.ordinal, kept)
    this.#clock.push(kept)
    this.#usedBytes += kept.bytes
  }

  /** Evicts entries not requested since `before`; false if that does not free enough. */
  makeRoom(bytes: number, before: number): boolean {
    for (let looks = 0; this.#usedBytes + bytes > this.budgetBytes; ) {
      if (looks++ === maxProbes) return false
      if (this.#hand >= this.#clock.length) this.#hand = 0
      const kept = this.#clock[this.#hand]!
      if (kept.accessedAt >= before) {
        this.#hand++
      } else {
        this.#removeAtHand(kept)
        looks = 0
      }
    }
    return true
  }

  /** Removes all entries of a collection. */
  removeAll(owner: Map<number, CacheEntry>): void {
    if (owner.size === 0) return
    this.#clock = this.#clock.filter((kept) => kept.owner !== owner)
    this.#hand = 0
    for (const { bytes } of owner.values()) this.#usedBytes -= bytes
    owner.clear()
  }

  #removeAtHand(kept: CacheEntry): void {
    const last = this.#clock.pop()!
    if (last !== kept) this.#clock[this.#hand] = last
    kept.owner.delete(kept.ordinal)
    this.#usedBytes -= kept.bytes
  }
}
