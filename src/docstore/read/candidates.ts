/** Candidates in the order in which a read visits them. */
import type { SegmentCandidates } from '../../sharded-bloom/document-index.ts'

export interface Candidates {
  readonly count: number
  /** Ordinals, ascending, or descending for a reverse read; i < count. */
  ordinal(i: number): number
  isCertain(i: number): boolean
}

/** Returns all candidates of a segment. */
export function allCandidates(segment: SegmentCandidates, reverse: boolean): Candidates {
  const count = segment.upperCount
  if (!reverse) {
    return { count, ordinal: (i) => segment.ordinal(i), isCertain: (i) => segment.isCertain(i) }
  }
  const last = count - 1
  return { count, ordinal: (i) => segment.ordinal(last - i), isCertain: (i) => segment.isCertain(last - i) }
}

/** Returns the candidates without the `first` ones. */
export function skipFirst(candidates: Candidates, first: number): Candidates {
  return first === 0 ? candidates : slice(candidates, first, candidates.count)
}

/** Returns the candidates from ≤ i < to. */
export function slice(candidates: Candidates, from: number, to: number): Candidates {
  return {
    count: to - from,
    ordinal: (i) => candidates.ordinal(from + i),
    isCertain: (i) => candidates.isCertain(from + i)
  }
}

/** Returns how many of the leading candidates are certain, at most `most`. */
export function countLeadingCertain(candidates: Candidates, most: number): number {
  const end = Math.min(most, candidates.count)
  let count = 0
  while (count < end && candidates.isCertain(count)) count++
  return count
}

/** Returns the candidates of a segment that have to be confirmed, ascending. */
export function uncertainCandidates(segment: SegmentCandidates): Candidates {
  if (segment.lowerCount === 0) return allCandidates(segment, false)
  const ordinals: number[] = []
  if (segment.lowerCount < segment.upperCount) {
    for (let i = 0; i < segment.upperCount; i++) if (!segment.isCertain(i)) ordinals.push(segment.ordinal(i))
  }
  return candidatesOfOrdinals(ordinals)
}

/** A single, certain candidate. */
export function certainCandidate(ordinal: number): Candidates {
  return candidatesOfOrdinals([ordinal], true)
}

/** @param areCertain all of them, or none */
export function candidatesOfOrdinals(ordinals: ArrayLike<number>, areCertain = false): Candidates {
  return { count: ordinals.length, ordinal: (i) => ordinals[i]!, isCertain: () => areCertain }
}
