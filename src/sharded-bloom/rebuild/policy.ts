/** Pure policy: when rebuilding an index pays. */
import type { IndexStats } from '../document-index.ts'

/** Why a rebuild of an index would pay off. */
export type RebuildReason = 'dead documents' | 'small segments' | 'false positives'

/** Observations of queries; without any, false positives are no reason. */
export interface ObservedQueries {
  /** Candidates that did not match, of pairs in hashed rows. */
  readonly falsePositives: number
  /** The number predicted from the parameters. */
  readonly predicted: number
}

export interface RebuildLimits {
  /** Share of dead documents among all in the index, 0…1. Each lengthens every row and every candidate list. */
  readonly deadShare: number
  /** How many times the predicted false positives are too many. */
  readonly excess: number
}

/** With `minObserved`, chance alone does not reach the excess. */
export const defaultLimits: RebuildLimits = { deadShare: 0.3, excess: 4 }
/** Fewer dead documents cost less to read than building a segment does. */
export const minDead = 1024
export const minObserved = 1000
/** A segment with less than this share of M is small. */
const smallShare = 0.5
/** More small segments would fill several full ones: each costs a query as much as a full one. */
const maxSmall = 8

/** Returns why the index should be rebuilt; undefined when there is nothing to gain. */
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
 * False positives, over all segments, of one equality with a value that no document has, by the textbook formula.
 * Documents that differ much from each other have more.
 */
export function predictedFalsePositives({ parameters }: Pick<IndexStats, 'parameters'>): number {
  return parameters.reduce((sum, segment) => sum + segment.documents * segment.density ** segment.rowsPerPair, 0)
}
