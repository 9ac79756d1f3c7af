/** Tunes a collection's index: takes the sample, compiles the queries, and stores the choice. */
import { AbortedError, PetalError } from '../../model/errors.ts'
import { invalidOption } from '../../model/invalid-option.ts'
import type { Document } from '../../model/types.ts'
import type { TuneQuery } from '../../sharded-bloom/tune/queries.ts'
import { minTuneDocuments, type TuneProgress, tuneIndex } from '../../sharded-bloom/tune/tune-index.ts'
import type { TuneResult } from '../../sharded-bloom/tune/tune-result.ts'
import type { Known } from '../known-options.ts'
import type { OpenCollection } from '../open-collection.ts'
import { assertBoolean } from '../option-checks.ts'
import { Control } from '../read/control.ts'
import { FindExpressions } from '../read/expressions.ts'
import type { Filter } from '../types/filter.ts'

/** Options of tune(): the goal, a false positive rate or a size budget, and the queries to tune for. */
export interface TuneOptions {
  /** Number of sampled documents to try candidates on, from 256 to 200,000. Default 20,000. */
  readonly sample?: number | undefined
  /**
   * Acceptable false positives per query and document: with 1e-5, a query over a million documents fetches 10 in vain.
   * Default 2e-5, unless there is a budget.
   */
  readonly targetFpr?: number | undefined
  /** Size that the index may have for the current number of documents. */
  readonly budgetBytes?: number | undefined
  /**
   * Filters, repeated as often as they are run, or a Map from filters to frequencies. Default: single pairs, present
   * and absent.
   */
  readonly queries?: Iterable<Filter> | ReadonlyMap<Filter, number> | undefined
  /** Only report the choice. Default false: store it for new segments. */
  readonly dryRun?: boolean | undefined
  /** Aborts tuning with an AbortedError; nothing is stored. */
  readonly signal?: AbortSignal | undefined
  /** Called after each candidate has been built. */
  readonly onProgress?: ((progress: TuneProgress) => void) | undefined
}

export const knownTuneOptions = {
  sample: true,
  targetFpr: true,
  budgetBytes: true,
  queries: true,
  dryRun: true,
  signal: true,
  onProgress: true
} satisfies Known<TuneOptions>

const defaultSample = 20_000
const maxSample = 200_000
const defaultTarget = 2e-5
/** Consecutive documents sampled together; as many as a group of a full segment has. */
const runDocuments = 2048

/**
 * @throws PetalError InvalidOptions, BadValue; IllegalOperation for a collection without an index or with too few
 *   documents
 */
export async function tuneCollection(collection: OpenCollection, options: TuneOptions): Promise<TuneResult> {
  const { dryRun = false, signal, onProgress, budgetBytes } = options
  assertBoolean('dryRun', dryRun)
  const sizes = `a number from ${minTuneDocuments} to ${maxSample}`
  const sampleSize = checked('sample', options.sample ?? defaultSample, sizes, (size) => {
    return size >= minTuneDocuments && size <= maxSample
  })
  const targetFpr = options.targetFpr ?? (budgetBytes === undefined ? defaultTarget : undefined)
  if (targetFpr !== undefined)
    checked('targetFpr', targetFpr, 'a number between 0 and 1', (rate) => rate > 0 && rate < 1)
  if (budgetBytes !== undefined) checked('budgetBytes', budgetBytes, 'a number above 0', (bytes) => bytes > 0)
  const queries = queriesOf(options.queries ?? [])
  const present = collection.indexTuning
  if (present === undefined) throw new PetalError('IllegalOperation', 'A collection without an index cannot be tuned')

  const { documents: count } = collection.state
  const documents = await sampleOf(collection, sampleSize, new Control({ ...(signal && { signal }) }))
  if (documents.length < minTuneDocuments) {
    throw new PetalError(
      'IllegalOperation',
      `Tuning an index needs at least ${minTuneDocuments} documents; the collection has ${documents.length}`
    )
  }
  const bytesPerDocument = budgetBytes === undefined ? undefined : budgetBytes / count
  const goal = { targetFpr, bytesPerDocument }
  const tuned = await tuneIndex({ documents, queries, present, goal, signal, onProgress })
  if (signal?.aborted) throw new AbortedError(signal.reason)
  const choice = tuned.choices[tuned.taken]!
  if (!dryRun) await collection.retuneIndex(choice)
  return { ...tuned, goal: { ...goal, budgetBytes }, stored: !dryRun }
}

/**
 * Samples runs of consecutive documents, spread evenly: pairs come in bursts, which groups of documents have to show.
 */
async function sampleOf(collection: OpenCollection, size: number, control: Control): Promise<Document[]> {
  const { documents: count } = collection.state
  const { ordinalLimit } = collection.committer
  // With computed ordinals most ordinals may be unused, so evenly spaced runs could miss every document.
  const runs = count <= size || collection.store.ids !== undefined ? 1 : Math.ceil(size / runDocuments)
  const sample: Document[] = []
  for (let run = 0; run < runs; run++) {
    const from = Math.floor((run * ordinalLimit) / runs)
    const to = Math.floor(((run + 1) * ordinalLimit) / runs)
    const enough = Math.ceil(((run + 1) * size) / runs)
    if (sample.length >= enough) continue
    for await (const [, document] of collection.store.source.read(from, to)) {
      sample.push(document)
      if (control.isPauseDue) {
        control.check()
        await control.pause()
      }
      if (sample.length >= enough) break
    }
  }
  return sample
}

/** Merges filters with equal bounds into one query, and drops filters that do not consult the index. */
function queriesOf(queries: Iterable<Filter> | ReadonlyMap<Filter, number>): TuneQuery[] {
  if (typeof queries !== 'object' || queries === null || !(Symbol.iterator in queries)) {
    throw invalidOption('queries', 'an iterable of filters or a Map', queries)
  }
  const pairs: Iterable<readonly [Filter, number]> =
    queries instanceof Map ? queries : Array.from(queries as Iterable<Filter>, (filter) => [filter, 1] as const)
  const byBounds = new Map<string, TuneQuery>()
  for (const [filter, count] of pairs) {
    checked('queries', count, 'filters with counts above 0', (times) => times > 0)
    const { bounds, ids } = new FindExpressions({}).filter(filter)
    if (ids !== undefined) continue
    const name = JSON.stringify(bounds)
    byBounds.set(name, { bounds, weight: (byBounds.get(name)?.weight ?? 0) + count })
  }
  return [...byBounds.values()]
}

/** @param wanted what `isValid` checks, for the message */
function checked(option: string, value: number, wanted: string, isValid: (value: number) => boolean): number {
  if (typeof value === 'number' && Number.isFinite(value) && isValid(value)) return value
  throw invalidOption(option, wanted, value)
}
