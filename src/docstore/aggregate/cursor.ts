/**
 * What a pipeline gives, one document after the other. Invariants: those of sliced-cursor.ts.
 */
import type { Document } from '../../model/types.ts'
import { type CursorRun, SlicedCursor, type Transform } from '../read/sliced-cursor.ts'
import { type AggregationExplanation, explainAggregation } from './explain.ts'
import { type AggregateOptions, compileAggregation } from './options.ts'
import { type AggregationRun, beginAggregation, type ReadableByName } from './run.ts'
import { type PipelineCollections, WritingRun } from './writing-run.ts'

/**
 * @example
 * const perLanguage = db.aggregate([{ $group: { _id: '$lang', tweets: { $sum: 1 } } }, { $sort: { tweets: -1 } }])
 * for await (const { _id, tweets } of perLanguage) console.log(_id, tweets)
 */
export class AggregationCursor<T = Document> extends SlicedCursor<T> {
  readonly #name: string
  readonly #collections: PipelineCollections
  readonly #readable: ReadableByName = (name) => this.#collections.reading(name)
  readonly #pipeline: unknown
  readonly #options: AggregateOptions

  /** Cursors come from Collection.aggregate(). */
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

  /** A cursor over what `transform` makes of each document; this one is not to be used any more. */
  map<U>(transform: (value: T) => U): AggregationCursor<U> {
    return new AggregationCursor<U>(
      this.#name,
      this.#collections,
      this.#pipeline,
      this.#options,
      this.mapped(transform)
    )
  }

  /** The same pipeline again, over the state at its own first pull. */
  clone(): AggregationCursor<T> {
    return new AggregationCursor<T>(this.#name, this.#collections, this.#pipeline, this.#options, this.transform)
  }

  /**
   * What the index does and what runs over documents: the pipeline is run for that, but for a last stage that writes. Does not use
   * the cursor up.
   */
  async explain(): Promise<AggregationExplanation> {
    return explainAggregation(this.#name, this.#readable, this.#pipeline, this.#options)
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
