/**
 * Writes the open segment to the store: chunks while it grows, whole rows when it is full; deletes it when it begins
 * again.
 *
 * Invariant: a crash at any point leaves a state that opening understands: unreferenced records are ignored or
 * overwritten, and a segment record is replaced or removed in one batch.
 */
import { TimeSlice, yieldIfTurnLong } from '../../model/time-slice.ts'
import type { IndexWrite } from '../document-index.ts'
import { IndexArea, indexKey } from '../records/index-keys.ts'
import { ScratchArena } from '../records/scratch-arena.ts'
import { chunkKeys, chunkWrites, openSegmentRecord } from './checkpoint.ts'
import type { Geometry } from './geometry.ts'
import { openPairsKey, openPairsWrite } from './open-pairs.ts'
import type { OpenSegment } from './open-segment.ts'
import { sealSegment } from './seal.ts'
import { type SealedContext, SealedSegment } from './sealed-segment.ts'
import type { SegmentHandle } from './segment-handle.ts'
import { encodeSegmentRecord, noBytes, type SegmentBytes } from './segment-record.ts'

export class SegmentStore {
  readonly #sealed: SealedContext
  readonly #geometry: Geometry

  constructor(sealed: SealedContext, geometry: Geometry) {
    this.#sealed = sealed
    this.#geometry = geometry
  }

  /** Writes the not yet stored chunks of the first `documents`, unless the segment is sealed or its chunks damaged. */
  async checkpoint(handle: SegmentHandle, documents: number): Promise<void> {
    const open = handle.open
    if (open === undefined || handle.isDamaged || documents <= handle.checkpointed) return
    const geometry = this.#geometry
    const { memory, store } = this.#sealed
    const { chunkDocuments } = geometry
    const from = Math.floor(handle.checkpointed / chunkDocuments) * chunkDocuments
    const writes: IndexWrite[] = []
    const bytes = { ...handle.bytes }
    if (from < handle.checkpointed) {
      // The chunk that was incomplete when the index was closed is rewritten.
      for (const key of chunkKeys(open, geometry, from, handle.checkpointed)) {
        bytes[partOf(key)] -= (await store.get(key))?.length ?? 0
      }
    }
    const arena = new ScratchArena()
    const timeSlice = new TimeSlice()
    for (const write of chunkWrites(open, geometry, memory, from, documents, arena)) {
      if (timeSlice.isOver()) await timeSlice.renew()
      if (write === undefined) continue
      bytes[partOf(write.key)] += write.value.length
      writes.push(write)
    }
    const pairs = open.privatePairCount
    if (pairs !== handle.storedPairs) {
      const write = openPairsWrite(open)
      bytes.pairTable = write.value.length
      writes.push(write)
    }
    const record = openSegmentRecord(open, documents, handle.tunings, bytes)
    const value = encodeSegmentRecord(record)
    writes.push({ key: indexKey(IndexArea.segment, handle.firstOrdinal), value })
    await this.write(writes, [handle])
    arena.close()
    handle.bytes = record.bytes
    handle.directoryBytes = value.length
    handle.storedPairs = pairs
    handle.checkpointed = documents
  }

  /** Replaces the open segment by a sealed one. REQUIRES: nothing is added to it meanwhile. */
  async seal(handle: SegmentHandle): Promise<void> {
    const { store, memory } = this.#sealed
    const open = handle.open!
    const record = await sealSegment(open, store, memory, handle.tunings)
    await yieldIfTurnLong()
    const value = encodeSegmentRecord(record)
    await this.write([{ key: indexKey(IndexArea.segment, handle.firstOrdinal), value }], [handle])
    const deletions = this.#chunkDeletions(handle, open)
    handle.segment = new SealedSegment(this.#sealed, record)
    handle.bytes = record.bytes
    handle.directoryBytes = value.length
    handle.checkpointed = record.documents
    open.free()
    await yieldIfTurnLong()
    await store.write(deletions)
    await yieldIfTurnLong()
  }

  /** Deletes the records of an open segment. */
  async clear(handle: SegmentHandle): Promise<void> {
    const record = indexKey(IndexArea.segment, handle.firstOrdinal)
    await this.#sealed.store.write([{ key: record, value: undefined }, ...this.#chunkDeletions(handle, handle.open!)])
    handle.checkpointed = 0
    handle.storedPairs = 0
    handle.bytes = noBytes
    handle.directoryBytes = 0
  }

  /** Writes one batch, adding the live bitmaps that are not up to date in the store. */
  async write(writes: readonly IndexWrite[], handles: readonly SegmentHandle[]): Promise<void> {
    const changed = handles.filter((handle) => !handle.isLiveStored)
    const batch = [...writes, ...changed.map((handle) => handle.liveWrite())]
    for (const handle of changed) handle.isLiveStored = true
    try {
      await this.#sealed.store.write(batch)
    } catch (error) {
      for (const handle of changed) handle.isLiveStored = false
      throw error
    }
  }

  /** Deletes by computed keys: looking the records up would take longer than the rest of sealing. */
  #chunkDeletions(handle: SegmentHandle, open: OpenSegment): IndexWrite[] {
    const keys = [...chunkKeys(open, this.#geometry, 0, handle.checkpointed)]
    if (handle.storedPairs > 0) keys.push(openPairsKey(handle.firstOrdinal))
    return keys.map((key) => ({ key, value: undefined }))
  }
}

/** The part of a segment that a chunk record belongs to. */
function partOf(key: Uint8Array): keyof SegmentBytes {
  switch (key[0]) {
    case IndexArea.chunkPrivate:
      return 'privateRows'
    case IndexArea.chunkColumns:
      return 'rangeCodes'
    case IndexArea.chunkUpper:
      return 'upperLevel'
    case IndexArea.chunkFingerprints:
      return 'fingerprints'
    default:
      return 'hashedRows'
  }
}
