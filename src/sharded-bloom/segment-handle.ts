/**
 * One segment through its life. What stands for it changes (open, tuned again, sealed); views keep the handle.
 *
 * Invariant: whatever stands for the segment is sound for every ordinal that was live at any time since the oldest open
 * view: documents that could not be read again are eternal candidates, and liveness is the view's own.
 */
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
  /** False while the live bitmap has changes that only dead marks tell of. */
  isLiveStored = true

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

  /** The record of its live bitmap, if that changed since it was stored last. */
  liveWrite(): IndexWrite | undefined {
    const words = this.live.capture()
    if (this.isLiveStored || words === undefined) return undefined
    const value = new Uint8Array(words.buffer, words.byteOffset, words.byteLength).slice()
    this.liveBytes = value.length
    return { key: indexKey(IndexArea.live, this.firstOrdinal), value }
  }
}

/** The live bitmap of a segment as it was stored; all live when it was not. */
export async function readLive(store: IndexStore, firstOrdinal: number, geometry: Geometry): Promise<LiveBitmap> {
  const bytes = await store.get(indexKey(IndexArea.live, firstOrdinal))
  const { segmentDocuments } = geometry
  // One of the wrong size would hide documents or show dead ones: reading the documents again tells the truth.
  if (bytes === undefined || bytes.length !== segmentDocuments / 8) return new LiveBitmap(segmentDocuments)
  return new LiveBitmap(segmentDocuments, new Uint32Array(bytes.slice().buffer))
}
