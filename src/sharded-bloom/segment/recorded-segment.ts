/** A segment described by its record, whether its rows can be read or have yet to be restored. */
import type { SegmentRecord } from './segment-record.ts'

/**
 * Copies the fields that queries read out of the record: records that were read, sealed or rebuilt have different
 * hidden classes, but segments all have one.
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
  readonly crowdedDocuments: number

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
    this.crowdedDocuments = record.crowded?.documents ?? 0
  }
}
