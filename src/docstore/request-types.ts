/**
 * Filters and updates as TypeScript sees them: editors complete operators and the fields of a collection's documents;
 * every other path, dotted ones and paths that the type does not know, may be written as well.
 */
import type { Document } from '../model/types.ts'
import type { AggregationPipeline } from './aggregate/options.ts'

/** By path. */
type Paths<T extends object> = { readonly [Field in keyof T & string]?: unknown } & Readonly<Record<string, unknown>>

/** Operators that stand beside the paths of a filter. */
interface FilterOperators<T extends object> {
  readonly $and?: readonly Filter<T>[]
  readonly $or?: readonly Filter<T>[]
  readonly $nor?: readonly Filter<T>[]
  /** An expression that has to be true. */
  readonly $expr?: unknown
  readonly $jsonSchema?: Readonly<Record<string, unknown>>
  readonly $comment?: unknown
}

/**
 * A filter in MongoDB's query language.
 * @example
 * const german: Filter<{ lang: string; user: { id: number } }> = { lang: 'de', 'user.id': { $in: [1, 2] } }
 */
export type Filter<T extends object = Document> = FilterOperators<T> & Paths<T>

/** Operators of an update, by MongoDB's names. */
interface UpdateOperators<T extends object> {
  readonly $set?: Paths<T>
  readonly $setOnInsert?: Paths<T>
  readonly $unset?: Paths<T>
  readonly $inc?: Paths<T>
  readonly $mul?: Paths<T>
  readonly $min?: Paths<T>
  readonly $max?: Paths<T>
  readonly $rename?: Paths<T>
  readonly $currentDate?: Paths<T>
  readonly $bit?: Paths<T>
  readonly $push?: Paths<T>
  readonly $addToSet?: Paths<T>
  readonly $pop?: Paths<T>
  readonly $pull?: Paths<T>
  readonly $pullAll?: Paths<T>
}

/** Update operators, see compileUpdate for those understood, or a pipeline: docs/aggregation.md tells of which stages. */
export type UpdateSpec<T extends object = Document> =
  | (UpdateOperators<T> & Readonly<Record<string, unknown>>)
  | AggregationPipeline
