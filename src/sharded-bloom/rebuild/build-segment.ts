/** Builds one segment of a rebuild from stored documents, in the thread that owns the index or in another one. */
import { throwIfAborted } from '../../model/errors.ts'
import { TimeSlice } from '../../model/time-slice.ts'
import type { IndexStore } from '../document-index.ts'
import { maxSpan } from '../segment/position-map.ts'
import type { SegmentRecord } from '../segment/segment-record.ts'
import type { SegmentBuilder } from './segment-builder.ts'

/** Plain data, which can be sent to a thread. */
export interface SegmentTask {
  /** Number of the segment's records. */
  readonly number: number
  /** Where the segment before ends. */
  readonly end: number
  /** Documents are read from this range of ordinals, from ≤ o < to, until the segment is full. */
  readonly from: number
  readonly to: number
  /** Approximate number of documents in the range. */
  readonly left: number
}

export interface RebuiltSegment {
  readonly record: SegmentRecord
  /** Ordinal of each position, relative to the record's first ordinal. */
  readonly offsets: Uint32Array
  /** Ordinal of the first document after the segment; undefined when there is none. */
  readonly next: number | undefined
}

/** How the caller follows a segment being built. */
export interface Following {
  readonly signal: AbortSignal | undefined
  /** Called every few milliseconds with the number of documents added. */
  readonly onProgress: (documents: number) => void
}

/**
 * REQUIRES: the builder has no segment open.
 * @param store receives the records; the segment's own record, live bitmap and position map are left to the caller
 * @returns undefined if the range has no documents
 * @throws AbortedError
 */
export async function buildSegment(
  builder: SegmentBuilder,
  store: IndexStore,
  { number, end, from, to, left }: SegmentTask,
  { signal, onProgress }: Following
): Promise<RebuiltSegment | undefined> {
  let documents = 0
  const timeSlice = new TimeSlice()
  for await (const run of builder.readStored(from, to)) {
    for (const stored of run) {
      const { ordinal } = stored
      if (!builder.isOpen) {
        await builder.begin(ordinal - end < maxSpan ? end : ordinal, ordinal, to, left, signal)
      } else if (builder.isFull || !builder.reaches(ordinal)) {
        return sealed(builder, store, number, ordinal)
      }
      builder.add(stored)
      documents++
      if (!timeSlice.isOver()) continue
      await timeSlice.renew()
      throwIfAborted(signal)
      onProgress(documents)
    }
  }
  return builder.isOpen ? sealed(builder, store, number, undefined) : undefined
}

async function sealed(
  builder: SegmentBuilder,
  store: IndexStore,
  number: number,
  next: number | undefined
): Promise<RebuiltSegment> {
  const record = await builder.seal(store, number)
  return { record, offsets: builder.offsets, next }
}
