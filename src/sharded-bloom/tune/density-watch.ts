/**
 * Notices when documents have changed so much that the open segment's rows are no longer right for them: rows are half
 * full, or a quarter of the documents are crowded. (Without rows, with fingerprints, the false-positive rate only grows
 * linearly with the pairs.)
 */
import type { OpenSegment } from '../segment/open-segment.ts'

/** Documents per measurement. */
const windowDocuments = 1024
/** Beyond this share of bits set, the false-positive rate is above 2^−r, far from what the rows were chosen for. */
const maxDensity = 1 / 2
const maxCrowdedShare = 1 / 4

export class DensityWatch {
  #documents = 0
  #hashedPairs = 0
  #crowdedDocuments = 0

  /** Begins a measurement with the segment's next document; without one, with the first of a new segment. */
  begin(segment?: OpenSegment): void {
    this.#documents = segment?.documents ?? 0
    this.#hashedPairs = segment?.hashedPairs ?? 0
    this.#crowdedDocuments = segment?.crowdedDocuments ?? 0
  }

  /** Called after each document; returns true at the end of a measurement that shows another segment to be better. */
  isTooDense(segment: OpenSegment): boolean {
    const added = segment.documents - this.#documents
    if (added < windowDocuments) return false
    const { hashedPairs, crowdedDocuments, shards, rowsPerPair } = segment
    const pairs = (hashedPairs - this.#hashedPairs) / added
    const crowdedShare = (crowdedDocuments - this.#crowdedDocuments) / added
    this.begin(segment)
    if (shards === 0) return false
    return crowdedShare > maxCrowdedShare || 1 - Math.exp((-rowsPerPair * pairs) / shards) > maxDensity
  }
}
