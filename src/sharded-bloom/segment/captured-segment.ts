/** A segment as a view captured it: which of its documents are visible, and which of these live. */
import type { OrdinalSet } from '../ordinal-set.ts'
import { liveWithout } from './live.ts'
import type { SegmentHandle } from './segment-handle.ts'

export class CapturedSegment {
  readonly handle: SegmentHandle
  /**
   * Positions below it are visible. Later positions may have ordinals below the limit: those skipped by the next add().
   */
  readonly documents: number
  readonly #acquired: Uint32Array | undefined
  /** Ordinals that the view hides; undefined once `#live` is known. */
  #hidden: OrdinalSet | undefined
  #live: Uint32Array | undefined

  constructor(handle: SegmentHandle, limit: number, hidden: OrdinalSet) {
    this.handle = handle
    this.documents = handle.positions.positionsBelow(limit, handle.segment.documents)
    this.#acquired = handle.acquire()
    this.#live = this.#acquired
    this.#hidden = hidden.size === 0 ? undefined : hidden
  }

  /** Bit set = live and not hidden; undefined when all are. Found when first asked for: few segments are evaluated. */
  get live(): Uint32Array | undefined {
    if (this.#hidden !== undefined) {
      this.#live = this.#without(this.#hidden)
      this.#hidden = undefined
    }
    return this.#live
  }

  release(): void {
    this.handle.release(this.#acquired)
  }

  #without(hidden: OrdinalSet): Uint32Array | undefined {
    const { positions, firstOrdinal } = this.handle
    if (this.documents === 0) return this.#acquired
    const end = positions.ordinalAt(this.documents - 1) + 1
    const dead = hidden.within(firstOrdinal, end).map((ordinal) => positions.positionOf(ordinal))
    return dead.length === 0 ? this.#acquired : liveWithout(this.#acquired, this.documents, dead)
  }
}
