/** The choices that are considered: a grid around what is usual, and what the index has now. */

import type { StoredChoice } from './stored-choice.ts'
import type { TuningChoices } from './tuning.ts'

export interface Candidate extends StoredChoice {
  /** M; one that is not the index's own needs a new index. */
  readonly segmentDocuments: number
  /** P where the index's owner has fixed it. Otherwise it follows from the documents, and from their drift. */
  readonly shards: number | 'auto'
}

const bitsGrid = [8, 12, 16, 24, 32, 48] as const
const rowsGrid = [4, 6, 8, 10, 12] as const
/** A sample of 4,096 documents tells no smaller share: of fewer than four occurrences nothing can be said. */
const shareGrid = [1 / 256, 1 / 512, 1 / 1024] as const
const levelGrid = [true, false] as const

/** Every candidate for the M that the index has; the first one is what the index has now. */
export function candidateGrid(present: Candidate): readonly Candidate[] {
  const grid: Candidate[] = [present]
  for (const privateShare of shareGrid) {
    const candidate: Candidate = { ...present, tail: 'fingerprint', shards: 'auto', privateShare }
    if (!isSame(candidate, present)) grid.push(candidate)
  }
  for (const bitsPerPosting of bitsGrid) {
    for (const rowsPerPair of rowsGrid) {
      for (const privateShare of shareGrid) {
        for (const upperLevel of levelGrid) {
          const candidate: Candidate = {
            ...present,
            tail: 'bloom',
            shards: 'auto',
            bitsPerPosting,
            rowsPerPair,
            privateShare,
            upperLevel
          }
          if (!isSame(candidate, present)) grid.push(candidate)
        }
      }
    }
  }
  return grid
}

export function isSame(a: Candidate, b: Candidate): boolean {
  return (
    a.segmentDocuments === b.segmentDocuments &&
    a.tail === b.tail &&
    a.shards === b.shards &&
    a.bitsPerPosting === b.bitsPerPosting &&
    a.rowsPerPair === b.rowsPerPair &&
    a.privateShare === b.privateShare &&
    a.upperLevel === b.upperLevel
  )
}

/** What a segment's parameters are chosen by. */
export function choicesOf(candidate: Candidate): TuningChoices {
  const { tail, shards, bitsPerPosting, rowsPerPair, privateShare, upperLevel } = candidate
  return { tail, shards, bitsPerPosting, rowsPerPair, privateShare, upperLevel }
}
