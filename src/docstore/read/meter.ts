/** Counts what a read does, for explain(). */
import type { SegmentCandidates } from '../../sharded-bloom/document-index.ts'
import type { IndexAccess } from '../indexes/choose-access.ts'

export class Meter {
  segments = 0
  /** Segments without a candidate, of which nothing was fetched. */
  segmentsPruned = 0
  rowsRead = 0
  bytesTouched = 0
  /** Entries of declared indexes. */
  keysExamined = 0
  /** The access to a declared index that found the documents, if any. */
  access: IndexAccess | undefined
  /** The path whose columns determined the first documents, if any. */
  orderedBy: string | undefined
  /** Documents in the upper bound. */
  candidates = 0
  /** Documents in the lower bound: they match without being tested. */
  certain = 0
  documentsFetched = 0
  /** Leading matches that skip would drop, and that were only counted. */
  passed = 0
  /** Tables of the store with documents of the collection, and how many of them the filters ruled out. */
  tables = 0
  tablesPruned = 0
  /** Threads that helped. */
  threads = 0
  /** Fetched documents that were tested, and how many of them matched. */
  tested = 0
  confirmed = 0

  countSegment(candidates: SegmentCandidates): void {
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
