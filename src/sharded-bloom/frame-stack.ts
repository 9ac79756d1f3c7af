/**
 * The stack of row-memory frames that one evaluation holds: first in scratch, then borrowed from the pool.
 *
 * Anything else pushed to scratch is popped before the next frame is taken or given back.
 */
import type { RowMemory } from '../bloom/kernels/index.ts'
import { frameBytes } from './segment/row-cache.ts'

/** Scratch kept free for lists: the positions of a whole segment, pointers, a decoded row. */
const freeScratchBytes = 320 * 1024
/** Scratch addresses are below it. */
const addressLimit = 2 ** 21

export class FrameStack {
  readonly #memory: RowMemory
  readonly #bottom: number
  /** Frames of the pool, borrowed when an expression nests deeper than scratch can hold. */
  #borrowed: number[] | undefined
  /** Number of borrowed frames in use. */
  #lent = 0

  constructor(memory: RowMemory) {
    this.#memory = memory
    this.#bottom = memory.scratch
  }

  /** The current height, for releaseTo(). */
  get height(): number {
    return this.#lent * addressLimit + this.#memory.scratch
  }

  /** Returns the address of an 8 KiB frame. @throws PetalError ExceededMemoryLimit */
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

  /** Whether the address is a frame of the stack: nobody else reads what is in it. */
  holds(address: number): boolean {
    const isInScratch = address >= this.#bottom && address < this.#memory.scratchEnd
    return isInScratch || this.#borrowed?.includes(address) === true
  }

  /** Returns the frame taken last. */
  release(address: number): void {
    if (address < this.#memory.scratchEnd) this.#memory.pop(address)
    else this.#lent--
  }

  /** Returns all frames taken since the stack had this height. */
  releaseTo(height: number): void {
    this.#memory.pop(height % addressLimit)
    this.#lent = Math.floor(height / addressLimit)
  }

  /** Returns all frames; borrowed ones go back to the pool. */
  close(): void {
    this.#memory.pop(this.#bottom)
    if (this.#borrowed !== undefined) for (const address of this.#borrowed) this.#memory.free(address)
  }
}
