/** Pure policy: when recent versions are merged with the segments whose ordinals they touch. */
import type { IndexStats, OrdinalRange } from '../document-index.ts'

/** Maximum number of recent versions in memory, in segments; slightly exceeded while a segment is being built. */
const maxRecentSegments = 4
/** As a share of the documents: if ids are in no order at all, merging rebuilds every segment. */
const recentShare = 1 / 8
/** Fewer recent versions are not merged on close: the next open re-reads them. */
const minMergedOnClose = 4096
/** Nor are recent versions merged on close if each would make more than this many documents be rebuilt. */
const maxBuiltOnClose = 4

/** @param index asked for its number of live documents, recent ones included, only when it matters */
export function isMergeDue(recent: number, segmentDocuments: number, index: { liveCount(): number }): boolean {
  if (recent < segmentDocuments) return false
  return recent >= maxRecentSegments * segmentDocuments || recent >= recentShare * index.liveCount()
}

/** @param span of the ordinals of the recent versions */
export function isWorthMergingOnClose(
  recent: number,
  segmentDocuments: number,
  span: OrdinalRange,
  parameters: IndexStats['parameters']
): boolean {
  if (recent < Math.min(minMergedOnClose, segmentDocuments)) return false
  return builtWithin(span, parameters) <= maxBuiltOnClose * recent
}

/** The span of all their ordinals; empty when there are none. */
export function spanOf(recent: readonly { readonly ordinals: Iterable<number> }[]): OrdinalRange {
  let from = Number.POSITIVE_INFINITY
  let to = 0
  for (const { ordinals } of recent) {
    for (const ordinal of ordinals) {
      if (ordinal < from) from = ordinal
      if (ordinal >= to) to = ordinal + 1
    }
  }
  return to === 0 ? { from: 0, to: 0 } : { from, to }
}

/** Number of documents in the segments that a span touches. */
function builtWithin({ from, to }: OrdinalRange, parameters: IndexStats['parameters']): number {
  return parameters.reduce((sum, { firstOrdinal, documents }, i) => {
    const next = parameters[i + 1]?.firstOrdinal ?? Number.POSITIVE_INFINITY
    return firstOrdinal < to && next > from ? sum + documents : sum
  }, 0)
}
