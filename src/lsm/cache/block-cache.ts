/**
 * Decompressed blocks of all tables of a store, within a budget of bytes.
 *
 * A table finds its blocks by their index in an array of its own: a hit costs no hashing. Eviction is CLOCK: a hand goes
 * round over all blocks, spares those that were asked for since it last came by, and takes the first other one. New
 * blocks have not been asked for again yet, so a scan does not push out what is in use.
 *
 * Invariants:
 * 1. usedBytes ≤ budgetBytes, always.
 * 2. A block's bytes are never changed and never used again: whoever got a block may keep it after its eviction.
 */
import type { Block } from '../format/block.ts'

/** What a block costs beside its bytes, about. */
const overheadBytes = 256
/** A block larger than this share of the budget would push out too many others. */
const largestShare = 4

interface Entry {
  readonly block: Block
  readonly bytes: number
  readonly slots: (Entry | undefined)[]
  readonly index: number
  /** Where on the clock's face it stands. */
  position: number
  isReferenced: boolean
}

export class BlockCache {
  readonly budgetBytes: number
  readonly #clock: Entry[] = []
  #hand = 0
  #usedBytes = 0
  #hits = 0
  #misses = 0

  /** @param budgetBytes 0 keeps nothing */
  constructor(budgetBytes: number) {
    this.budgetBytes = budgetBytes
  }

  get usedBytes(): number {
    return this.#usedBytes
  }

  get hits(): number {
    return this.#hits
  }

  get misses(): number {
    return this.#misses
  }

  get blocks(): number {
    return this.#clock.length
  }

  /** The part of the cache that belongs to a table of `count` blocks. */
  forTable(count: number): CachedBlocks {
    const slots = new Array<Entry | undefined>(count).fill(undefined)
    return {
      get: (index) => this.#get(slots, index),
      add: (index, block) => this.#add(slots, index, block),
      clear: () => {
        for (const entry of slots) if (entry !== undefined) this.#remove(entry)
      }
    }
  }

  #get(slots: (Entry | undefined)[], index: number): Block | undefined {
    const entry = slots[index]
    if (entry === undefined) {
      this.#misses++
      return undefined
    }
    this.#hits++
    entry.isReferenced = true
    return entry.block
  }

  #add(slots: (Entry | undefined)[], index: number, block: Block): void {
    const bytes = block.bytes.length + overheadBytes
    if (slots[index] !== undefined || bytes > this.budgetBytes / largestShare) return
    while (this.#usedBytes + bytes > this.budgetBytes) this.#evict()
    const entry = { block, bytes, slots, index, position: this.#clock.length, isReferenced: false }
    slots[index] = entry
    this.#clock.push(entry)
    this.#usedBytes += bytes
  }

  /** REQUIRES: there is a block. */
  #evict(): void {
    for (;;) {
      if (this.#hand >= this.#clock.length) this.#hand = 0
      const entry = this.#clock[this.#hand]!
      // Past the entry in either case: the newest one takes the place of the one that goes, and gets a whole round.
      this.#hand++
      if (!entry.isReferenced) {
        this.#remove(entry)
        return
      }
      entry.isReferenced = false
    }
  }

  #remove(entry: Entry): void {
    const last = this.#clock.pop()!
    if (last !== entry) {
      last.position = entry.position
      this.#clock[last.position] = last
    }
    entry.slots[entry.index] = undefined
    this.#usedBytes -= entry.bytes
  }
}

export interface CachedBlocks {
  /** Counts as a hit or a miss. */
  get(index: number): Block | undefined
  /** REQUIRES: bytes that the block shares with nothing else, or they would be kept in memory uncounted. */
  add(index: number, block: Block): void
  /** The table is closed. */
  clear(): void
}
