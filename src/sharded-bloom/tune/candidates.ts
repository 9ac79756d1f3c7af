/** The candidates to consider: a grid around the usual choices, plus the index's present choice. */

import type { StoredChoice } from './stored-choice.ts'
import type { TuningChoices } from './tuning-options.ts'

export interface Candidate extends StoredChoice {
  /** M; a value other than the index's own needs a new index. */
  readonly segmentDocuments: number
  /** P if the index's owner has fixed it. Otherwise it follows from the documents and changes with them. */
  readonly shards: number | 'auto'
}

const bitsGrid = [8, 12, 16, 24, 32, 48] as const
const rowsGrid = [4, 6, 8, 10, 12] as const
/** A sample of 4,096 documents resolves no smaller share: fewer than four occurrences say nothing. */
const shareGrid = [1 / 256, 1 / 512, 1 / 1024] as const
const levelGrid = [true, false] as const

/** Returns every candidate for the index's M; the first is the present choice. */
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

function isSame(a: Candidate, b: Candidate): boolean {
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

/** The options by which a segment's parameters are chosen. */
export function choicesOf(candidate: Candidate): TuningChoices {
  const { tail, shards, bitsPerPosting, rowsPerPair, privateShare, upperLevel } = candidate
  return { tail, shards, bitsPerPosting, rowsPerPair, privateShare, upperLevel }
}
