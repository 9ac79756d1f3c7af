/**
 * Predicts what an index with given parameters will cost and find, before it is built. See docs/tuning.md.
 *
 * A document with n hashed pairs has a row's bit set with probability d = 1 − (1 − r/P)^n, and is found for a pair that
 * it does not have with probability d^r; with fingerprints of H bits, 1 − (1 − 2^−H)^n. Over the sample that gives a
 * probability per document and term, and a query's bounds combine them: products for AND, complements of products of
 * complements for OR, the other bound's complement for NOT.
 */
import { rowFalsePositiveRate } from '../../bloom/sizing.ts'
import type { PairExpression } from '../../model/pairs.ts'
import { TimeSlice } from '../../model/time-slice.ts'
import { frameBytes } from '../segment/row-cache.ts'
import type { SegmentParameters } from '../segment/segment.ts'
import { crowdedBits } from '../segment/tail/limits.ts'
import { groupDocumentsOf, maxSparseGroups, upperProbes } from '../segment/upper-level.ts'
import { type Term, type TuneQuery, termsOf } from './queries.ts'
import { hasBit, type PositionBits, type TermTruth, type Truth } from './truth.ts'

const million = 1e6
/** The bucket's offset, and the bucket. */
const fingerprintReads = 2
/** Bits of a gap's Rice code beyond the logarithm of the mean. */
const gapOverhead = 1.5

export interface Predictable {
  readonly parameters: SegmentParameters
  /** M. */
  readonly segmentDocuments: number
  /** Number of hashed pairs of each document in the sample. */
  readonly hashedPairs: Uint32Array
  /** Number of distinct pairs of each group in the sample. */
  readonly distinctInGroups: readonly number[]
  /** Low halves of the private pairs' hashes. */
  readonly isPrivate: ReadonlySet<number>
}

/** Averages over the weighted queries. */
export interface Work {
  /** Per query and document. */
  readonly falsePositiveRate: number
  /** Per query and million documents: rows, and documents fetched in vain. When cold, each is one read of the store. */
  readonly reads: number
}

/** @param stride uses every stride-th document of the sample */
export async function predictedWork(
  target: Predictable,
  queries: readonly TuneQuery[],
  truth: Truth,
  stride: number
): Promise<Work> {
  const probabilities = new Probabilities(target, truth.terms, stride)
  let rate = 0
  let rows = 0
  let weights = 0
  const timeSlice = new TimeSlice()
  for (const [i, { bounds, weight }] of queries.entries()) {
    rate += weight * probabilities.falsePositives(bounds, truth.queries[i]!)
    for (const term of termsOf(bounds)) rows += weight * probabilities.rowsRead(term)
    weights += weight
    if (timeSlice.isOver()) await timeSlice.renew()
  }
  if (weights === 0) return { falsePositiveRate: 0, reads: 0 }
  const segments = million / target.segmentDocuments
  return { falsePositiveRate: rate / weights, reads: (rows / weights) * segments + (rate / weights) * million }
}

class Probabilities {
  readonly #target: Predictable
  readonly #terms: ReadonlyMap<Term, TermTruth>
  readonly #positions: Uint32Array
  /** Per document used, the probability that the rows pass a pair that it does not have. */
  readonly #rowRate: Float32Array
  readonly #groupOf: Uint32Array
  /** Per group, the probability that the upper level passes a pair that none of its documents has. */
  readonly #groupRate: readonly number[]

  constructor(target: Predictable, terms: ReadonlyMap<Term, TermTruth>, stride: number) {
    this.#target = target
    this.#terms = terms
    const { hashedPairs, segmentDocuments, parameters } = target
    const { upperFrames } = parameters
    const taken = Math.ceil(hashedPairs.length / stride)
    this.#positions = Uint32Array.from({ length: taken }, (_, i) => i * stride)
    const rates = new Map<number, number>()
    this.#rowRate = Float32Array.from(this.#positions, (position) => {
      const pairs = hashedPairs[position]!
      let rate = rates.get(pairs)
      if (rate === undefined) {
        rate = tailRate(pairs, parameters)
        rates.set(pairs, rate)
      }
      return rate
    })
    const groupDocuments = groupDocumentsOf(segmentDocuments)
    this.#groupOf = this.#positions.map((position) => Math.floor(position / groupDocuments))
    this.#groupRate = target.distinctInGroups.map((pairs) => upperLevelRate(pairs, upperFrames))
  }

  /** Per document: the expected share in upper, less what is in it without hashed rows. */
  falsePositives(expression: PairExpression, found: PositionBits): number {
    const upper = this.#bound(expression, true)
    let sum = 0
    for (let i = 0; i < upper.length; i++) if (!hasBit(found, this.#positions[i]!)) sum += upper[i]!
    return sum / Math.max(1, upper.length)
  }

  /** Expected number of rows of one segment read for a term, including its frame of the upper level. */
  rowsRead(term: Term): number {
    const truth = this.#terms.get(term)!
    // A range reads eight slices or fewer, whatever is chosen here; a private pair reads its row.
    if (!this.#isHashed(truth)) return 1
    const { rowsPerPair, upperFrames, fingerprintBits } = this.#target.parameters
    if (fingerprintBits !== undefined) return fingerprintReads
    if (upperFrames === 0) return rowsPerPair
    const noPassProbability = this.#groupPasses(truth.upper).reduce((none, pass) => none * (1 - pass), 1)
    return 1 + (1 - noPassProbability) * rowsPerPair
  }

  #bound(node: PairExpression, isUpper: boolean): Float32Array {
    switch (node.kind) {
      case 'all':
        return this.#all(1)
      case 'none':
        return this.#all(0)
      case 'pair':
      case 'range':
        return this.#term(node, isUpper)
      case 'and': {
        const product = this.#all(1)
        for (const child of node.children) {
          const bits = this.#bound(child, isUpper)
          for (let i = 0; i < bits.length; i++) product[i]! *= bits[i]!
        }
        return product
      }
      case 'or': {
        const outside = this.#all(1)
        for (const child of node.children) {
          const bits = this.#bound(child, isUpper)
          for (let i = 0; i < bits.length; i++) outside[i]! *= 1 - bits[i]!
        }
        return complement(outside)
      }
      case 'not':
        return complement(this.#bound(node.child, !isUpper))
      case 'bounds':
        return this.#bound(isUpper ? node.upper : node.lower, isUpper)
    }
  }

  #term(term: Term, isUpper: boolean): Float32Array {
    const truth = this.#terms.get(term)!
    if (!this.#isHashed(truth)) return this.#bits(isUpper ? truth.upper : truth.lower)
    return isUpper ? this.#hashed(truth) : this.#all(0)
  }

  #isHashed({ hash }: TermTruth): boolean {
    return hash !== undefined && !this.#target.isPrivate.has(hash)
  }

  #hashed({ upper }: TermTruth): Float32Array {
    const bits = this.#bits(upper)
    const passes = this.#passingGroups(upper)
    for (let i = 0; i < bits.length; i++) {
      if (bits[i] === 0) bits[i] = this.#rowRate[i]! * (passes?.[this.#groupOf[i]!] ?? 1)
    }
    return bits
  }

  /** Per group, the probability that it is read; undefined when rows are read whole, hence all groups. */
  #passingGroups(found: PositionBits): readonly number[] | undefined {
    if (this.#target.parameters.upperFrames === 0) return undefined
    const passes = this.#groupPasses(found)
    const left = passes.reduce((sum, pass) => sum + pass, 0)
    return left > maxSparseGroups ? undefined : passes
  }

  /** Per group, the probability that the upper level passes the pair: 1 if a document has it. */
  #groupPasses(found: PositionBits): readonly number[] {
    const passes = [...this.#groupRate]
    const groupDocuments = groupDocumentsOf(this.#target.segmentDocuments)
    for (let w = 0; w < found.length; w++) {
      for (let word = found[w]!; word !== 0; word &= word - 1) {
        passes[Math.floor((w * 32 + 31 - Math.clz32(word & -word)) / groupDocuments)] = 1
      }
    }
    return passes
  }

  #bits(bits: PositionBits): Float32Array {
    const positions = this.#positions
    const values = new Float32Array(positions.length)
    for (let i = 0; i < values.length; i++) if (hasBit(bits, positions[i]!)) values[i] = 1
    return values
  }

  #all(value: number): Float32Array {
    return new Float32Array(this.#positions.length).fill(value)
  }
}

function complement(bits: Float32Array): Float32Array {
  for (let i = 0; i < bits.length; i++) bits[i] = 1 - bits[i]!
  return bits
}

/** False-positive rate of a document with `pairs` hashed pairs, for a pair that it does not have. */
function tailRate(pairs: number, parameters: SegmentParameters): number {
  const { shards, rowsPerPair, fingerprintBits, crowdedPairs = Number.POSITIVE_INFINITY } = parameters
  const bits = pairs > crowdedPairs ? crowdedBits : fingerprintBits
  if (bits === undefined) return rowFalsePositiveRate(pairs, shards, rowsPerPair)
  return -Math.expm1(pairs * Math.log1p(-(2 ** -bits)))
}

/**
 * False-positive rate of a Bloom filter with one bit per word of the frames, in which each distinct pair sets a few.
 */
function upperLevelRate(pairs: number, frames: number): number {
  if (frames === 0) return 1
  return (-Math.expm1((-upperProbes * pairs) / ((frames * frameBytes) / 4))) ** upperProbes
}

/**
 * Bytes per document of an index with these parameters. @param frequency share of documents that have each private pair
 */
export function predictedBytes(target: Predictable, truth: Truth, frequency: ReadonlyMap<number, number>): number {
  const { privatePairs } = target.parameters
  const { bytes, parameters } = truth
  // Facts, ranges and what is written once per segment do not depend on the choice: use the trial's.
  let privateRows = bytes.privateRows
  for (const pair of parameters.privatePairs) {
    if (!target.isPrivate.has(pair.lo)) privateRows -= listBytes(frequency.get(pair.lo) ?? 0)
  }
  const listed = (privatePairs.length + 1) / (parameters.privatePairs.length + 1)
  const directory = (bytes.directory * listed * truth.segmentDocuments) / target.segmentDocuments
  return tailBytes(target) + privateRows + bytes.rangeCodes + directory
}

/** Bytes of the tail, per document. */
function tailBytes(target: Predictable): number {
  const { parameters, segmentDocuments } = target
  const { shards, upperFrames, fingerprintBits } = parameters
  if (fingerprintBits !== undefined) return fingerprintBytes(target, fingerprintBits)
  return shards / 8 + (upperFrames * frameBytes) / segmentDocuments + crowdedBytes(target)
}

/** Fingerprints of crowded documents, each taken to have pairs of its own. */
function crowdedBytes({ parameters, segmentDocuments, hashedPairs }: Predictable): number {
  const { crowdedPairs = Number.POSITIVE_INFINITY } = parameters
  const pairs = hashedPairs.reduce((sum, count) => sum + (count > crowdedPairs ? count : 0), 0)
  if (pairs === 0) return 0
  const perDocument = pairs / hashedPairs.length
  return entryBytes(perDocument, perDocument, crowdedBits, segmentDocuments)
}

/** See docs/tuning.md. Counts by group cannot show pairs in several groups: assuming none overestimates a little. */
function fingerprintBytes(
  { segmentDocuments, hashedPairs, isPrivate, distinctInGroups }: Predictable,
  bits: number
): number {
  const pairs = hashedPairs.reduce((sum, count) => sum + count, 0) / Math.max(1, hashedPairs.length)
  const inGroups = distinctInGroups.reduce((sum, count) => sum + Math.max(0, count - isPrivate.size), 0)
  const different = Math.min(pairs, Math.max(pairs / segmentDocuments, inGroups / Math.max(1, hashedPairs.length)))
  return pairs === 0 ? 0 : entryBytes(pairs, different, bits, segmentDocuments)
}

/** @param different pairs met first in their segment, of `pairs` per document */
function entryBytes(pairs: number, different: number, bits: number, segmentDocuments: number): number {
  const codes = bits - Math.log2(different * segmentDocuments) + gapOverhead + 1
  const positions = Math.log2((segmentDocuments * different) / pairs)
  return (different * codes + pairs * positions + gapOverhead * (pairs - different)) / 8
}

/** Bytes per document of a private row: gaps of one to three bytes between set or clear positions, or one bit each. */
function listBytes(share: number): number {
  const fewer = Math.min(share, 1 - share)
  return Math.min(1 / 8, fewer * (1 + (1 - fewer) ** 128 + (1 - fewer) ** 16_384))
}
