/**
 * Chooses parameters: predicts every candidate, builds the promising ones over a sample, runs the queries on them, and
 * decides which one to take.
 */
import { histogramOf } from '../../bloom/sizing.ts'
import { throwIfAborted } from '../../model/errors.ts'
import type { Document } from '../../model/types.ts'
import type { IndexTuning } from '../document-index.ts'
import { type Candidate, candidateGrid, choicesOf } from './candidates.ts'
import { Forecasts } from './forecasts.ts'
import { measure } from './measure.ts'
import { type Contender, choose, type Goal, shortlist } from './policy.ts'
import { probesOf, selectQueries, type TuneQuery, termsOf } from './queries.ts'
import { adviceFor, reasonFor } from './reason.ts'
import { TuneSample } from './sample.ts'
import { defaultRowsPerPair } from './tail-parameters.ts'
import { findTruth } from './truth.ts'
import type { TuneChoice, TuneResult } from './tune-result.ts'

export interface TuneRequest {
  /** In ordinal order, at least minTuneDocuments. */
  readonly documents: readonly Document[]
  /** If empty, probes are used in their place. */
  readonly queries: readonly TuneQuery[]
  /** The tuning in force. */
  readonly present: IndexTuning
  readonly goal: Goal
  readonly signal?: AbortSignal | undefined
  readonly onProgress?: ((progress: TuneProgress) => void) | undefined
}

/** Candidates built so far, and the total number to build. */
export interface TuneProgress {
  readonly built: number
  readonly total: number
}

/** The result; the caller decides whether to store it. */
export type Tuned = Omit<TuneResult, 'stored' | 'goal'>

/** With fewer documents, frequencies and variance cannot be estimated. */
export const minTuneDocuments = 256
const maxBuilt = 8
/** Sample size for predicting the whole grid; candidates that are built are predicted over the whole sample. */
const predictedDocuments = 4096
/** An index with another M is worth building if it takes at most this share of the bytes. */
const worthwhileShare = 0.97

export async function tuneIndex(request: TuneRequest): Promise<Tuned> {
  const { goal, signal, onProgress } = request
  const present = presentCandidate(request.present)
  const sample = await TuneSample.of(request.documents, request.present.hash, signal)
  const grid = candidateGrid(present)
  // The truth's private rows include every candidate's, so that predictions only remove rows.
  const privateShare = Math.min(...grid.map((candidate) => candidate.privateShare))
  const base = sample.parameters({ ...choicesOf(present), privateShare }, present.segmentDocuments)
  const given = selectQueries(request.queries)
  const isPrivate = new Set(base.privatePairs.map(({ lo }) => lo))
  const queries = given.length > 0 ? given : probesOf(sample, (pair) => isPrivate.has(pair.lo))
  const truth = await findTruth(sample, queries, base, present.segmentDocuments, signal)

  const forecasts = await Forecasts.of(sample, queries, truth, [...grid, smallerSegments(present)], signal)
  const stride = Math.max(1, Math.ceil(sample.size / predictedDocuments))
  const predicted: Contender[] = []
  for (const candidate of grid) {
    throwIfAborted(signal)
    predicted.push(await forecasts.forecast(candidate, forecasts.estimateParameters(candidate), stride))
  }

  const built = shortlist(predicted, goal, 0, maxBuilt).map((i) => grid[i]!)
  const smaller = smallerSegments(built[1] ?? present)
  if (smaller.segmentDocuments !== present.segmentDocuments) built.push(smaller)
  const choices: TuneChoice[] = []
  for (const candidate of built) {
    const { segmentDocuments } = candidate
    const parameters = sample.parameters(choicesOf(candidate), segmentDocuments)
    choices.push({
      ...candidate,
      shards: parameters.shards,
      bitsPerId: 1,
      privatePairs: parameters.privatePairs.length,
      isPresent: candidate === present,
      needsNewIndex: segmentDocuments !== present.segmentDocuments,
      predicted: await forecasts.forecast(candidate, parameters, 1),
      measured: await measure(sample, parameters, segmentDocuments, queries, truth, signal)
    })
    onProgress?.({ built: choices.length, total: built.length })
  }
  const terms = queries.reduce((sum, { bounds }) => sum + termsOf(bounds).length, 0)
  return {
    sample: { documents: sample.size, hashedPairs: summaryOf(forecasts.hashedPairs(present)) },
    queries: {
      given: request.queries.length,
      tried: queries.length,
      terms: terms / Math.max(1, queries.length),
      areProbes: given.length === 0
    },
    considered: grid.length + choices.filter((choice) => choice.needsNewIndex).length,
    choices,
    ...decide(choices, goal)
  }
}

/** Decides which of the built choices to take; those that need a new index are only recommended. */
function decide(choices: readonly TuneChoice[], goal: Goal): Pick<Tuned, 'taken' | 'ground' | 'reason'> {
  const eligible = choices.filter((choice) => !choice.needsNewIndex)
  const contenders = eligible.map(contenderOf)
  const { taken, ground } = choose(
    contenders,
    goal,
    eligible.findIndex((choice) => choice.isPresent)
  )
  const contender = contenders[taken]!
  const sentences = [reasonFor(ground, contender, goal)]
  for (const other of choices) {
    if (!other.needsNewIndex) continue
    const alternative = contenderOf(other)
    const isSmaller = alternative.bytesPerDocument < contender.bytesPerDocument * worthwhileShare
    const isAsExact = alternative.falsePositiveRate <= Math.max(contender.falsePositiveRate, goal.targetFpr ?? 0)
    if (isSmaller && isAsExact) sentences.push(adviceFor(other.segmentDocuments, contender, alternative))
  }
  return { taken: choices.indexOf(eligible[taken]!), ground, reason: sentences.join(' ') }
}

/** Uses the measurement if it has seen enough, otherwise the prediction. */
function contenderOf({ predicted, measured }: TuneChoice): Contender {
  const { bytesPerDocument, isTelling, falsePositiveRate } = measured
  return {
    bytesPerDocument,
    reads: predicted.reads,
    falsePositiveRate: isTelling ? falsePositiveRate : predicted.falsePositiveRate
  }
}

function presentCandidate(tuning: IndexTuning): Candidate {
  const { tail, shards, bitsPerPosting, privateShare, upperLevel, segmentDocuments } = tuning
  const rowsPerPair = tuning.rowsPerPair === 'auto' ? defaultRowsPerPair : tuning.rowsPerPair
  return { tail, shards, rowsPerPair, bitsPerPosting, privateShare, upperLevel, segmentDocuments }
}

/** The same candidate with segments a quarter as large, unless these would be too small to consider. */
function smallerSegments(candidate: Candidate): Candidate {
  const segmentDocuments = candidate.segmentDocuments / 4
  return segmentDocuments >= 4096 ? { ...candidate, segmentDocuments } : candidate
}

function summaryOf(hashedPairs: Uint32Array): TuneResult['sample']['hashedPairs'] {
  const sorted = hashedPairs.slice().sort()
  const at = (share: number): number => sorted[Math.floor(share * (sorted.length - 1))] ?? 0
  return {
    mean: hashedPairs.reduce((sum, pairs) => sum + pairs, 0) / Math.max(1, hashedPairs.length),
    median: at(0.5),
    percentile99: at(0.99),
    most: at(1),
    documents: Array.from(histogramOf(hashedPairs))
  }
}
