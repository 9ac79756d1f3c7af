/**
 * Copies of blocks in a ring buffer: a new block takes the space of the oldest ones. Blocks referenced since the last
 * round move along instead of being evicted, which is the CLOCK algorithm.
 *
 * Memory is never released and is allocated in two steps: an eighth, and all of it once that is full. So opening a
 * store for a few reads does not allocate a whole cache, which would trigger the garbage collector. A full ring
 * allocates no memory and creates no garbage but a few small objects.
 *
 * Invariants:
 * 1. usedBytes ≤ budgetBytes, always.
 * 2. The list, from the oldest block on, is in the order of the blocks' positions: after the newest one there is free
 *    space, followed, possibly after wrapping around, by the oldest one.
 * 3. A block's position, or the owner of its bytes, changes only when a block is added.
 */
import type { Block } from '../format/block.ts'

/** Approximate cost of a block in addition to its bytes. */
const overheadBytes = 256
/**
 * The share of the budget reserved for that: with blocks smaller than 4 KiB, the budget is the limit, not the space.
 */
const overheadShare = 16
/** The share of the space that is allocated first. */
const firstShare = 8
/** A block larger than this share of the budget would evict too many others. */
const largestShare = 4
/** An epoch is a nonzero byte. */
const lastEpoch = 255

/** A block in the ring. */
export interface RingEntry {
  /** Valid until the next one is added. */
  readonly block: Block
  /** Whether it was referenced since the ring last passed it. */
  isReferenced: boolean
}

/** A table's cached blocks, by block number. */
export type RingSlots = (RingEntry | undefined)[]

interface Entry extends RingEntry {
  block: Block
  readonly bytes: number
  /** Undefined once the block is removed and only its space has not been reused yet. */
  slots: RingSlots | undefined
  readonly index: number
  newer: Entry | undefined
}

export class BlockRing {
  readonly budgetBytes: number
  readonly #capacity: number
  #memory: Buffer | undefined
  /** Offset of the next block, if it fits there. */
  #head = 0
  #oldest: Entry | undefined
  #newest: Entry | undefined
  #usedBytes = 0
  #blocks = 0
  /** Cycles through 1…lastEpoch; an epoch ends when as many blocks were refused as there are. */
  #epoch = 1
  #refusedInEpoch = 0

  constructor(budgetBytes: number) {
    this.budgetBytes = budgetBytes
    this.#capacity = budgetBytes - Math.floor(budgetBytes / overheadShare)
  }

  get usedBytes(): number {
    return this.#usedBytes
  }

  get blocks(): number {
    return this.#blocks
  }

  /** Whether the block could be added without evicting another. */
  hasRoom({ payloadBytes }: Block): boolean {
    return this.#usedBytes + payloadBytes + overheadBytes <= this.budgetBytes && this.#place(payloadBytes) >= 0
  }

  /** The epoch to record for a block that is refused now. */
  refusalEpoch(): number {
    if (this.#refusedInEpoch++ >= this.#blocks) {
      this.#refusedInEpoch = 0
      this.#epoch = (this.#epoch % lastEpoch) + 1
    }
    return this.#epoch
  }

  /** Whether this is the current or the previous epoch. */
  isRecent(epoch: number): boolean {
    return epoch === this.#epoch || (epoch % lastEpoch) + 1 === this.#epoch
  }

  /** Adds a copy of a block. REQUIRES: it is not in the ring yet. */
  add(slots: RingSlots, index: number, block: Block): void {
    const bytes = block.payloadBytes
    const cost = bytes + overheadBytes
    if (cost > this.budgetBytes / largestShare) return
    while (this.#usedBytes + cost > this.budgetBytes) this.#evict()
    let start = this.#place(bytes)
    while (start < 0) {
      this.#evict()
      start = this.#place(bytes)
    }
    const entry: Entry = {
      block: block.copyInto(this.#memoryUpTo(start + bytes), start),
      isReferenced: false,
      bytes,
      slots,
      index,
      newer: undefined
    }
    slots[index] = entry
    this.#append(entry)
    this.#head = start + bytes
    this.#usedBytes += cost
    this.#blocks++
  }

  /** Removes a block. REQUIRES: it is in this ring, and in its slot. */
  remove(entry: RingEntry): void {
    // The ring created it.
    this.#forget(entry as Entry)
    if (this.#blocks === 0) this.#oldest = undefined
  }

  /** Returns the memory, allocated at least up to `end`; blocks in it keep their offsets. */
  #memoryUpTo(end: number): Buffer {
    if (this.#memory !== undefined && end <= this.#memory.length) return this.#memory
    const first = Math.ceil(this.#capacity / firstShare)
    const memory = Buffer.allocUnsafeSlow(end <= first ? first : this.#capacity)
    for (let entry = this.#oldest; entry !== undefined; entry = entry.newer) {
      entry.block = entry.block.copyInto(memory, entry.block.start)
    }
    this.#memory = memory
    return memory
  }

  /** Offset at which `bytes` fit without evicting anything; negative if there is none. */
  #place(bytes: number): number {
    const oldest = this.#oldest
    if (oldest === undefined) return 0
    const { start } = oldest.block
    if (start < this.#head) {
      if (this.#head + bytes <= this.#capacity) return this.#head
      this.#head = 0
    }
    return this.#head + bytes <= start ? this.#head : -1
  }

  /** Evicts the oldest block, unless it is spared. REQUIRES: there is one. */
  #evict(): void {
    const entry = this.#oldest!
    // Grow the memory for its new position while the block is still in the list and is copied along.
    this.#memoryUpTo(Math.min(this.#capacity, this.#head + entry.bytes))
    this.#oldest = entry.newer
    if (entry.slots === undefined) return
    if (!entry.isReferenced) {
      this.#forget(entry)
      return
    }
    entry.isReferenced = false
    const { block, bytes } = entry
    // Its own space is free now. It is at the head or after it, otherwise everything before it is free.
    if (block.start < this.#head && this.#head + bytes > this.#capacity) this.#head = 0
    block.moveTo(this.#head)
    this.#head += bytes
    this.#append(entry)
  }

  #append(entry: Entry): void {
    entry.newer = undefined
    if (this.#oldest === undefined || this.#newest === undefined) this.#oldest = entry
    else this.#newest.newer = entry
    this.#newest = entry
  }

  #forget(entry: Entry): void {
    entry.slots![entry.index] = undefined
    entry.slots = undefined
    this.#usedBytes -= entry.bytes + overheadBytes
    this.#blocks--
  }
}
