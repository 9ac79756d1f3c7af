/**
 * Pure policy: chooses the tail of a segment, what stores its hashed pairs.
 *
 * P is chosen for usual documents. Those with several times as many pairs are *crowded*: as fingerprints they take
 * about as much space as P rows for their pairs would (22 bits each), which all other documents would have to have,
 * too. If usual documents have more pairs than any number of rows can tell apart, all have fingerprints.
 */
import { histogramOf, meanRowFalsePositiveRate } from '../../bloom/sizing.ts'
import type { Segment, SegmentParameters } from '../segment/segment.ts'
import { maxFingerprintBits, minFingerprintBits } from '../segment/tail/limits.ts'
import { upperFramesFor } from '../segment/upper-level.ts'
import { checkTuning, maxShards, minShards, type TuningChoices, type TuningOptions } from './tuning-options.ts'

export const defaultRowsPerPair = 8
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
/** For documents of which nothing is known: P, and the bits of fingerprints, which give that rate with two dozen pairs. */
const initialShards = 512
const initialFingerprintBits = 24

/** The tail's part of a segment's parameters. */
export type TailParameters = Pick<
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

/** Returns the tail for the first documents of a collection, of which nothing is known. */
export function initialTail(choices: TuningChoices): TailParameters {
  const { tail, shards, rowsPerPair } = checkTuning(choices)
  if (tail === 'fingerprint') return fingerprintTail(initialFingerprintBits)
  const P = shards === 'auto' ? initialShards : shards
  const r = rowsPerPair === 'auto' ? defaultRowsPerPair : rowsPerPair
  // What is usual is not known: only a document that would have 98 % of its bits set is certainly crowded.
  return { shards: P, rowsPerPair: r, crowdedPairs: Math.ceil((4 * P) / r), upperFrames: 0 }
}

/**
 * Returns a tail like that of the preceding segment. If that one is of another kind, it provides only the number of hashed
 * pairs.
 */
export function tailAfter(previous: Segment, options: TuningOptions): TailParameters {
  const initial = initialTail(options)
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
