/** What passes between an index and a thread that builds segments for it: data only, which is cloned. */
import type { SegmentRecord } from '../segment/segment-record.ts'
import type { TuningOptions } from '../tune/tuning.ts'

/** What a thread has to know of the index. Its hash is murmur. */
export interface SegmentPlan {
  /** Halves of the seed that every path is hashed with, int32. */
  readonly seedLo: number
  readonly seedHi: number
  /** M. */
  readonly segmentDocuments: number
  readonly tuning: TuningOptions
}

/** A sealed segment whose records are ready to be stored, or already are. */
export interface BuiltSegment {
  readonly record: SegmentRecord
  /** Bytes of that record as it is stored. */
  readonly directoryBytes: number
}
