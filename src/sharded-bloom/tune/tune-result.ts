/** The result of tuning. */
import type { Measured } from './measure.ts'
import type { Contender, Ground } from './policy.ts'

/** One choice of parameters: the prediction for it, and the measurement of an index built with it over the sample. */
export interface TuneChoice {
  /** What stores the hashed pairs. With fingerprints P, R, bits per pair and upper level have no meaning. */
  readonly tail: 'bloom' | 'fingerprint'
  /** P, computed from bitsPerPosting and the documents. */
  readonly shards: number
  /** M. */
  readonly segmentDocuments: number
  /** R. */
  readonly rowsPerPair: number
  /** K: a document's bit position is its ordinal. */
  readonly bitsPerId: 1
  /** Minimum row bits spent on each pair of a document. */
  readonly bitsPerPosting: number
  /** A pair in at least this share of the documents gets a row of its own. */
  readonly privateShare: number
  /** Number of these pairs. */
  readonly privatePairs: number
  readonly upperLevel: boolean
  /** Whether the index has this choice now. */
  readonly isPresent: boolean
  /** Its M differs from the index's: opening with `segmentBits` rebuilds the index. */
  readonly needsNewIndex: boolean
  readonly predicted: Contender
  readonly measured: Measured
}

/** Result of tune(): what it was based on, the choices that were measured, and the one taken. */
export interface TuneResult {
  readonly sample: {
    readonly documents: number
    /** Hashed pairs per document with the parameters in force: they cause false positives. */
    readonly hashedPairs: {
      readonly mean: number
      readonly median: number
      readonly percentile99: number
      readonly most: number
      /** documents[n] documents have n hashed pairs. */
      readonly documents: readonly number[]
    }
  }
  readonly queries: {
    /** Number of queries given. */
    readonly given: number
    /** Number of distinct queries tried, the most frequent first. */
    readonly tried: number
    /** Average number of pairs and ranges in each of these. */
    readonly terms: number
    /** True when there were none to try: pairs of the sample, present and absent, were used in their place. */
    readonly areProbes: boolean
  }
  readonly goal: {
    /** False positives per query and document; undefined when the budget alone decides. */
    readonly targetFpr: number | undefined
    readonly budgetBytes: number | undefined
    /** The budget per document. */
    readonly bytesPerDocument: number | undefined
  }
  /** Number of candidates predicted; the promising ones were built and are in `choices`. */
  readonly considered: number
  /** The first one is in force. */
  readonly choices: readonly TuneChoice[]
  /** Index into `choices`. */
  readonly taken: number
  /** Why it was taken. */
  readonly ground: Ground
  /** The reason, in a sentence. */
  readonly reason: string
  /** True when the choice now determines the parameters of future segments and of the next rebuild. */
  readonly stored: boolean
}
