/**
 * Copies of blocks, one behind another in one piece of memory that is gone round for ever: the room for a new block is
 * that of the oldest ones. Those that were asked for since the round before move along instead of going, which is CLOCK.
 *
 * Room is never given back and asked for twice: an eighth, and all of it when that is full. So opening a store to ask it little
 * does not allocate a whole cache, which would have the garbage collector run. A full ring allocates no memory and leaves
 * no garbage but a few small objects.
 *
 * Invariants:
 * 1. usedBytes ≤ budgetBytes, always.
 * 2. Blocks lie in the order of the list from the oldest on, which is that of their places: behind the newest one comes
 *    free room, and behind that, or from the beginning of the memory on, the oldest one.
 * 3. A block of the ring changes its place, or its bytes become another block's, when a block is added: not otherwise.
 */
import type { Block } from '../format/block.ts'

/** What a block costs beside its bytes, about. */
const overheadBytes = 256
/** The share of the budget that is left for that: for smaller blocks than 4 KiB the budget counts, not the room. */
const overheadShare = 16
/** The share of the room that is allocated first. */
const firstShare = 8
/** A block larger than this share of the budget would push out too many others. */
const largestShare = 4
/** An epoch is one byte, and not 0. */
const lastEpoch = 255

/** A block of the ring. */
export interface RingEntry {
  /** Until the next one is added. */
  readonly block: Block
  /** Asked for since the ring came by. */
  isReferenced: boolean
}

/** Where a table finds its blocks by their number: those that are in the ring. */
export type RingSlots = (RingEntry | undefined)[]

interface Entry extends RingEntry {
  block: Block
  readonly bytes: number
  /** Undefined when the block is no longer there, and only its room has not been used again. */
  slots: RingSlots | undefined
  readonly index: number
  newer: Entry | undefined
}

export class BlockRing {
  readonly budgetBytes: number
  readonly #room: number
  #memory: Buffer | undefined
  /** Where the next block goes, if it fits there. */
  #head = 0
  #oldest: Entry | undefined
  #newest: Entry | undefined
  #usedBytes = 0
  #blocks = 0
  /** Counts 1…lastEpoch round; one is over when as many blocks were refused as there are. */
  #epoch = 1
  #refusedInEpoch = 0

  constructor(budgetBytes: number) {
    this.budgetBytes = budgetBytes
    this.#room = budgetBytes - Math.floor(budgetBytes / overheadShare)
  }

  get usedBytes(): number {
    return this.#usedBytes
  }

  get blocks(): number {
    return this.#blocks
  }

  /** Whether the block could come in without another one going. */
  hasRoom({ payloadBytes }: Block): boolean {
    return this.#usedBytes + payloadBytes + overheadBytes <= this.budgetBytes && this.#place(payloadBytes) >= 0
  }

  /** To be noted of a block that is refused now. */
  refusalEpoch(): number {
    if (this.#refusedInEpoch++ >= this.#blocks) {
      this.#refusedInEpoch = 0
      this.#epoch = (this.#epoch % lastEpoch) + 1
    }
    return this.#epoch
  }

  /** Whether an epoch is this one or the one before. */
  isRecent(epoch: number): boolean {
    return epoch === this.#epoch || (epoch % lastEpoch) + 1 === this.#epoch
  }

  /** Copies a block in. REQUIRES: it is not there yet. */
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

  /** Gives up a block. REQUIRES: it is of this ring, and in its slot. */
  remove(entry: RingEntry): void {
    // The ring made it.
    this.#forget(entry as Entry)
    if (this.#blocks === 0) this.#oldest = undefined
  }

  /** The memory, at least so much of it; blocks in it stay at their places. */
  #memoryUpTo(end: number): Buffer {
    if (this.#memory !== undefined && end <= this.#memory.length) return this.#memory
    const first = Math.ceil(this.#room / firstShare)
    const memory = Buffer.allocUnsafeSlow(end <= first ? first : this.#room)
    for (let entry = this.#oldest; entry !== undefined; entry = entry.newer) {
      entry.block = entry.block.copyInto(memory, entry.block.start)
    }
    this.#memory = memory
    return memory
  }

  /** Where so many bytes can go without anything else going; negative when that is nowhere. */
  #place(bytes: number): number {
    const oldest = this.#oldest
    if (oldest === undefined) return 0
    const { start } = oldest.block
    if (start < this.#head) {
      if (this.#head + bytes <= this.#room) return this.#head
      this.#head = 0
    }
    return this.#head + bytes <= start ? this.#head : -1
  }

  /** Gives up the oldest block, unless it is spared. REQUIRES: there is one. */
  #evict(): void {
    const entry = this.#oldest!
    // Where it may move to, while it is still one of those that are taken along.
    this.#memoryUpTo(Math.min(this.#room, this.#head + entry.bytes))
    this.#oldest = entry.newer
    if (entry.slots === undefined) return
    if (!entry.isReferenced) {
      this.#forget(entry)
      return
    }
    entry.isReferenced = false
    const { block, bytes } = entry
    // Its own room is free now. It is at the head or behind it, else everything before it is free.
    if (block.start < this.#head && this.#head + bytes > this.#room) this.#head = 0
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
