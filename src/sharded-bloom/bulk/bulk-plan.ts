/** Messages between an index and a thread that builds segments for it: plain data, which is cloned. */
import type { SegmentRecord } from '../segment/segment-record.ts'
import type { TuningOptions } from '../tune/tuning-options.ts'

/** What a thread has to know of the index. The hash is always murmur. */
export interface SegmentPlan {
  /** int32 halves of the seed that every path is hashed with. */
  readonly seedLo: number
  readonly seedHi: number
  /** M. */
  readonly segmentDocuments: number
  readonly tuning: TuningOptions
}

/** A sealed segment whose records are stored or ready to be. */
export interface BuiltSegment {
  readonly record: SegmentRecord
  /** Bytes of that record in its stored form. */
  readonly directoryBytes: number
}
