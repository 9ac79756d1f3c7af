/** Builds segments of a rebuild in another thread, which reads the documents and stores the records itself. */
import type { SegmentPlan } from '../bulk/bulk-plan.ts'
import type { ColumnSpec } from '../ranges/column-spec.ts'
import type { Following, RebuiltSegment, SegmentTask } from './build-segment.ts'

/** Plain data, which is sent to the thread. */
export interface SegmentJob {
  readonly task: SegmentTask
  readonly plan: SegmentPlan
  /** Columns to be kept. */
  readonly columns: readonly ColumnSpec[]
}

/** Provided by the owner of the store. */
export interface RemoteBuilder {
  /**
   * Whether the store has nothing in these ranges of the index's keys, not even traces of something deleted: otherwise
   * records that bypass its log could not be told from older ones.
   */
  isUnused(ranges: readonly (readonly [from: Uint8Array, to: Uint8Array])[]): Promise<boolean>
  /**
   * As buildSegment().
   * @returns undefined, with nothing stored, if the segment has to be built in this thread
   */
  build(job: SegmentJob, following: Following): Promise<RebuiltSegment | undefined>
}

/** Fewer documents take less time here than a thread takes to begin. */
const minFirst = 16_384
/** The same for a thread that has built a segment before. Fewer would be too small a sample for choosing parameters. */
const minLater = 1024

export function isWorthSending({ left }: SegmentTask, segmentDocuments: number, isFirst: boolean): boolean {
  return Math.min(left, segmentDocuments) >= (isFirst ? minFirst : minLater)
}
