/**
 * Maps the pairs of a segment that have a private row to their slots.
 *
 * Invariant: after the hash, a lookup compares the pair itself: path, tag and key. Two pairs with the same 64-bit hash
 * are two entries, so membership of a private row is exact even against crafted collisions.
 */
import type { TaggedPair } from '../pairs/pair-tags.ts'

/** A pair and its hash under the index's seed. */
export interface HashedPair extends TaggedPair {
  readonly lo: number
  readonly hi: number
}

export class PrivateTable {
  readonly #pairs: HashedPair[] = []
  #slots: Int32Array

  constructor(pairs: readonly HashedPair[] = []) {
    this.#slots = new Int32Array(2 ** Math.ceil(Math.log2(Math.max(64, 2 * pairs.length)))).fill(-1)
    for (const pair of pairs) this.add(pair)
  }

  get size(): number {
    return this.#pairs.length
  }

  get pairs(): readonly HashedPair[] {
    return this.#pairs
  }

  /** Returns the slot of a pair, or −1. */
  find(lo: number, hi: number, path: string, tag: number, key: number | string): number {
    const mask = this.#slots.length - 1
    for (let i = lo & mask; ; i = (i + 1) & mask) {
      const slot = this.#slots[i]!
      if (slot < 0) return -1
      const pair = this.#pairs[slot]!
      if (pair.lo === lo && pair.hi === hi && pair.tag === tag && Object.is(pair.key, key) && pair.path === path) {
        return slot
      }
    }
  }

  /** Adds a pair that is not yet present; returns its slot. */
  add(pair: HashedPair): number {
    const slot = this.#pairs.length
    this.#pairs.push(pair)
    if (this.#pairs.length * 2 > this.#slots.length) this.#rehash()
    else this.#place(slot)
    return slot
  }

  #place(slot: number): void {
    const mask = this.#slots.length - 1
    let i = this.#pairs[slot]!.lo & mask
    while (this.#slots[i]! >= 0) i = (i + 1) & mask
    this.#slots[i] = slot
  }

  #rehash(): void {
    this.#slots = new Int32Array(this.#slots.length * 2).fill(-1)
    for (let slot = 0; slot < this.#pairs.length; slot++) this.#place(slot)
  }
}
