/** Candidates in the order in which a read walks them. */
import type { SegmentCandidates } from '../../sharded-bloom/document-index.ts'

export interface Candidates {
  readonly count: number
  /** Ordinals, ascending, or descending when the read is reversed; i < count. */
  ordinal(i: number): number
  isCertain(i: number): boolean
}

/** All candidates of a segment. */
export function inOrder(segment: SegmentCandidates, reverse: boolean): Candidates {
  const count = segment.upperCount
  if (!reverse) {
    return { count, ordinal: (i) => segment.ordinal(i), isCertain: (i) => segment.isCertain(i) }
  }
  const last = count - 1
  return { count, ordinal: (i) => segment.ordinal(last - i), isCertain: (i) => segment.isCertain(last - i) }
}

/** All but the first ones. */
export function behind(candidates: Candidates, first: number): Candidates {
  if (first === 0) return candidates
  return {
    count: candidates.count - first,
    ordinal: (i) => candidates.ordinal(first + i),
    isCertain: (i) => candidates.isCertain(first + i)
  }
}

/** How many of the first candidates are certain, `most` at most. */
export function certainFirst(candidates: Candidates, most: number): number {
  const end = Math.min(most, candidates.count)
  let count = 0
  while (count < end && candidates.isCertain(count)) count++
  return count
}

/** The candidates of a segment that have to be confirmed, ascending. */
export function uncertain(segment: SegmentCandidates): Candidates {
  if (segment.lowerCount === 0) return inOrder(segment, false)
  const ordinals: number[] = []
  if (segment.lowerCount < segment.upperCount) {
    for (let i = 0; i < segment.upperCount; i++) if (!segment.isCertain(i)) ordinals.push(segment.ordinal(i))
  }
  return ofOrdinals(ordinals)
}

/** One that matches. */
export function ofCertain(ordinal: number): Candidates {
  return { count: 1, ordinal: () => ordinal, isCertain: () => true }
}

/** Ordinals of which none is certain. */
export function ofOrdinals(ordinals: readonly number[]): Candidates {
  return { count: ordinals.length, ordinal: (i) => ordinals[i]!, isCertain: () => false }
}
