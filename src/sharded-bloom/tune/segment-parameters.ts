/**
 * Pure policy: chooses the parameters of a segment.
 *
 * A pair in more than about 1/1024 of the documents is cheaper as an exact list than as hashed postings (24 bits each,
 * versus some 12 for a gap) and more useful: only exact rows prove a match. All other pairs are hashed into P rows.
 */
import { runInSlices, runSteps } from '../../model/time-slice.ts'
import { Tag } from '../pairs/pair-tags.ts'
import { columnSteps } from '../ranges/choose-columns.ts'
import { type ColumnSpec, plainSpec } from '../ranges/column-spec.ts'
import type { HashedPair } from '../segment/private-table.ts'
import type { Segment, SegmentParameters } from '../segment/segment.ts'
import type { Sampler } from './sampler.ts'
import { chooseTail, initialTail, tailAfter } from './tail-parameters.ts'
import { checkTuning, type TuningChoices, type TuningOptions } from './tuning-options.ts'

const maxPrivateValues = 4096

/** Returns parameters for the first documents of a collection, of which nothing is known. */
export function initialParameters(choices: TuningChoices): SegmentParameters {
  return { ...initialTail(choices), privatePairs: [], columns: [] }
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

/** Parameters for a segment whose predecessor was not sufficiently sampled: those of the predecessor. */
export function parametersAfter(
  previous: Segment,
  options: TuningOptions,
  pairs = previous.privatePairs()
): SegmentParameters {
  const values = pairs.filter((pair) => pair.tag <= Tag.size)
  return {
    ...tailAfter(previous, options),
    privatePairs: values.slice(0, maxPrivateValues),
    columns: previous.columnSpecs.map(plainSpec)
  }
}
