/**
 * What the queries find without hashed rows: their bounds over a trial in which each of their pairs is private.
 *
 * Whatever an index with hashed rows finds in addition is a false positive of these rows. Candidates that no choice of
 * rows can avoid, from boundary bins of ranges and from what pairs cannot bound, are in the truth and do not count.
 */
import { popcount32 } from '../../bloom/bit-set.ts'
import { nextTurn } from '../../model/time-slice.ts'
import { prepareBounds } from '../bounds.ts'
import type { SegmentCandidates } from '../document-index.ts'
import { Tag } from '../pairs/pair-tags.ts'
import type { HashedPair } from '../segment/private-table.ts'
import type { SegmentParameters } from '../segment/segment.ts'
import { type Term, type TuneQuery, termsOf } from './queries.ts'
import type { TuneSample } from './sample.ts'
import { Trial, type TrialBytes } from './trial.ts'

/** Positions in the sample, one bit each. */
export type PositionBits = Uint32Array

export interface TermTruth {
  readonly upper: PositionBits
  readonly lower: PositionBits
  /**
   * The low half of the pair's hash; undefined for a range, and for facts of a document's shape, which are never
   * hashed.
   */
  readonly hash: number | undefined
}

export interface Truth {
  /** Per query, the positions in upper. */
  readonly queries: readonly PositionBits[]
  readonly terms: ReadonlyMap<Term, TermTruth>
  /** Bytes of the trial, whose private rows are those of `parameters`. */
  readonly bytes: TrialBytes
  readonly parameters: SegmentParameters
  /** M of the trial. */
  readonly segmentDocuments: number
}

export async function findTruth(
  sample: TuneSample,
  queries: readonly TuneQuery[],
  base: SegmentParameters,
  segmentDocuments: number,
  signal?: AbortSignal
): Promise<Truth> {
  const terms = queries.flatMap(({ bounds }) => termsOf(bounds))
  const hashes = terms.map((term) => hashedPairOf(sample, term))
  const parameters = { ...base, privatePairs: withPairs(base.privatePairs, hashes) }
  const trial = await Trial.build(sample, parameters, segmentDocuments, signal)
  try {
    const truths = new Map<Term, TermTruth>()
    for (const [i, term] of terms.entries()) {
      if (i % 16 === 0) await nextTurn()
      truths.set(term, { ...bitsOf(trial.evaluate(term), sample.size), hash: hashes[i]?.lo })
    }
    const found: PositionBits[] = []
    for (const { bounds } of queries) {
      found.push(bitsOf(trial.evaluate(bounds), sample.size).upper)
      await nextTurn()
    }
    return { queries: found, terms: truths, bytes: trial.bytes, parameters, segmentDocuments }
  } finally {
    trial.free()
  }
}

/** Returns the value or size pair of a term. */
function hashedPairOf(sample: TuneSample, term: Term): HashedPair | undefined {
  const [leaf] = prepareBounds(term, sample.pairHash).leaves
  return leaf?.kind === 'pair' && leaf.pair.tag <= Tag.size ? leaf.pair : undefined
}

function withPairs(base: readonly HashedPair[], more: readonly (HashedPair | undefined)[]): readonly HashedPair[] {
  const pairs = new Map(base.map((pair) => [nameOf(pair), pair]))
  for (const pair of more) if (pair !== undefined) pairs.set(nameOf(pair), pair)
  return [...pairs.values()]
}

function nameOf({ path, tag, key }: HashedPair): string {
  return JSON.stringify([path, tag, typeof key, String(key)])
}

function bitsOf(
  segments: readonly SegmentCandidates[],
  size: number
): { readonly upper: PositionBits; readonly lower: PositionBits } {
  const upper = new Uint32Array(Math.ceil(size / 32))
  const lower = new Uint32Array(upper.length)
  for (const candidates of segments) {
    for (let i = 0; i < candidates.upperCount; i++) {
      const position = candidates.ordinal(i)
      upper[position >>> 5]! |= 1 << (position & 31)
      if (candidates.isCertain(i)) lower[position >>> 5]! |= 1 << (position & 31)
    }
  }
  return { upper, lower }
}

export function hasBit(bits: PositionBits, position: number): boolean {
  return (bits[position >>> 5]! & (1 << (position & 31))) !== 0
}

export function countBits(bits: PositionBits): number {
  return bits.reduce((count, word) => count + popcount32(word), 0)
}
