/** What tuning answers. */
import type { Measured } from './measure.ts'
import type { Contender, Ground } from './policy.ts'

/** One choice of parameters: what was predicted for it, and what an index of them over the sample turned out to be. */
export interface TuneChoice {
  /** What hashed pairs are kept in. Of fingerprints P, R, bits per pair and upper level mean nothing. */
  readonly tail: 'bloom' | 'fingerprint'
  /** P, as it follows from bitsPerPosting and the documents. */
  readonly shards: number
  /** M. */
  readonly segmentDocuments: number
  /** R. */
  readonly rowsPerPair: number
  /** K: a document's bit position is its ordinal. */
  readonly bitsPerId: 1
  /** Row bits spent on each pair of a document, at least. */
  readonly bitsPerPosting: number
  /** A pair in at least this share of the documents gets a row of its own. */
  readonly privateShare: number
  /** How many those are. */
  readonly privatePairs: number
  readonly upperLevel: boolean
  /** What the index has now. */
  readonly isPresent: boolean
  /** Its M is not the index's own: to have it, open with `segmentBits`, and the index is built again. */
  readonly needsNewIndex: boolean
  readonly predicted: Contender
  readonly measured: Measured
}

export interface TuneResult {
  readonly sample: {
    readonly documents: number
    /** Hashed pairs per document, with the parameters in force: what makes false positives. */
    readonly hashedPairs: {
      readonly mean: number
      readonly median: number
      readonly percentile99: number
      readonly most: number
      /** documents[n] of them have n. */
      readonly documents: readonly number[]
    }
  }
  readonly queries: {
    /** As they came. */
    readonly given: number
    /** Different ones that were tried, the most frequent first. */
    readonly tried: number
    /** Pairs and ranges in each of those, on average. */
    readonly terms: number
    /** True when there were none to try: pairs of the sample, present and absent, stood for them. */
    readonly areProbes: boolean
  }
  readonly goal: {
    /** False positives per query and document; undefined when the budget alone decides. */
    readonly targetFpr: number | undefined
    readonly budgetBytes: number | undefined
    /** The budget for each document. */
    readonly bytesPerDocument: number | undefined
  }
  /** Candidates that were predicted; those worth it were built and are in `choices`. */
  readonly considered: number
  /** The first one is in force. */
  readonly choices: readonly TuneChoice[]
  /** Index into `choices`. */
  readonly taken: number
  readonly ground: Ground
  /** Why, in a sentence. */
  readonly reason: string
  /** True when the choice now decides the parameters of segments to come, and of the next rebuild. */
  readonly stored: boolean
}
