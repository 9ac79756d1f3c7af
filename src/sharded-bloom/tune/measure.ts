/** Measures a candidate: builds it over the sample and runs the queries. */
import { nextTurn } from '../../model/time-slice.ts'
import type { SegmentParameters } from '../segment/segment.ts'
import type { TuneQuery } from './queries.ts'
import type { TuneSample } from './sample.ts'
import { Trial, type TrialBytes } from './trial.ts'
import { countBits, type Truth } from './truth.ts'

/** What an index with a choice of parameters, built over the sample, costs. */
export interface Measured {
  readonly bytesPerDocument: number
  readonly bytes: TrialBytes
  /** Per query and document, averaged over the weighted queries. */
  readonly falsePositiveRate: number
  /** In the sample, over all queries. */
  readonly falsePositives: number
  /** False when they are too few to rule out chance. */
  readonly isTelling: boolean
  /** Time a query spends in the index of a million documents, warm and undisturbed, excluding fetches of documents. */
  readonly microseconds: number
}

const tellingCount = 10
/** The first round loads rows into memory and does not count. */
const rounds = 12

/** @param segmentDocuments M */
export async function measure(
  sample: TuneSample,
  parameters: SegmentParameters,
  segmentDocuments: number,
  queries: readonly TuneQuery[],
  truth: Truth,
  signal?: AbortSignal
): Promise<Measured> {
  const trial = await Trial.build(sample, parameters, segmentDocuments, signal)
  try {
    let falsePositives = 0
    let weighted = 0
    let weights = 0
    let milliseconds = 0
    for (const [i, { bounds, weight }] of queries.entries()) {
      const found = trial.evaluate(bounds).reduce((sum, { upperCount }) => sum + upperCount, 0)
      const wrong = found - countBits(truth.queries[i]!)
      falsePositives += wrong
      weighted += (weight * wrong) / sample.size
      weights += weight
      const times: number[] = []
      for (let round = 1; round < rounds; round++) {
        const start = performance.now()
        trial.evaluate(bounds)
        times.push(performance.now() - start)
      }
      milliseconds += weight * Math.min(...times)
      await nextTurn()
    }
    const perSegment = (milliseconds * 1000) / Math.max(1, weights) / trial.segments
    return {
      bytesPerDocument: trial.bytes.total,
      bytes: trial.bytes,
      falsePositiveRate: weighted / Math.max(Number.MIN_VALUE, weights),
      falsePositives,
      isTelling: falsePositives >= tellingCount,
      microseconds: perSegment * (1e6 / segmentDocuments)
    }
  } finally {
    trial.free()
  }
}
