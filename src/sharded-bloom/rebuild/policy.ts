/** Pure policy: when building an index again pays. */
import type { IndexStats } from '../document-index.ts'

export type RebuildReason = 'dead documents' | 'small segments' | 'false positives'

/** What was seen of queries; where nothing was, false positives are no reason. */
export interface ObservedQueries {
  /** Candidates that did not match, of pairs in hashed rows. */
  readonly falsePositives: number
  /** How many of them the parameters promise. */
  readonly predicted: number
}

/** Every evaluation of a segment costs the dead ones' bits, and every candidate list is longer by them. */
const maxDeadShare = 0.3
/** Fewer documents than these are read, dead or not, in less than it takes to build a segment. */
const minDead = 1024
/** A segment of less than this share of M is small. */
const smallShare = 0.5
/** As many small ones would fill some segments: each costs a query what a full one costs. */
const maxSmall = 8
/** Chance alone does not reach it with `minObserved`. */
const maxExcess = 4
const minObserved = 1000

/** Why the index should be built again; undefined when nothing is to be gained. */
export function rebuildReason(
  stats: Pick<IndexStats, 'documents' | 'dead' | 'parameters'>,
  segmentDocuments: number,
  observed: ObservedQueries = { falsePositives: 0, predicted: 0 }
): RebuildReason | undefined {
  const { documents, dead, parameters } = stats
  if (dead >= minDead && dead > maxDeadShare * (documents + dead)) return 'dead documents'
  const small = parameters.filter(({ sealed, documents: count }) => sealed && count < smallShare * segmentDocuments)
  if (small.length > maxSmall) return 'small segments'
  const { falsePositives, predicted } = observed
  if (falsePositives >= minObserved && falsePositives > maxExcess * predicted) return 'false positives'
  return undefined
}
