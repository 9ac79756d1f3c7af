/** The choices that an index's owner may make about the parameters of its segments, and their limits. */
import { invalidOption } from '../../model/invalid-option.ts'
import type { RangeCodes } from '../ranges/choose-columns.ts'
import type { TailKind } from '../segment/tail/tail.ts'

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
const defaultPrivateShare = 1 / 1024
export const minShards = 64
export const maxShards = 8192

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
function checkTailChoice(tail: unknown): void {
  if (tail === undefined || tailChoices.some((choice) => choice === tail)) return
  throw invalidOption('tail', "'bloom' or 'fingerprint'", tail)
}

function isBetween(value: unknown, least: number, greatest: number): boolean {
  return typeof value === 'number' && value >= least && value <= greatest
}
