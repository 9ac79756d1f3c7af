/**
 * One segment throughout its life. The object behind it changes (open, rebuilt with new parameters, sealed); views keep
 * the handle.
 *
 * Invariant: the object behind it is sound for every ordinal that was live at any time since the oldest open view:
 * documents that could not be re-read are always candidates, and each view has its own liveness. When rebuilt segments
 * replace it (see rebuild/), it is retired and stays unchanged until the last view that holds it closes.
 */
import { PetalError } from '../../model/errors.ts'
import type { IndexStore, IndexWrite } from '../document-index.ts'
import { IndexArea, indexKey } from '../records/index-keys.ts'
import type { Geometry } from './geometry.ts'
import { LiveBitmap } from './live.ts'
import { OpenSegment } from './open-segment.ts'
import { consecutive, decodePositions, type PositionMap } from './position-map.ts'
import type { SealedSegment } from './sealed-segment.ts'
import { noBytes, type SegmentBytes, type SegmentRecord } from './segment-record.ts'
import { StoredSegment } from './stored-segment.ts'

export class SegmentHandle {
  readonly firstOrdinal: number
  segment: OpenSegment | SealedSegment | StoredSegment
  readonly live: LiveBitmap
  readonly positions: PositionMap
  /** Documents whose rows are in chunk records. */
  checkpointed: number
  /** While it is open: how many private pairs their record has. */
  storedPairs = 0
  /** How often its parameters were chosen again. */
  tunings: number
  /** Bytes stored for rows. */
  bytes: SegmentBytes
  directoryBytes = 0
  liveBytes = 0
  /** Takes no more documents although it is not full: its rows were too dense, or ordinals were left out. */
  isClosed = false
  /** A rebuild is to replace it: sealing it may be in vain. */
  isBeingReplaced = false
  /** Whether the stored live bitmap is up to date. */
  isLiveStored = false
  /** Its chunk records are damaged, so no more are added. Sealing, or the next open, writes new ones. */
  isDamaged = false
  #restoring: Promise<void> | undefined
  #views = 0
  #onUnused: (() => void) | undefined

  constructor(
    segment: OpenSegment | SealedSegment | StoredSegment,
    live: LiveBitmap,
    positions: PositionMap = consecutive(segment.firstOrdinal)
  ) {
    this.positions = positions
    this.firstOrdinal = segment.firstOrdinal
    this.segment = segment
    this.live = live
    this.checkpointed = 0
    this.tunings = 0
    this.bytes = noBytes
  }

  get endOrdinal(): number {
    return this.firstOrdinal + (this.segment instanceof OpenSegment ? this.segment.documents : this.segment.record.span)
  }

  /** Identifies the segment in the keys of its records. */
  get storedAt(): number {
    return this.segment instanceof OpenSegment ? this.firstOrdinal : this.segment.record.storedAt
  }

  /** The open segment; undefined when sealed or not yet restored. */
  get open(): OpenSegment | undefined {
    return this.segment instanceof OpenSegment ? this.segment : undefined
  }

  /** False until prepare() has ended. */
  get isReady(): boolean {
    return this.segment.isReady
  }

  /** Loads what queries and writes need first; returns a promise only when that takes time. */
  prepare(): void | Promise<void> {
    const { segment } = this
    if (!(segment instanceof StoredSegment)) return segment.prepare()
    this.#restoring ??= segment.restore().then(
      (restored) => {
        this.segment = restored.segment
        this.isDamaged = restored.isDamaged
      },
      (error: unknown) => {
        this.#restoring = undefined
        throw error
      }
    )
    return this.#restoring
  }

  /** Called by a view, which reads the segment until release(). @returns the live words, undefined when everything is live */
  acquire(): Uint32Array | undefined {
    this.#views++
    return this.live.capture()
  }

  /** @param live as acquire() returned it */
  release(live: Uint32Array | undefined): void {
    this.live.release(live)
    if (--this.#views === 0) this.#onUnused?.()
  }

  /** No view will hold it from now on. @param onUnused called once, as soon as no view holds it */
  retire(onUnused: () => void): void {
    if (this.#views === 0) onUnused()
    else this.#onUnused = onUnused
  }

  remove(ordinal: number): void {
    const position = this.positions.positionOf(ordinal)
    if (position >= 0 && this.live.remove(position)) this.isLiveStored = false
  }

  /** Whether it has documents, none of which is live. */
  get isDead(): boolean {
    return this.live.dead > 0 && this.live.dead === this.segment.documents
  }

  /** Live documents below `limit`. */
  liveCount(limit: number): number {
    const documents = this.positions.positionsBelow(limit, this.segment.documents)
    return this.live.dead === 0 ? documents : documents - this.live.deadBelow(documents)
  }

  /** The record of its live bitmap; empty while everything is live. */
  liveWrite(): IndexWrite {
    const { words } = this.live
    const value =
      words === undefined ? new Uint8Array(0) : new Uint8Array(words.buffer, words.byteOffset, words.byteLength).slice()
    this.liveBytes = value.length
    return { key: indexKey(IndexArea.live, this.storedAt), value }
  }
}

/**
 * Decodes the stored live bitmap of a segment. Positions from `documents` on are live whatever it says: their ordinals
 * may have been given to a failed batch, and to other documents since.
 * @param bytes not retained
 * @throws PetalError IndexDamaged if there is no readable one: every stored segment has one, and dead documents must
 *   not be counted
 */
export function decodeLive(
  bytes: Uint8Array | undefined,
  { firstOrdinal, documents }: SegmentRecord,
  { segmentDocuments }: Geometry
): LiveBitmap {
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

/**
 * Reads the position map of a stored segment.
 * @throws PetalError IndexDamaged if there has to be one but none is readable
 */
export async function readPositions(store: IndexStore, record: SegmentRecord): Promise<PositionMap> {
  const { firstOrdinal, storedAt, documents, span } = record
  if (span === documents) return consecutive(firstOrdinal)
  const bytes = await store.get(indexKey(IndexArea.positions, storedAt))
  const positions = bytes && decodePositions(bytes, firstOrdinal, documents, span)
  if (positions !== undefined) return positions
  throw new PetalError('IndexDamaged', `The index segment at ordinal ${firstOrdinal} has no readable position map`, {
    details: { firstOrdinal }
  })
}
