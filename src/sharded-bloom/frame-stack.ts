/**
 * Frames of row memory that one evaluation holds: a stack, in scratch first, then taken from the pool.
 *
 * What is pushed to scratch beside them is popped before the next frame is taken or given back.
 */
import type { RowMemory } from '../bloom/kernels/index.ts'
import { frameBytes } from './segment/row-cache.ts'

/** Stays free for lists: positions of a whole segment, pointers, a decoded row. */
const freeScratchBytes = 320 * 1024
/** Scratch ends below it. */
const addressLimit = 2 ** 21

export class FrameStack {
  readonly #memory: RowMemory
  readonly #bottom: number
  /** Of the pool, taken when an expression nests deeper than scratch is large. */
  #borrowed: number[] | undefined
  /** How many of them are in use. */
  #lent = 0

  constructor(memory: RowMemory) {
    this.#memory = memory
    this.#bottom = memory.scratch
  }

  /** What is held now: see giveBackTo(). */
  get height(): number {
    return this.#lent * addressLimit + this.#memory.scratch
  }

  /** The address of 8 KiB. @throws PetalError ExceededMemoryLimit */
  take(): number {
    const { scratch, scratchEnd } = this.#memory
    if (scratch + frameBytes <= scratchEnd - freeScratchBytes) return this.#memory.push(frameBytes)
    this.#borrowed ??= []
    const vacant = this.#borrowed[this.#lent++]
    if (vacant !== undefined) return vacant
    const address = this.#memory.allocate()
    this.#borrowed.push(address)
    return address
  }

  /** Returns the frame taken last. */
  giveBack(address: number): void {
    if (address < this.#memory.scratchEnd) this.#memory.pop(address)
    else this.#lent--
  }

  /** Returns all frames taken since the stack was as high. */
  giveBackTo(height: number): void {
    this.#memory.pop(height % addressLimit)
    this.#lent = Math.floor(height / addressLimit)
  }

  /** Returns all frames, those of the pool to the pool. */
  close(): void {
    this.#memory.pop(this.#bottom)
    if (this.#borrowed !== undefined) for (const address of this.#borrowed) this.#memory.free(address)
  }
}
