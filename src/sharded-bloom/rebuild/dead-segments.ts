/**
 * Drops segments of which no document is live, without a rebuild: those of a queue, or of documents replaced again and
 * again, whose new versions have ordinals in later segments.
 *
 * Invariants:
 * 1. The last segment stays: it says where the index ends, and the next one takes its parameters from it.
 * 2. Segments are dropped by one batch, and no others are replaced meanwhile.
 */
import type { SegmentHandle } from '../segment/segment-handle.ts'
import type { Rebuilds } from './rebuilds.ts'

export class DeadSegments {
  /** Segments of the index, in ordinal order. */
  readonly #handles: readonly SegmentHandle[]
  readonly #rebuilds: Rebuilds
  #isNoted = false

  constructor(handles: readonly SegmentHandle[], rebuilds: Rebuilds) {
    this.#handles = handles
    this.#rebuilds = rebuilds
  }

  /** Whether drop() has something to drop. Cheap: checked after every batch. */
  get isDue(): boolean {
    return this.#isNoted && !this.#rebuilds.isBuilding
  }

  /** Called when a document of the segment was removed. */
  note(handle: SegmentHandle): void {
    if (handle.isDead && handle !== this.#handles.at(-1)) this.#isNoted = true
  }

  /** @param onDrop called before segments are dropped */
  async drop(onDrop: () => void): Promise<void> {
    if (this.#rebuilds.isBuilding) return
    this.#isNoted = false
    // Also one that was the last when its last document died.
    // One that is still open has ordinals of a failed batch: after a reopen they are others'.
    const dead = this.#handles.slice(0, -1).filter(({ isDead, open }) => isDead && open === undefined)
    if (dead.length === 0) return
    onDrop()
    try {
      await this.#rebuilds.replace(dead)
    } catch (error) {
      this.#isNoted = true
      throw error
    }
  }
}
