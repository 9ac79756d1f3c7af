/** What a segment's record tells of it, whether its rows can be read or have yet to be restored. */
import type { SegmentRecord } from './segment-record.ts'

export abstract class RecordedSegment {
  readonly record: SegmentRecord

  constructor(record: SegmentRecord) {
    this.record = record
  }

  get firstOrdinal(): number {
    return this.record.firstOrdinal
  }

  get documents(): number {
    return this.record.documents
  }

  get shards(): number {
    return this.record.shards
  }

  get rowsPerPair(): number {
    return this.record.rowsPerPair
  }

  get alwaysCandidates(): readonly number[] {
    return this.record.alwaysCandidates
  }

  get groupDocuments(): number {
    return this.record.upper.groupDocuments
  }

  get hashedPairs(): number {
    return this.record.hashedPairs
  }
}
