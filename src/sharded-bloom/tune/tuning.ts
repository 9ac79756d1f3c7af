/**
 * Pure policy: which parameters a segment gets.
 *
 * A pair in more than about 1/1024 of the documents is cheaper as an exact list than as hashed postings (24 bits each,
 * against some 12 for a gap) and is worth more: only exact rows prove a match. What remains is hashed into P rows.
 */
import { histogramOf, meanRowFalsePositiveRate } from '../../bloom/sizing.ts'
import { PetalError } from '../../model/errors.ts'
import { runInSlices, runSteps } from '../../model/time-slice.ts'
import { Tag } from '../pairs/pair-tags.ts'
import { columnSteps, type RangeCodes } from '../ranges/choose-columns.ts'
import type { HashedPair } from '../segment/private-table.ts'
import type { Segment, SegmentParameters } from '../segment/segment.ts'
import { upperFramesFor } from '../segment/upper-level.ts'
import type { Sampler } from './sampler.ts'

export interface TuningOptions {
  /** P, or 'auto'. */
  readonly shards: number | 'auto'
  /** r, or 'auto'. */
  readonly rowsPerPair: number | 'auto'
  /** Row bits spent on each hashed pair of a document. */
  readonly bitsPerPosting: number
  /** Which values are kept as columns. */
  readonly rangeCodes: RangeCodes
  /** A pair in at least this share of the documents gets a private row. */
  readonly privateShare: number
  /** False leaves the upper level out. */
  readonly upperLevel: boolean
}

/** As a caller gives them. */
export type TuningChoices = { readonly [K in keyof TuningOptions]?: TuningOptions[K] | undefined }

const rangeChoices: readonly RangeCodes[] = ['auto', 'numbers', 'all', 'none']
export const defaultRowsPerPair = 8
const defaultPrivateShare = 1 / 1024
const maxPrivateValues = 4096
const minShards = 64
const maxShards = 8192
/** The mean false-positive rate of one pair and document that uneven documents may raise P for, up to 1.5-fold. */
const targetFalsePositiveRate = 3e-5

/** Fills in defaults. @throws PetalError InvalidOptions naming the option and its limits */
export function checkTuning(options: TuningChoices): TuningOptions {
  const { shards = 'auto', rowsPerPair = 'auto', bitsPerPosting = 24, rangeCodes = 'auto' } = options
  const { privateShare = defaultPrivateShare, upperLevel = true } = options
  if (shards !== 'auto' && (!Number.isInteger(shards) || shards % 64 !== 0 || shards < 64 || shards > 8192)) {
    throw new PetalError('InvalidOptions', `shards must be a multiple of 64 from 64 to 8192 or 'auto', not ${shards}`)
  }
  if (rowsPerPair !== 'auto' && !(Number.isInteger(rowsPerPair) && rowsPerPair >= 1 && rowsPerPair <= 16)) {
    throw new PetalError('InvalidOptions', `rowsPerPair must be an integer from 1 to 16 or 'auto', not ${rowsPerPair}`)
  }
  if (!(bitsPerPosting >= 1 && bitsPerPosting <= 256)) {
    throw new PetalError('InvalidOptions', `bitsPerPosting must be from 1 to 256, not ${bitsPerPosting}`)
  }
  if (!rangeChoices.includes(rangeCodes)) {
    throw new PetalError('InvalidOptions', `rangeCodes must be one of ${rangeChoices.join(', ')}, not ${rangeCodes}`)
  }
  if (!(privateShare > 0 && privateShare <= 1)) {
    throw new PetalError('InvalidOptions', `privateShare must be above 0 and at most 1, not ${privateShare}`)
  }
  if (typeof upperLevel !== 'boolean') {
    throw new PetalError('InvalidOptions', `upperLevel must be true or false, not ${upperLevel}`)
  }
  return { shards, rowsPerPair, bitsPerPosting, rangeCodes, privateShare, upperLevel }
}

/** For the first documents of a collection, of which nothing is known. */
export function initialParameters(choices: TuningChoices): SegmentParameters {
  const { shards, rowsPerPair } = checkTuning(choices)
  return {
    shards: shards === 'auto' ? 512 : shards,
    rowsPerPair: rowsPerPair === 'auto' ? defaultRowsPerPair : rowsPerPair,
    privatePairs: [],
    columns: [],
    upperFrames: 0
  }
}

/**
 * For documents like those of the sample.
 * @param segmentDocuments M
 * @param earlier the segment of the documents before
 */
export function chooseParameters(
  sampler: Sampler,
  choices: TuningChoices,
  segmentDocuments: number,
  earlier?: Segment
): SegmentParameters {
  return runSteps(parameterSteps(sampler, choices, segmentDocuments, earlier))
}

/** As chooseParameters(), in slices. REQUIRES: nothing is sampled meanwhile. */
export function chooseParametersInSlices(
  sampler: Sampler,
  choices: TuningChoices,
  segmentDocuments: number,
  earlier?: Segment
): Promise<SegmentParameters> {
  return runInSlices(parameterSteps(sampler, choices, segmentDocuments, earlier))
}

/** A step takes less than two milliseconds. */
function* parameterSteps(
  sampler: Sampler,
  choices: TuningChoices,
  segmentDocuments: number,
  earlier: Segment | undefined
): Generator<void, SegmentParameters> {
  const options = checkTuning(choices)
  // Fewer than four occurrences say nothing about frequency.
  const minCount = Math.max(4, Math.ceil(sampler.size * options.privateShare))
  const privatePairs: readonly HashedPair[] = (yield* sampler.frequentSteps(minCount)).slice(0, maxPrivateValues)
  yield
  const rowsPerPair = options.rowsPerPair === 'auto' ? defaultRowsPerPair : options.rowsPerPair
  const perDocument = yield* sampler.hashedPairsSteps(privatePairs)
  yield
  const shards =
    options.shards === 'auto' ? chooseShards(perDocument, rowsPerPair, options.bitsPerPosting) : options.shards
  yield
  const columns = yield* columnSteps(sampler, options.rangeCodes, earlier?.columnSpecs)
  return {
    shards,
    rowsPerPair,
    privatePairs: privatePairs.map(({ path, tag, key, lo, hi }) => ({ path, tag, key, lo, hi })),
    columns,
    upperFrames: options.upperLevel ? upperFramesFor(meanOf(perDocument), segmentDocuments) : 0
  }
}

/** P for documents like those counted. @param perDocument hashed pairs of each */
export function chooseShards(perDocument: ArrayLike<number>, rowsPerPair: number, bitsPerPosting: number): number {
  let shards = roundShards(bitsPerPosting * meanOf(perDocument))
  const limit = Math.min(maxShards, shards * 1.5)
  const histogram = histogramOf(perDocument)
  while (shards + 64 <= limit && meanRowFalsePositiveRate(histogram, shards, rowsPerPair) > targetFalsePositiveRate) {
    shards += 64
  }
  return shards
}

function meanOf(counts: ArrayLike<number>): number {
  let sum = 0
  for (let i = 0; i < counts.length; i++) sum += counts[i]!
  return sum / Math.max(1, counts.length)
}

function roundShards(shards: number): number {
  return Math.min(maxShards, Math.max(minShards, Math.ceil(shards / 64) * 64))
}

/** For a segment after one of which no sufficient sample was taken: what that one had. */
export function parametersAfter(previous: Segment, options: TuningOptions): SegmentParameters {
  const initial = initialParameters(options)
  const values = previous.privatePairs().filter((pair) => pair.tag <= Tag.size)
  return {
    shards: options.shards === 'auto' ? previous.shards : initial.shards,
    rowsPerPair: options.rowsPerPair === 'auto' ? previous.rowsPerPair : initial.rowsPerPair,
    privatePairs: values.slice(0, maxPrivateValues),
    columns: previous.columnSpecs.map(({ path, type, prefix, template }) => ({ path, type, prefix, template })),
    upperFrames: options.upperLevel ? previous.upperFrames : 0
  }
}

/** Rows half full: the false-positive rate is then 2^−r, far from what the rows were chosen for. */
export function isOverfull(hashedPairsPerDocument: number, shards: number, rowsPerPair: number): boolean {
  return 1 - Math.exp((-rowsPerPair * hashedPairsPerDocument) / shards) > 0.5
}
