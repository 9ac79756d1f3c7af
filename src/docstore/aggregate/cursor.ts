/** The cursor over the results of an aggregation pipeline. Invariants: those of sliced-cursor.ts. */
import { answered } from '../../model/time-slice.ts'
import type { Document } from '../../model/types.ts'
import { type CursorRun, SlicedCursor, type Transform } from '../read/sliced-cursor.ts'
import { type AggregationExplanation, explainAggregation } from './explain.ts'
import { type AggregateOptions, compileAggregation } from './options.ts'
import { type AggregationRun, beginAggregation, type ReadableByName } from './run.ts'
import { type PipelineCollections, WritingRun } from './writing-run.ts'

/**
 * A cursor over the results of an aggregation pipeline.
 * @example
 * const perLanguage = db.aggregate([{ $group: { _id: '$lang', tweets: { $sum: 1 } } }, { $sort: { tweets: -1 } }])
 * for await (const { _id, tweets } of perLanguage) console.log(_id, tweets)
 */
export class AggregationCursor<T = Document> extends SlicedCursor<T> {
  readonly #name: string
  readonly #collections: PipelineCollections
  readonly #readable: ReadableByName = (name) => this.#collections.openForRead(name)
  readonly #pipeline: unknown
  readonly #options: AggregateOptions

  /** Not to be called directly: use Collection.aggregate(). */
  constructor(
    name: string,
    collections: PipelineCollections,
    pipeline: unknown,
    options: AggregateOptions,
    transform?: Transform
  ) {
    super(transform)
    this.#name = name
    this.#collections = collections
    this.#pipeline = pipeline
    this.#options = options
  }

  /** Returns a cursor that applies `transform` to each document. This cursor must not be used any more. */
  map<U>(transform: (value: T) => U): AggregationCursor<U> {
    return new AggregationCursor<U>(
      this.#name,
      this.#collections,
      this.#pipeline,
      this.#options,
      this.mapped(transform)
    )
  }

  /** Returns a new cursor for the same pipeline, which sees the state at its own first request. */
  clone(): AggregationCursor<T> {
    return new AggregationCursor<T>(this.#name, this.#collections, this.#pipeline, this.#options, this.transform)
  }

  /**
   * Explains which part of the pipeline the index answers and what the stages do over documents. Runs the pipeline,
   * except for a final stage that writes. Does not consume the cursor.
   */
  explain(): Promise<AggregationExplanation> {
    return answered(() => explainAggregation(this.#name, this.#readable, this.#pipeline, this.#options))
  }

  protected begin(): CursorRun | Promise<CursorRun> {
    const aggregation = compileAggregation(this.#pipeline, this.#options)
    const { write } = aggregation.pipeline
    if (write !== undefined) this.#collections.assertWritable()
    const beginning = beginAggregation(this.#name, this.#readable, aggregation, this.#options)
    if (write === undefined) return beginning
    const writing = (run: AggregationRun): CursorRun => new WritingRun(run, write, this.#collections)
    return beginning instanceof Promise ? beginning.then(writing) : writing(beginning)
  }
}
