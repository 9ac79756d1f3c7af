/** Pure policy: when recent versions are merged with the segments whose ordinals they touch. */
import type { IndexStats, OrdinalRange } from '../document-index.ts'

/** Recent versions in memory, at most, in segments; a little more while a segment is being built. */
const maxRecentSegments = 4
/** A share of the documents: with ids in no order at all, merging them builds every segment again. */
const recentShare = 1 / 8
/** Fewer recent versions than these are left to the next open, which reads them again. */
const minMergedOnClose = 4096
/** So are those for each of which more documents than these would be built again. */
const maxBuiltOnClose = 4

/** @param index asked for its live documents, the recent ones among them, when that matters */
export function isMergeDue(recent: number, segmentDocuments: number, index: { liveCount(): number }): boolean {
  if (recent < segmentDocuments) return false
  return recent >= maxRecentSegments * segmentDocuments || recent >= recentShare * index.liveCount()
}

/** @param span of their ordinals */
export function isWorthMergingOnClose(
  recent: number,
  segmentDocuments: number,
  span: OrdinalRange,
  parameters: IndexStats['parameters']
): boolean {
  if (recent < Math.min(minMergedOnClose, segmentDocuments)) return false
  return builtWithin(span, parameters) <= maxBuiltOnClose * recent
}

/** Of the ordinals in all of them; empty where there are none. */
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

/** Documents of the segments that a span touches. */
function builtWithin({ from, to }: OrdinalRange, parameters: IndexStats['parameters']): number {
  return parameters.reduce((sum, { firstOrdinal, documents }, i) => {
    const next = parameters[i + 1]?.firstOrdinal ?? Number.POSITIVE_INFINITY
    return firstOrdinal < to && next > from ? sum + documents : sum
  }, 0)
}
