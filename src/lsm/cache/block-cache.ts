/**
 * A cache of decompressed blocks for all tables of a store, within a budget of bytes.
 *
 * Each table finds its blocks by index in an array of its own: a hit costs no hashing.
 *
 * Once the cache is full, a block is admitted when it is missed for the second time within about as many misses as
 * there are blocks (a doorkeeper, as in TinyLFU, Einziger et al. 2017): blocks read once evict nothing and are not
 * copied. With Zipf-distributed keys that serves 54 % of reads, where admitting every block serves 46 %; the price is
 * a second miss for every block of a shifting working set: see bench/block-cache.ts.
 *
 * Invariants:
 * 1. usedBytes ≤ budgetBytes, always.
 * 2. A block's bytes are valid until the next block is added: copy them to keep them longer.
 */
import type { Block } from '../format/block.ts'
import { BlockRing, type RingSlots } from './block-ring.ts'

/** A larger cache consists of several rings, none smaller than this. */
const minRingBytes = 8 << 20
/**
 * Limits for budgets meant as "no limit", of which 64 GiB are used: rings cost memory themselves, and each is one
 * buffer, copied when it grows.
 */
const maxRings = 512
const maxRingBytes = 128 << 20

export class BlockCache {
  readonly budgetBytes: number
  readonly #rings: readonly BlockRing[]
  readonly #tally: Tally = { hits: 0, misses: 0 }
  #tables = 0

  /** @param budgetBytes 0: caches nothing */
  constructor(budgetBytes: number) {
    this.budgetBytes = budgetBytes
    const count = Math.min(maxRings, Math.max(1, Math.floor(budgetBytes / minRingBytes)))
    const ringBytes = Math.min(maxRingBytes, Math.floor(budgetBytes / count))
    this.#rings = Array.from({ length: count }, () => new BlockRing(ringBytes))
  }

  get usedBytes(): number {
    return this.#rings.reduce((sum, ring) => sum + ring.usedBytes, 0)
  }

  get hits(): number {
    return this.#tally.hits
  }

  get misses(): number {
    return this.#tally.misses
  }

  get blocks(): number {
    return this.#rings.reduce((sum, ring) => sum + ring.blocks, 0)
  }

  /** Creates the part of the cache that belongs to a table of `count` blocks. */
  forTable(count: number): CachedBlocks {
    return new CachedBlocks(this.#rings, this.#tables++, this.#tally, count)
  }
}

interface Tally {
  hits: number
  misses: number
}

/** The blocks of one table. */
export class CachedBlocks {
  readonly #rings: readonly BlockRing[]
  /** Number of the table, in the order of opening. */
  readonly #table: number
  readonly #tally: Tally
  readonly #slots: RingSlots
  /** Per block, the ring's epoch when it was last refused; 0: never. Created with the first refusal. */
  #refusals: Uint8Array | undefined

  constructor(rings: readonly BlockRing[], table: number, tally: Tally, count: number) {
    this.#rings = rings
    this.#table = table
    this.#tally = tally
    this.#slots = new Array<undefined>(count).fill(undefined)
  }

  /** Counts a hit or a miss. The block is valid until the next one is added to the cache. */
  get(index: number): Block | undefined {
    const entry = this.#slots[index]
    if (entry === undefined) {
      this.#tally.misses++
      return undefined
    }
    this.#tally.hits++
    entry.isReferenced = true
    return entry.block
  }

  /** Whether get() would find the block. Does not count. */
  has(index: number): boolean {
    return this.#slots[index] !== undefined
  }

  /** Adds a copy of the block if there is room or it was refused recently, and it is not too large. */
  add(index: number, block: Block): void {
    if (this.#slots[index] !== undefined) return
    const ring = this.#ringOf(index)
    if (ring.hasRoom(block) || this.#wasRefused(index, ring)) ring.add(this.#slots, index, block)
    else this.#refuse(index, ring)
  }

  /** Removes all blocks, when the table is closed. */
  clear(): void {
    this.#slots.forEach((entry, index) => {
      if (entry !== undefined) this.#ringOf(index).remove(entry)
    })
  }

  #wasRefused(index: number, ring: BlockRing): boolean {
    const epoch = this.#refusals?.[index] ?? 0
    return epoch !== 0 && ring.isRecent(epoch)
  }

  #refuse(index: number, ring: BlockRing): void {
    this.#refusals ??= new Uint8Array(this.#slots.length)
    this.#refusals[index] = ring.refusalEpoch()
  }

  /**
   * Adjacent blocks go to different rings, and so do the first blocks of tables, of which many have only one: all rings
   * are used equally.
   */
  #ringOf(index: number): BlockRing {
    // There is at least one.
    return this.#rings[(this.#table + index) % this.#rings.length]!
  }
}
