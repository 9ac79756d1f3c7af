/**
 * Pure policy: chooses the parameters of a segment.
 *
 * A pair in more than about 1/1024 of the documents is cheaper as an exact list than as hashed postings (24 bits each,
 * versus some 12 for a gap) and more useful: only exact rows prove a match. All other pairs are hashed into P rows.
 */
import { histogramOf, meanRowFalsePositiveRate } from '../../bloom/sizing.ts'
import { invalidOption } from '../../model/invalid-option.ts'
import { runInSlices, runSteps } from '../../model/time-slice.ts'
import { Tag } from '../pairs/pair-tags.ts'
import { columnSteps, type RangeCodes } from '../ranges/choose-columns.ts'
import { type ColumnSpec, plainSpec } from '../ranges/column-spec.ts'
import type { HashedPair } from '../segment/private-table.ts'
import type { Segment, SegmentParameters } from '../segment/segment.ts'
import { maxFingerprintBits, minFingerprintBits } from '../segment/tail/limits.ts'
import type { TailKind } from '../segment/tail/tail.ts'
import { upperFramesFor } from '../segment/upper-level.ts'
import type { Sampler } from './sampler.ts'

export interface TuningOptions {
  /**
   * What stores hashed pairs (see segment/tail/). A fingerprint tail ignores the options below, except for ranges and
   * private pairs.
   */
  readonly tail: TailKind
  /** P, or 'auto'. */
  readonly shards: number | 'auto'
  /** r, or 'auto'. */
  readonly rowsPerPair: number | 'auto'
  /** Row bits per hashed pair of a document. */
  readonly bitsPerPosting: number
  /** Which values are kept as columns. */
  readonly rangeCodes: RangeCodes
  /** A pair in at least this share of the documents gets a private row. */
  readonly privateShare: number
  /** False leaves the upper level out. */
  readonly upperLevel: boolean
}

/** The options as given by a caller. */
export type TuningChoices = { readonly [K in keyof TuningOptions]?: TuningOptions[K] | undefined }

const tailChoices: readonly TailKind[] = ['bloom', 'fingerprint']
const rangeChoices: readonly RangeCodes[] = ['auto', 'numbers', 'all', 'none']
export const defaultRowsPerPair = 8
const defaultPrivateShare = 1 / 1024
const maxPrivateValues = 4096
const minShards = 64
const maxShards = 8192
/** Mean false-positive rate per pair and document above which P is raised, up to 1.5-fold, for uneven documents. */
const targetFalsePositiveRate = 3e-5
/**
 * Maximum mean rate for fingerprints. The actual rate is at least half of it, since H is an integer. About a tenth more
 * bits per pair would reduce it to a tenth.
 */
const targetFingerprintRate = 1.5e-6
/** For documents of which nothing is known: gives that rate with two dozen hashed pairs. */
const initialFingerprintBits = 24

/** Fills in defaults. @throws PetalError InvalidOptions naming the option and its limits */
export function checkTuning(options: TuningChoices): TuningOptions {
  const { shards = 'auto', rowsPerPair = 'auto', bitsPerPosting = 24, rangeCodes = 'auto' } = options
  const { privateShare = defaultPrivateShare, upperLevel = true, tail = 'bloom' } = options
  checkTailChoice(tail)
  if (
    shards !== 'auto' &&
    (!Number.isInteger(shards) || shards % 64 !== 0 || shards < minShards || shards > maxShards)
  ) {
    throw invalidOption('shards', `a multiple of 64 from ${minShards} to ${maxShards} or 'auto'`, shards)
  }
  if (rowsPerPair !== 'auto' && !(Number.isInteger(rowsPerPair) && rowsPerPair >= 1 && rowsPerPair <= 16)) {
    throw invalidOption('rowsPerPair', "an integer from 1 to 16 or 'auto'", rowsPerPair)
  }
  if (!isBetween(bitsPerPosting, 1, 256)) throw invalidOption('bitsPerPosting', 'from 1 to 256', bitsPerPosting)
  if (!rangeChoices.includes(rangeCodes)) {
    throw invalidOption('rangeCodes', `one of ${rangeChoices.join(', ')}`, rangeCodes)
  }
  if (!isBetween(privateShare, Number.MIN_VALUE, 1)) {
    throw invalidOption('privateShare', 'above 0 and at most 1', privateShare)
  }
  if (typeof upperLevel !== 'boolean') throw invalidOption('upperLevel', 'true or false', upperLevel)
  return { tail, shards, rowsPerPair, bitsPerPosting, rangeCodes, privateShare, upperLevel }
}

/** @throws PetalError InvalidOptions for an unknown tail */
export function checkTailChoice(tail: unknown): void {
  if (tail === undefined || tailChoices.some((choice) => choice === tail)) return
  throw invalidOption('tail', "'bloom' or 'fingerprint'", tail)
}

function isBetween(value: unknown, least: number, greatest: number): boolean {
  return typeof value === 'number' && value >= least && value <= greatest
}

/** Returns parameters for the first documents of a collection, of which nothing is known. */
export function initialParameters(choices: TuningChoices): SegmentParameters {
  const { tail, shards, rowsPerPair } = checkTuning(choices)
  if (tail === 'fingerprint') return { ...fingerprintTail(initialFingerprintBits), privatePairs: [], columns: [] }
  return {
    shards: shards === 'auto' ? 512 : shards,
    rowsPerPair: rowsPerPair === 'auto' ? defaultRowsPerPair : rowsPerPair,
    privatePairs: [],
    columns: [],
    upperFrames: 0
  }
}

/**
 * Returns parameters for documents like those of the sample.
 * @param segmentDocuments M
 * @param earlier columns of the preceding segment
 */
export function chooseParameters(
  sampler: Sampler,
  choices: TuningChoices,
  segmentDocuments: number,
  earlier?: readonly ColumnSpec[]
): SegmentParameters {
  return runSteps(parameterSteps(sampler, choices, segmentDocuments, earlier))
}

/** As chooseParameters(), in slices. REQUIRES: nothing is sampled meanwhile. */
export function chooseParametersInSlices(
  sampler: Sampler,
  choices: TuningChoices,
  segmentDocuments: number,
  earlier?: readonly ColumnSpec[]
): Promise<SegmentParameters> {
  return runInSlices(parameterSteps(sampler, choices, segmentDocuments, earlier))
}

/** Each step takes less than two milliseconds. */
function* parameterSteps(
  sampler: Sampler,
  choices: TuningChoices,
  segmentDocuments: number,
  earlier: readonly ColumnSpec[] | undefined
): Generator<void, SegmentParameters> {
  const options = checkTuning(choices)
  // Fewer than four occurrences say nothing about frequency.
  const minCount = Math.max(4, Math.ceil(sampler.size * options.privateShare))
  const privatePairs: readonly HashedPair[] = (yield* sampler.frequentSteps(minCount)).slice(0, maxPrivateValues)
  yield
  const perDocument = yield* sampler.hashedPairsSteps(privatePairs)
  yield
  const tail = chooseTail(options, perDocument, segmentDocuments)
  yield
  const columns = yield* columnSteps(sampler, options.rangeCodes, earlier)
  return {
    ...tail,
    privatePairs: privatePairs.map(({ path, tag, key, lo, hi }) => ({ path, tag, key, lo, hi })),
    columns
  }
}

/** The tail's part of a segment's parameters. */
type TailParameters = Pick<SegmentParameters, 'shards' | 'rowsPerPair' | 'upperFrames' | 'fingerprintBits'>

/** @param perDocument number of hashed pairs of each document in a sample */
function chooseTail(options: TuningOptions, perDocument: ArrayLike<number>, segmentDocuments: number): TailParameters {
  const { tail, bitsPerPosting, upperLevel } = options
  const mean = meanOf(perDocument)
  if (tail === 'fingerprint') return fingerprintTail(chooseFingerprintBits(mean))
  const rowsPerPair = options.rowsPerPair === 'auto' ? defaultRowsPerPair : options.rowsPerPair
  return {
    shards: options.shards === 'auto' ? chooseShards(perDocument, rowsPerPair, bitsPerPosting) : options.shards,
    rowsPerPair,
    upperFrames: upperLevel ? upperFramesFor(mean, segmentDocuments) : 0
  }
}

/** A fingerprint tail has neither rows nor an upper level. */
export function fingerprintTail(fingerprintBits: number): TailParameters {
  return { shards: 0, rowsPerPair: 1, upperFrames: 0, fingerprintBits }
}

/** Chooses P for documents like those counted. @param perDocument number of hashed pairs of each */
export function chooseShards(perDocument: ArrayLike<number>, rowsPerPair: number, bitsPerPosting: number): number {
  let shards = roundShards(bitsPerPosting * meanOf(perDocument))
  const limit = Math.min(maxShards, shards * 1.5)
  const histogram = histogramOf(perDocument)
  while (shards + 64 <= limit && meanRowFalsePositiveRate(histogram, shards, rowsPerPair) > targetFalsePositiveRate) {
    shards += 64
  }
  return shards
}

/**
 * Chooses H for documents with this many hashed pairs. A document with n of them is found for a pair that it does not
 * have with probability n/2^H: only the mean matters, however uneven documents are.
 */
export function chooseFingerprintBits(pairsPerDocument: number): number {
  const bits = Math.ceil(Math.log2(Math.max(1, pairsPerDocument) / targetFingerprintRate))
  return Math.min(maxFingerprintBits, Math.max(minFingerprintBits, bits))
}

export function meanOf(counts: ArrayLike<number>): number {
  let sum = 0
  for (let i = 0; i < counts.length; i++) sum += counts[i]!
  return sum / Math.max(1, counts.length)
}

function roundShards(shards: number): number {
  return Math.min(maxShards, Math.max(minShards, Math.ceil(shards / 64) * 64))
}

/** Parameters for a segment whose predecessor was not sufficiently sampled: those of the predecessor. */
export function parametersAfter(
  previous: Segment,
  options: TuningOptions,
  pairs = previous.privatePairs()
): SegmentParameters {
  const initial = initialParameters(options)
  const values = pairs.filter((pair) => pair.tag <= Tag.size)
  return {
    ...tailAfter(previous, options, initial),
    privatePairs: values.slice(0, maxPrivateValues),
    columns: previous.columnSpecs.map(plainSpec)
  }
}

/** A predecessor with another kind of tail provides only the number of hashed pairs. */
function tailAfter(previous: Segment, options: TuningOptions, initial: SegmentParameters): TailParameters {
  const { hashedPairs, documents, fingerprintBits } = previous
  const mean = hashedPairs / Math.max(1, documents)
  const { shards, rowsPerPair } = initial
  if (options.tail === 'fingerprint') {
    return fingerprintTail(fingerprintBits ?? chooseFingerprintBits(mean))
  }
  if (fingerprintBits !== undefined) {
    const chosen = options.shards === 'auto' ? roundShards(options.bitsPerPosting * mean) : shards
    return { shards: chosen, rowsPerPair, upperFrames: 0 }
  }
  return {
    shards: options.shards === 'auto' ? previous.shards : shards,
    rowsPerPair: options.rowsPerPair === 'auto' ? previous.rowsPerPair : rowsPerPair,
    upperFrames: options.upperLevel ? previous.upperFrames : 0
  }
}

/**
 * True when rows are half full or more: the false-positive rate is then 2^−r, far from what the rows were chosen for.
 * Without rows, with fingerprints, the rate only grows linearly with the pairs.
 */
export function isOverfull(hashedPairsPerDocument: number, shards: number, rowsPerPair: number): boolean {
  if (shards === 0) return false
  return 1 - Math.exp((-rowsPerPair * hashedPairsPerDocument) / shards) > 0.5
}
