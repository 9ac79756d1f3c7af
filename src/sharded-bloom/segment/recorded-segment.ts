/** What a segment's record tells of it, whether its rows can be read or have yet to be restored. */
import type { SegmentRecord } from './segment-record.ts'

/**
 * What questions ask for is copied out of the record: records that were read, sealed and built again are objects of
 * different shapes to the compiler, segments are of one.
 */
export abstract class RecordedSegment {
  readonly record: SegmentRecord
  readonly firstOrdinal: number
  readonly documents: number
  readonly shards: number
  readonly rowsPerPair: number
  readonly fingerprintBits: number | undefined
  readonly alwaysCandidates: readonly number[]
  readonly groupDocuments: number
  readonly hashedPairs: number

  constructor(record: SegmentRecord) {
    this.record = record
    this.firstOrdinal = record.firstOrdinal
    this.documents = record.documents
    this.shards = record.shards
    this.rowsPerPair = record.rowsPerPair
    this.fingerprintBits = record.fingerprints?.bits
    this.alwaysCandidates = record.alwaysCandidates
    this.groupDocuments = record.upper.groupDocuments
    this.hashedPairs = record.hashedPairs
  }
}
