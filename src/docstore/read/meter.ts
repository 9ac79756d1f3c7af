/** Counts what a read does, for explain(). */
import type { SegmentCandidates } from '../../sharded-bloom/document-index.ts'
import type { IndexAccess } from '../indexes/choose-access.ts'

export class Meter {
  segments = 0
  /** Segments without a candidate: nothing of them was fetched. */
  segmentsPruned = 0
  rowsRead = 0
  bytesTouched = 0
  /** Entries of declared indexes. */
  keysExamined = 0
  /** The access to a declared index that found the documents, when one did. */
  access: IndexAccess | undefined
  /** The path whose columns told which documents come first, when they did. */
  orderedBy: string | undefined
  /** Documents in the upper bound. */
  candidates = 0
  /** Documents in the lower bound: they match without being looked at. */
  certain = 0
  documentsFetched = 0
  /** Certain matches that were skipped: nothing of them was fetched. */
  passedOver = 0
  /** Of the store, with documents of the collection; those that its filters ruled out. */
  tables = 0
  tablesPruned = 0
  /** Fetched documents that were tested, and those of them that matched. */
  tested = 0
  confirmed = 0

  seeSegment(candidates: SegmentCandidates): void {
    if (candidates.upperCount === 0) this.segmentsPruned++
    this.rowsRead += candidates.rowsRead
    this.bytesTouched += candidates.bytesTouched
    this.candidates += candidates.upperCount
    this.certain += candidates.lowerCount
  }

  get falsePositives(): number {
    return this.tested - this.confirmed
  }
}
