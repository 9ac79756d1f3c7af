/**
 * The frames of a sealed segment: read on demand, kept in the row cache.
 *
 * Invariant: a frame that is missing or invalid counts as damaged from then on. It has no address and is not read
 * again, and the damage is reported.
 */
import { readTransient } from '../records/read-transient.ts'
import { indexClosed } from './index-closed.ts'
import type { FrameOwner } from './row-cache.ts'
import type { SealedContext } from './sealed-segment.ts'
import type { TailFrames } from './tail/tail.ts'

/** Knows what each frame holds. */
export interface FrameSource {
  readonly firstOrdinal: number
  keyOf(frame: number): Uint8Array
  /** Copies a stored frame into row memory. @returns false when it is damaged */
  place(frame: number, bytes: Uint8Array, address: number): boolean
}

export class SegmentFrames implements FrameOwner, TailFrames {
  slots: Uint32Array = new Uint32Array(0)
  readonly #context: SealedContext
  readonly #source: FrameSource
  readonly #damaged = new Set<number>()
  #isFreed = false

  constructor(context: SealedContext, source: FrameSource) {
    this.#context = context
    this.#source = source
  }

  /** Sets the number of frames. Call before any of them is requested. */
  begin(count: number): void {
    this.slots = new Uint32Array(count)
  }

  has(frame: number): boolean {
    return this.slots[frame] !== 0
  }

  pin(frame: number): boolean {
    return this.#context.cache.pin(this, frame)
  }

  addressOf(frame: number): number {
    if (this.#damaged.size > 0 && this.#damaged.has(frame)) return 0
    return this.#context.cache.lookup(this, frame)
  }

  load(frame: number): void | Promise<void> {
    const { cache, store } = this.#context
    if (cache.lookup(this, frame) !== 0 || this.#damaged.has(frame)) return undefined
    const bytes = readTransient(store, this.#source.keyOf(frame))
    if (bytes instanceof Promise) return bytes.then((value) => this.#place(frame, value))
    this.#place(frame, bytes)
    return undefined
  }

  /** Drops the frames from the cache; no more are inserted. */
  free(): void {
    this.#isFreed = true
    this.#context.cache.release(this)
  }

  #place(frame: number, bytes: Uint8Array | undefined): void {
    const { cache, onDamage } = this.#context
    if (this.#isFreed) throw indexClosed()
    // Two queries may have requested the same frame at the same time.
    if (this.slots[frame] !== 0) return
    if (bytes !== undefined && this.#source.place(frame, bytes, cache.insert(this, frame))) return
    this.#damaged.add(frame)
    const { firstOrdinal } = this.#source
    onDamage(`frame ${frame} of the segment at ordinal ${firstOrdinal} is ${bytes ? 'damaged' : 'missing'}`)
  }
}
