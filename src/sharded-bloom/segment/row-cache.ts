/**
 * Caches frames of sealed segments in row memory, within a byte budget; CLOCK chooses the frame to evict.
 *
 * Invariants:
 * 1. A frame looked up, held or inserted since the last beginEvaluation() is never evicted: an evaluation keeps every
 *    row it has requested, and may exceed the budget while it does.
 * 2. It gives frames back when row memory is exhausted, whoever needs them.
 * 3. `owner.slots[i]` is the slot of frame i plus one, or 0 when the frame is not cached.
 */
import { FRAME_BYTES, type FrameHolder, type RowMemory } from '../../bloom/kernels/index.ts'

export const frameBytes = FRAME_BYTES
/** Frames evicted at once when row memory is exhausted. */
const framesToShed = 64

/** A segment whose frames are cached; `slots` has one entry per frame it stores. */
export interface FrameOwner {
  readonly slots: Uint32Array
}

interface Slot {
  address: number
  owner: FrameOwner
  frame: number
  evaluation: number
  isRecent: boolean
}

export class RowCache implements FrameHolder {
  readonly #memory: RowMemory
  readonly #budgetFrames: number
  readonly #slots: Slot[] = []
  readonly #vacant: number[] = []
  #used = 0
  #hand = 0
  #evaluation = 0
  hits = 0
  misses = 0

  constructor(memory: RowMemory, budgetBytes: number) {
    this.#memory = memory
    this.#budgetFrames = Math.max(16, Math.floor(budgetBytes / frameBytes))
  }

  get budgetBytes(): number {
    return this.#budgetFrames * frameBytes
  }

  get heldFrames(): number {
    return this.#used
  }

  get usedBytes(): number {
    return this.#used * frameBytes
  }

  /** Begins an evaluation: frames requested from now on stay until the next call. */
  beginEvaluation(): void {
    this.#evaluation++
  }

  /** Returns the address of a cached frame, or 0. */
  lookup(owner: FrameOwner, frame: number): number {
    const slot = owner.slots[frame]! - 1
    if (slot < 0) {
      this.misses++
      return 0
    }
    const entry = this.#slots[slot]!
    entry.isRecent = true
    entry.evaluation = this.#evaluation
    this.hits++
    return entry.address
  }

  /** Pins a cached frame for the current evaluation. @returns whether it is cached */
  pin(owner: FrameOwner, frame: number): boolean {
    const slot = owner.slots[frame]! - 1
    if (slot < 0) return false
    this.#slots[slot]!.evaluation = this.#evaluation
    return true
  }

  /** Allocates a frame that is not cached; the caller fills the bytes at the address before anything else runs. */
  insert(owner: FrameOwner, frame: number): number {
    if (this.#used >= this.#budgetFrames) this.#evictTo(this.#budgetFrames - 1)
    const address = this.#memory.allocate()
    if (this.#used === 0) this.#memory.addHolder(this)
    const entry: Slot = { address, owner, frame, evaluation: this.#evaluation, isRecent: true }
    const vacant = this.#vacant.pop()
    const slot = vacant ?? this.#slots.length
    this.#slots[slot] = entry
    owner.slots[frame] = slot + 1
    this.#used++
    return address
  }

  /** Drops every frame of a segment. */
  release(owner: FrameOwner): void {
    for (let frame = 0; frame < owner.slots.length; frame++) {
      const slot = owner.slots[frame]! - 1
      if (slot >= 0) this.#drop(slot)
    }
  }

  shed(): void {
    this.#evictTo(Math.max(0, this.#used - framesToShed))
  }

  #evictTo(frames: number): void {
    // Two rounds: the first clears the marks. Frames of the current evaluation stay, whatever the budget.
    for (let step = 0; step < this.#slots.length * 2 && this.#used > frames; step++) {
      this.#hand = (this.#hand + 1) % this.#slots.length
      const entry = this.#slots[this.#hand]!
      if (entry.address === 0 || entry.evaluation === this.#evaluation) continue
      if (entry.isRecent) entry.isRecent = false
      else this.#drop(this.#hand)
    }
  }

  #drop(slot: number): void {
    const entry = this.#slots[slot]!
    this.#memory.free(entry.address)
    entry.owner.slots[entry.frame] = 0
    entry.address = 0
    this.#vacant.push(slot)
    this.#used--
    if (this.#used === 0) this.#memory.removeHolder(this)
  }
}
