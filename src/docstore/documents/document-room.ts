/**
 * The memory that the collections of a database share for documents that are kept decoded.
 *
 * When it is used up, a document takes the place of one, of whatever collection, that was not asked for for longer than it
 * took the new one to be asked for again. So whoever goes round over more documents than there is room for finds all of
 * those that are kept each time, and what is asked for more often comes in at once.
 *
 * Invariant: usedBytes ≤ budgetBytes, always.
 * @see Jiang and Zhang 2002, LIRS: inter-reference recency
 */
import { LastAsked } from './last-asked.ts'

/** A document larger than this share of the budget would push out too many others. */
const largestShare = 16
/** Kept ones that are looked at to find one that may go. */
const maxLooks = 4

/** What is kept, by its collection. */
export interface Kept {
  readonly ordinal: number
  readonly bytes: number
  /** When it was asked for last. */
  askedAt: number
  /** The collection's, where it stands by its ordinal. */
  readonly owner: Map<number, Kept>
}

export class DocumentRoom {
  readonly budgetBytes: number
  readonly largestBytes: number
  /** Counts what was asked for. */
  now = 0
  readonly lastAsked = new LastAsked()
  /** For the hand that goes round them and looks for one that may go. */
  #clock: Kept[] = []
  #hand = 0
  #usedBytes = 0

  /** @param budgetBytes 0 keeps nothing */
  constructor(budgetBytes: number) {
    this.budgetBytes = budgetBytes
    this.largestBytes = budgetBytes / largestShare
  }

  get usedBytes(): number {
    return this.#usedBytes
  }

  /** REQUIRES: makeRoom() of its bytes */
  add(kept: Kept): void {
    kept.owner.set(kept.ordinal, kept)
    this.#clock.push(kept)
    this.#usedBytes += kept.bytes
  }

  /** Gives up what was not asked for since `before`; false when that is not enough. */
  makeRoom(bytes: number, before: number): boolean {
    for (let looks = 0; this.#usedBytes + bytes > this.budgetBytes; ) {
      if (looks++ === maxLooks) return false
      if (this.#hand >= this.#clock.length) this.#hand = 0
      const kept = this.#clock[this.#hand]!
      if (kept.askedAt >= before) {
        this.#hand++
      } else {
        this.#removeAtHand(kept)
        looks = 0
      }
    }
    return true
  }

  /** Gives up all of a collection's. */
  removeAll(owner: Map<number, Kept>): void {
    if (owner.size === 0) return
    this.#clock = this.#clock.filter((kept) => kept.owner !== owner)
    this.#hand = 0
    for (const { bytes } of owner.values()) this.#usedBytes -= bytes
    owner.clear()
  }

  #removeAtHand(kept: Kept): void {
    const last = this.#clock.pop()!
    if (last !== kept) this.#clock[this.#hand] = last
    kept.owner.delete(kept.ordinal)
    this.#usedBytes -= kept.bytes
  }
}
