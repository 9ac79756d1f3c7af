/**
 * What a pipeline gives, one document after the other. Invariants: those of sliced-cursor.ts.
 */
import type { Document } from '../../model/types.ts'
import { type CursorRun, SlicedCursor, type Transform } from '../read/sliced-cursor.ts'
import { type AggregationExplanation, explainAggregation } from './explain.ts'
import { type AggregateOptions, compileAggregation } from './options.ts'
import { beginAggregation, type ReadableByName } from './run.ts'

/**
 * @example
 * const perLanguage = db.aggregate([{ $group: { _id: '$lang', tweets: { $sum: 1 } } }, { $sort: { tweets: -1 } }])
 * for await (const { _id, tweets } of perLanguage) console.log(_id, tweets)
 */
export class AggregationCursor<T = Document> extends SlicedCursor<T> {
  readonly #name: string
  readonly #readable: ReadableByName
  readonly #pipeline: unknown
  readonly #options: AggregateOptions

  /** Cursors come from Collection.aggregate(). */
  constructor(
    name: string,
    readable: ReadableByName,
    pipeline: unknown,
    options: AggregateOptions,
    transform?: Transform
  ) {
    super(transform)
    this.#name = name
    this.#readable = readable
    this.#pipeline = pipeline
    this.#options = options
  }

  /** A cursor over what `transform` makes of each document; this one is not to be used any more. */
  map<U>(transform: (value: T) => U): AggregationCursor<U> {
    return new AggregationCursor<U>(this.#name, this.#readable, this.#pipeline, this.#options, this.mapped(transform))
  }

  /** The same pipeline again, over the state at its own first pull. */
  clone(): AggregationCursor<T> {
    return new AggregationCursor<T>(this.#name, this.#readable, this.#pipeline, this.#options, this.transform)
  }

  /** What the index does and what runs over documents: the pipeline is run for that. Does not use the cursor up. */
  async explain(): Promise<AggregationExplanation> {
    return explainAggregation(this.#name, this.#readable, this.#pipeline, this.#options)
  }

  protected begin(): CursorRun | Promise<CursorRun> {
    const aggregation = compileAggregation(this.#pipeline, this.#options)
    return beginAggregation(this.#name, this.#readable, aggregation, this.#options)
  }
}
