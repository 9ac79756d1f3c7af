/**
 * Parameters chosen for earlier documents, and whether they still fit. A sample that is much too small for choosing
 * private pairs suffices to tell.
 *
 * Columns are always chosen anew: a small sample suffices for them (ranges/choose-columns.ts).
 */
import { columnSteps } from '../ranges/choose-columns.ts'
import type { SegmentParameters } from '../segment/segment.ts'
import type { Sampler } from './sampler.ts'
import { meanOf } from './tail-parameters.ts'
import type { TuningOptions } from './tuning-options.ts'

export interface EarlierChoice {
  readonly parameters: SegmentParameters
  /**
   * Average number of hashed pairs per document that is not crowded in the first segment built with them. In the
   * sample they were chosen from it is smaller, because none of the sample's own frequent pairs is hashed.
   */
  readonly hashedPairs: number
}

/** Keeps the last choice for later segments. */
export interface ChoiceKeeper {
  choice: EarlierChoice | undefined
}

/** Limits on the ratio of hashed pairs per document. Beyond them, some frequent value or path is new, or gone. */
const maxGrowth = 1.03
const maxShrinking = 0.9
/** A pair in at least this share of a sample is frequent, however small the sample. */
const clearShare = 1 / 64

/** @returns undefined when parameters have to be chosen anew */
export function* fittingParametersSteps(
  sampler: Sampler,
  { parameters, hashedPairs }: EarlierChoice,
  { privateShare, rangeCodes }: TuningOptions
): Generator<void, SegmentParameters | undefined, void> {
  const { crowdedPairs = Number.POSITIVE_INFINITY } = parameters
  const perDocument = yield* sampler.hashedPairsSteps(parameters.privatePairs)
  const mean = meanOf(perDocument.filter((pairs) => pairs <= crowdedPairs))
  if (mean > maxGrowth * hashedPairs || mean < maxShrinking * hashedPairs) return undefined
  yield
  const known = new Set(parameters.privatePairs.map(({ lo }) => lo))
  const share = Math.max(clearShare, 2 * privateShare)
  const frequent = yield* sampler.frequentSteps(Math.ceil(share * sampler.size))
  if (!frequent.every(({ lo }) => known.has(lo))) return undefined
  yield
  const columns = yield* columnSteps(sampler, rangeCodes, parameters.columns)
  return { ...parameters, columns }
}
