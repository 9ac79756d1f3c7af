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

export interface RebuildLimits {
  /** Dead documents among all that the index holds, 0…1. Each lengthens every row and every candidate list. */
  readonly deadShare: number
  /** Times as many false positives as predicted. */
  readonly excess: number
}

/** Chance alone does not reach the excess with `minObserved`. */
export const defaultLimits: RebuildLimits = { deadShare: 0.3, excess: 4 }
/** Fewer documents than these are read, dead or not, in less than it takes to build a segment. */
export const minDead = 1024
export const minObserved = 1000
/** A segment of less than this share of M is small. */
const smallShare = 0.5
/** As many small ones would fill some segments: each costs a query what a full one costs. */
const maxSmall = 8

/** Why the index should be built again; undefined when nothing is to be gained. */
export function rebuildReason(
  stats: Pick<IndexStats, 'documents' | 'dead' | 'parameters'>,
  segmentDocuments: number,
  { falsePositives, predicted }: ObservedQueries = { falsePositives: 0, predicted: 0 },
  limits: RebuildLimits = defaultLimits
): RebuildReason | undefined {
  const { documents, dead, parameters } = stats
  if (dead >= minDead && dead > limits.deadShare * (documents + dead)) return 'dead documents'
  const small = parameters.filter(({ sealed, documents: count }) => sealed && count < smallShare * segmentDocuments)
  if (small.length > maxSmall) return 'small segments'
  if (falsePositives >= minObserved && falsePositives > limits.excess * predicted) return 'false positives'
  return undefined
}

/**
 * False positives that one equality with a value that no document has meets in all segments, by the textbook: documents
 * that are much unlike each other meet more.
 */
export function predictedFalsePositives({ parameters }: Pick<IndexStats, 'parameters'>): number {
  return parameters.reduce((sum, segment) => sum + segment.documents * segment.density ** segment.rowsPerPair, 0)
}
