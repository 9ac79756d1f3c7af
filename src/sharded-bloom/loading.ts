/**
 * Loads a stored index as segments.
 *
 * Invariant: the loaded segments cover every document below their end. Overlapping segments, inconsistent records and
 * documents between two segments are damage.
 */
import { PetalError } from '../model/errors.ts'
import type { DocumentSource, IndexStore } from './document-index.ts'
import { IndexArea, ordinalOf, recordsOf } from './records/index-keys.ts'
import { SealedSegment } from './segment/sealed-segment.ts'
import { decodeLive, readPositions, SegmentHandle } from './segment/segment-handle.ts'
import { decodeSegmentRecord, type SegmentRecord } from './segment/segment-record.ts'
import { type StoredContext, StoredSegment } from './segment/stored-segment.ts'

/**
 * Yields segments in ordinal order, without rows and pairs; the last one may be open. @throws PetalError IndexDamaged
 */
export async function* loadSegments(context: StoredContext): AsyncGenerator<SegmentHandle> {
  const { documents, geometry, sealed } = context
  const { store } = sealed
  let end = 0
  let isLast = false
  // All segment records first, then the records they refer to: a store reads adjacent records faster in sequence.
  const records = await readRecords(store)
  const lives = await readLives(store)
  for (const { record, recordBytes } of records) {
    if (record.firstOrdinal < end || isLast) {
      throw new PetalError('IndexDamaged', `The index segment at ordinal ${record.firstOrdinal} overlaps another`)
    }
    await assertNoDocuments(documents, end, record.firstOrdinal)
    const live = decodeLive(lives.get(record.storedAt), record, geometry)
    const positions = await readPositions(store, record)
    const segment = record.isSealed ? new SealedSegment(sealed, record) : new StoredSegment(context, record)
    const handle = new SegmentHandle(segment, live, positions)
    handle.checkpointed = record.documents
    handle.tunings = record.tunings
    if (!record.isSealed) handle.storedPairs = record.storedPairs
    handle.bytes = record.bytes
    handle.liveBytes = live.dead > 0 ? geometry.segmentDocuments / 8 : 0
    handle.directoryBytes = recordBytes
    // An open segment's bitmap may describe positions since given to other documents (see decodeLive).
    handle.isLiveStored = record.isSealed
    yield handle
    end = handle.endOrdinal
    isLast = !record.isSealed
  }
}

async function readRecords(store: IndexStore) {
  const records: { readonly record: SegmentRecord; readonly recordBytes: number }[] = []
  for await (const [, value] of store.scan(...recordsOf(IndexArea.segment))) {
    records.push({ record: decodeSegmentRecord(value), recordBytes: value.length })
  }
  return records
}

/** Reads all live bitmaps: by the number that identifies a segment in keys. */
async function readLives(store: IndexStore): Promise<Map<number, Uint8Array>> {
  const lives = new Map<number, Uint8Array>()
  for await (const [key, value] of store.scan(...recordsOf(IndexArea.live))) {
    const storedAt = ordinalOf(key)
    if (storedAt !== undefined) lives.set(storedAt, value)
  }
  return lives
}

/** Yields the ordinals that only a dead mark says are deleted. */
export async function* markedDead(store: IndexStore): AsyncGenerator<number> {
  for await (const [key] of store.scan(...recordsOf(IndexArea.dead))) {
    const ordinal = ordinalOf(key)
    if (ordinal !== undefined) yield ordinal
  }
}

/** True when there are segment records, readable or not. */
export async function hasSegments(store: IndexStore): Promise<boolean> {
  for await (const _ of store.scan(...recordsOf(IndexArea.segment))) return true
  return false
}

/** A gap between two segments is either ordinals that no document took, or a lost segment. */
async function assertNoDocuments(documents: DocumentSource, from: number, to: number): Promise<void> {
  if (from === to) return
  for await (const [ordinal] of documents.read(from, to)) {
    throw new PetalError('IndexDamaged', `The document at ordinal ${ordinal} is not in any segment of the index`)
  }
}
