/** Predictions for candidates, from counts taken over the sample once. */
import { nextTurn } from '../../model/time-slice.ts'
import type { SegmentParameters } from '../segment/segment.ts'
import { type Candidate, choicesOf } from './candidates.ts'
import type { Contender } from './policy.ts'
import { predictedBytes, predictedWork } from './predict.ts'
import type { TuneQuery } from './queries.ts'
import type { PairCounts, TuneSample } from './sample.ts'
import { chooseTail } from './tail-parameters.ts'
import { countBits, type Truth } from './truth.ts'

/** Minimum occurrences in the sample of pairs that may be private. */
const minOccurrences = 4
/** Number of documents that P is chosen from while there are many candidates. */
const roughDocuments = 1024

interface Share {
  readonly parameters: SegmentParameters
  readonly isPrivate: ReadonlySet<number>
  /** Number of hashed pairs of each document. */
  readonly hashedPairs: Uint32Array
}

export class Forecasts {
  readonly #queries: readonly TuneQuery[]
  readonly #truth: Truth
  /** Share of the documents that have a pair, for pairs that may be private. */
  readonly #frequency = new Map<number, number>()
  readonly #shares: ReadonlyMap<number, Share>
  readonly #distinctInGroups: ReadonlyMap<number, readonly number[]>

  private constructor(
    sample: TuneSample,
    queries: readonly TuneQuery[],
    truth: Truth,
    shares: ReadonlyMap<number, Share>,
    distinctInGroups: ReadonlyMap<number, readonly number[]>
  ) {
    this.#queries = queries
    this.#truth = truth
    this.#shares = shares
    this.#distinctInGroups = distinctInGroups
    for (const { lo, count } of sample.sampler.frequent(minOccurrences))
      this.#frequency.set(lo, count / sample.sampler.size)
    for (const { hash, upper } of truth.terms.values()) {
      if (hash !== undefined) this.#frequency.set(hash, countBits(upper) / sample.size)
    }
  }

  /** Counts everything in which the candidates differ. */
  static async of(
    sample: TuneSample,
    queries: readonly TuneQuery[],
    truth: Truth,
    candidates: readonly Candidate[],
    signal?: AbortSignal
  ): Promise<Forecasts> {
    const representatives = new Map(candidates.map((candidate) => [candidate.privateShare, candidate]))
    const parameters: SegmentParameters[] = []
    for (const candidate of representatives.values()) {
      parameters.push(sample.parameters(choicesOf(candidate), candidate.segmentDocuments))
      await nextTurn()
    }
    const sets = parameters.map(({ privatePairs }) => new Set(privatePairs.map(({ lo }) => lo)))
    const sizes = [...new Set(candidates.map(({ segmentDocuments }) => segmentDocuments))]
    const counts: PairCounts = await sample.count(sets, sizes, signal)
    const shares = [...representatives.keys()].map((share, i): readonly [number, Share] => {
      return [share, { parameters: parameters[i]!, isPrivate: sets[i]!, hashedPairs: counts.hashed[i]! }]
    })
    const distinct = new Map(sizes.map((size, i) => [size, counts.distinctInGroups[i]!]))
    return new Forecasts(sample, queries, truth, new Map(shares), distinct)
  }

  /** Number of hashed pairs of each document in the sample. */
  hashedPairs({ privateShare }: Candidate): Uint32Array {
    return this.#share(privateShare).hashedPairs
  }

  /** The parameters an index would choose, except that P is chosen from fewer documents. */
  estimateParameters(candidate: Candidate): SegmentParameters {
    const { parameters, hashedPairs } = this.#share(candidate.privateShare)
    const { privatePairs, columns } = parameters
    const stride = Math.max(1, Math.floor(hashedPairs.length / roughDocuments))
    const counts = hashedPairs.filter((_, i) => i % stride === 0)
    return { ...chooseTail(candidate, counts, candidate.segmentDocuments), privatePairs, columns }
  }

  /** @param stride predicts false positives over every stride-th document */
  async forecast(candidate: Candidate, parameters: SegmentParameters, stride: number): Promise<Contender> {
    const { hashedPairs, isPrivate } = this.#share(candidate.privateShare)
    const { segmentDocuments } = candidate
    const distinctInGroups = this.#distinctInGroups.get(segmentDocuments)!
    const target = { parameters, segmentDocuments, hashedPairs, isPrivate, distinctInGroups }
    const work = await predictedWork(target, this.#queries, this.#truth, stride)
    return { bytesPerDocument: predictedBytes(target, this.#truth, this.#frequency), ...work }
  }

  #share(privateShare: number): Share {
    return this.#shares.get(privateShare)!
  }
}
