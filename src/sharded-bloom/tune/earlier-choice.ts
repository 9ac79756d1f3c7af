/**
 * Parameters that were chosen for earlier documents, and whether they fit those to come: a sample tells that which is much too
 * small to choose private pairs by.
 *
 * Columns are chosen anew each time: a small sample is enough for them (ranges/choose-columns.ts).
 */
import { columnSteps } from '../ranges/choose-columns.ts'
import type { SegmentParameters } from '../segment/segment.ts'
import type { Sampler } from './sampler.ts'
import { meanOf, type TuningOptions } from './tuning.ts'

export interface EarlierChoice {
  readonly parameters: SegmentParameters
  /**
   * Hashed pairs of a document of the first segment that was built by them, on average. Those of the sample they were chosen from are
   * fewer, as its own frequent pairs are none of them.
   */
  readonly hashedPairs: number
}

/** Where the last choice is kept for those to come. */
export interface ChoiceKeeper {
  choice: EarlierChoice | undefined
}

/** Documents have so many more hashed pairs at most, or fewer: some frequent value is new, or a path, or one is gone. */
const maxGrowth = 1.03
const maxShrinking = 0.9
/** A pair of at least this share of a sample is frequent, however small the sample. */
const clearShare = 1 / 64

/** @returns undefined where they have to be chosen anew */
export function* fittingParametersSteps(
  sampler: Sampler,
  { parameters, hashedPairs }: EarlierChoice,
  { privateShare, rangeCodes }: TuningOptions
): Generator<void, SegmentParameters | undefined, void> {
  const mean = meanOf(yield* sampler.hashedPairsSteps(parameters.privatePairs))
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
