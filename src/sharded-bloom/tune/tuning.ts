/**
 * Pure policy: chooses the parameters of a segment.
 *
 * A pair in more than about 1/1024 of the documents is cheaper as an exact list than as hashed postings (24 bits each,
 * versus some 12 for a gap) and more useful: only exact rows prove a match. All other pairs are hashed into P rows.
 *
 * P is chosen for usual documents. Those with several times as many pairs are *crowded*: as fingerprints they take
 * about as much space as P rows for their pairs would (22 bits each), which all other documents would have to have,
 * too. If usual documents have more pairs than any number of rows can tell apart, all have fingerprints.
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
/** A document with more than this multiple of the mean is unusual. */
const unusualMultiple = 4
/** When the last documents of a sample have more than this multiple, those to come will have, too. */
const changedMultiple = 2
const recentShare = 1 / 8
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
  const P = shards === 'auto' ? 512 : shards
  const r = rowsPerPair === 'auto' ? defaultRowsPerPair : rowsPerPair
  return {
    shards: P,
    rowsPerPair: r,
    // What is usual is not known: only a document that would have 98 % of its bits set is certainly crowded.
    crowdedPairs: Math.ceil((4 * P) / r),
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
type TailParameters = Pick<
  SegmentParameters,
  'shards' | 'rowsPerPair' | 'upperFrames' | 'fingerprintBits' | 'crowdedPairs'
>

type TailOptions = Pick<TuningOptions, 'tail' | 'shards' | 'rowsPerPair' | 'bitsPerPosting' | 'upperLevel'>

/** @param perDocument number of hashed pairs of each document in a sample */
export function chooseTail(
  options: TailOptions,
  perDocument: ArrayLike<number>,
  segmentDocuments: number
): TailParameters {
  const { tail, bitsPerPosting, upperLevel } = options
  const usual = usualPairs(perDocument)
  const rowsPerPair = options.rowsPerPair === 'auto' ? defaultRowsPerPair : options.rowsPerPair
  if (tail === 'fingerprint' || areTooMany(usual, rowsPerPair, options)) {
    return fingerprintTail(chooseFingerprintBits(meanOf(perDocument)))
  }
  const shards =
    options.shards === 'auto' ? chooseShards(perDocument, rowsPerPair, bitsPerPosting, usual) : options.shards
  return {
    shards,
    rowsPerPair,
    crowdedPairs: crowdedPairsFor(shards, rowsPerPair, usual),
    upperFrames: upperLevel ? upperFramesFor(usual, segmentDocuments) : 0
  }
}

/** Whether usual documents would have more than half of their bits set even in as many rows as there may be. */
function areTooMany(usual: number, rowsPerPair: number, { shards }: Pick<TuningOptions, 'shards'>): boolean {
  return shards === 'auto' && rowsPerPair * usual > Math.LN2 * maxShards
}

/** A fingerprint tail has neither rows nor an upper level. */
function fingerprintTail(fingerprintBits: number): TailParameters {
  return { shards: 0, rowsPerPair: 1, upperFrames: 0, fingerprintBits }
}

/** Chooses P for documents like those counted. @param perDocument number of hashed pairs of each */
export function chooseShards(
  perDocument: ArrayLike<number>,
  rowsPerPair: number,
  bitsPerPosting: number,
  usual = usualPairs(perDocument)
): number {
  let shards = roundShards(bitsPerPosting * usual)
  const limit = Math.min(maxShards, shards * 1.5)
  const histogram = histogramOf(perDocument)
  const isTooHigh = (): boolean => {
    const inRows = histogram.subarray(0, crowdedPairsFor(shards, rowsPerPair, usual) + 1)
    return meanRowFalsePositiveRate(inRows, shards, rowsPerPair) > targetFalsePositiveRate
  }
  while (shards + 64 <= limit && isTooHigh()) shards += 64
  return shards
}

/**
 * Number of pairs of a usual document.
 * @param perDocument in the order in which documents were written: they may have changed
 */
export function usualPairs(perDocument: ArrayLike<number>): number {
  const counts = Array.from(perDocument)
  const ofAll = usualMean(counts)
  const recent = usualMean(counts.slice(-Math.ceil(counts.length * recentShare)))
  return recent > changedMultiple * ofAll ? recent : ofAll
}

/** Mean of the documents that do not have several times as many pairs as this mean. */
function usualMean(counts: readonly number[]): number {
  const mean = meanOf(counts)
  const usual = counts.filter((pairs) => pairs <= unusualMultiple * mean)
  return usual.length === counts.length ? mean : usualMean(usual)
}

/**
 * Number of hashed pairs above which a document is crowded: more than half of its bits would be set, and it is unusual.
 * @param usual mean of usual documents
 */
function crowdedPairsFor(shards: number, rowsPerPair: number, usual: number): number {
  return Math.ceil(Math.max((Math.LN2 * shards) / rowsPerPair, unusualMultiple * usual))
}

/**
 * Chooses H for documents with this many hashed pairs. A document with n of them is found for a pair that it does not
 * have with probability n/2^H: only the mean matters, however uneven documents are.
 */
function chooseFingerprintBits(pairsPerDocument: number): number {
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
  const { fingerprintBits } = previous
  const mean = meanHashedPairs(previous)
  if (options.tail === 'fingerprint' || areTooMany(mean, initial.rowsPerPair, options)) {
    return fingerprintTail(fingerprintBits ?? chooseFingerprintBits(mean))
  }
  if (fingerprintBits !== undefined) {
    const { rowsPerPair } = initial
    const shards = options.shards === 'auto' ? roundShards(options.bitsPerPosting * mean) : initial.shards
    return { shards, rowsPerPair, crowdedPairs: crowdedPairsFor(shards, rowsPerPair, mean), upperFrames: 0 }
  }
  const shards = options.shards === 'auto' ? previous.shards : initial.shards
  const rowsPerPair = options.rowsPerPair === 'auto' ? previous.rowsPerPair : initial.rowsPerPair
  return {
    shards,
    rowsPerPair,
    crowdedPairs: crowdedPairsFor(shards, rowsPerPair, mean),
    upperFrames: options.upperLevel ? previous.upperFrames : 0
  }
}

/** Mean number of hashed pairs of the documents that are not crowded. */
export function meanHashedPairs({ hashedPairs, documents, crowdedDocuments }: HashedPairCounts): number {
  return hashedPairs / Math.max(1, documents - crowdedDocuments)
}

type HashedPairCounts = Pick<Segment, 'hashedPairs' | 'documents' | 'crowdedDocuments'>
