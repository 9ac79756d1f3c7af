/**
 * One segment through its life. What stands for it changes (open, tuned again, sealed); views keep the handle.
 *
 * Invariant: whatever stands for the segment is sound for every ordinal that was live at any time since the oldest open
 * view: documents that could not be read again are eternal candidates, and liveness is the view's own.
 */
import { PetalError } from '../model/errors.ts'
import type { IndexStore, IndexWrite } from './document-index.ts'
import type { Geometry } from './geometry.ts'
import { IndexArea, indexKey } from './index-keys.ts'
import { LiveBitmap } from './live.ts'
import { OpenSegment } from './open-segment.ts'
import type { SealedSegment } from './sealed-segment.ts'

export class SegmentHandle {
  readonly firstOrdinal: number
  segment: OpenSegment | SealedSegment
  readonly live: LiveBitmap
  /** Documents whose rows are in chunk records. */
  checkpointed: number
  /** How often its parameters were chosen again. */
  tunings: number
  /** Bytes stored for rows. */
  bytes: { readonly hashedRows: number; readonly privateRows: number }
  directoryBytes = 0
  liveBytes = 0
  /** Takes no more documents though it is not full: its rows were too dense, or ordinals were left out. */
  isClosed = false
  /** False while the live bitmap is not stored as it is now. */
  isLiveStored = false

  constructor(segment: OpenSegment | SealedSegment, live: LiveBitmap) {
    this.firstOrdinal = segment.firstOrdinal
    this.segment = segment
    this.live = live
    this.checkpointed = 0
    this.tunings = 0
    this.bytes = { hashedRows: 0, privateRows: 0 }
  }

  get endOrdinal(): number {
    return this.firstOrdinal + this.segment.documents
  }

  /** The open segment, or undefined when it is sealed. */
  get open(): OpenSegment | undefined {
    return this.segment instanceof OpenSegment ? this.segment : undefined
  }

  remove(ordinal: number): void {
    if (this.live.remove(ordinal - this.firstOrdinal)) this.isLiveStored = false
  }

  /** Live documents below `limit`. */
  liveCount(limit: number): number {
    const documents = Math.max(0, Math.min(limit - this.firstOrdinal, this.segment.documents))
    return this.live.dead === 0 ? documents : documents - this.live.deadBelow(documents)
  }

  /** The record of its live bitmap: nothing while all of it is live. */
  liveWrite(): IndexWrite {
    const words = this.live.capture()
    const value =
      words === undefined ? new Uint8Array(0) : new Uint8Array(words.buffer, words.byteOffset, words.byteLength).slice()
    this.liveBytes = value.length
    return { key: indexKey(IndexArea.live, this.firstOrdinal), value }
  }
}

/**
 * The live bitmap of a segment as it was stored. Positions from `documents` on are live whatever it says: their
 * ordinals may have been given to a batch that failed, and to other documents since.
 * @throws PetalError IndexDamaged without a readable one: a segment that has a record has this one, too, and dead
 * documents must not be counted
 */
export async function readLive(
  store: IndexStore,
  firstOrdinal: number,
  documents: number,
  { segmentDocuments }: Geometry
): Promise<LiveBitmap> {
  const bytes = await store.get(indexKey(IndexArea.live, firstOrdinal))
  if (bytes?.length === 0) return new LiveBitmap(segmentDocuments)
  if (bytes?.length !== segmentDocuments / 8) {
    throw new PetalError('IndexDamaged', `The index segment at ordinal ${firstOrdinal} has no readable live bitmap`, {
      details: { firstOrdinal }
    })
  }
  const words = new Uint32Array(bytes.slice().buffer)
  if ((documents & 31) !== 0) words[documents >>> 5]! |= -1 << (documents & 31)
  words.fill(0xffff_ffff, Math.ceil(documents / 32))
  return new LiveBitmap(segmentDocuments, words)
}
