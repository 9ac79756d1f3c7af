/**
 * Filters and updates as TypeScript sees them: editors complete operators and the fields of a collection's documents;
 * every other path, dotted ones and paths that the type does not know, may be written as well.
 */
import type { Document } from '../model/types.ts'
import type { AggregationPipeline } from './aggregate/options.ts'

/**
 * By path. Of `any`, so that a variable of an interface fits, which has no index signature of its own; known fields and operators
 * that are declared beside it are checked all the same.
 */
// biome-ignore lint/suspicious/noExplicitAny: an interface is assignable to an index signature of any, and of nothing else
type AnyPath = Record<string, any>

/** What an index signature of any would let pass: lists, maps, dates, functions, promises, regular expressions and BSON values. */
interface NoValue {
  [Symbol.iterator]?: never
  [Symbol.toPrimitive]?: never
  [Symbol.toStringTag]?: never
  [Symbol.hasInstance]?: never
  [Symbol.match]?: never
  _bsontype?: never
}

type Paths<T extends object> = ({ [Field in keyof T & string]?: unknown } | object) & AnyPath & NoValue

/** Values by path: those of fields that the type knows are of their type. */
type Values<T extends object> = { [Field in keyof T & string]?: T[Field] | undefined } & AnyPath & NoValue

/** Operators that stand beside the paths of a filter. */
interface FilterOperators<T extends object> {
  $and?: readonly Filter<T>[]
  $or?: readonly Filter<T>[]
  $nor?: readonly Filter<T>[]
  /** An expression that has to be true. */
  $expr?: unknown
  $jsonSchema?: Readonly<Record<string, unknown>>
  $comment?: unknown
  // biome-ignore lint/suspicious/noExplicitAny: of any documents, so that a filter of any collection fits
  $where?: (this: any, document: any) => unknown
}

/**
 * A filter in MongoDB's query language.
 * @example
 * const german: Filter<{ lang: string; user: { id: number } }> = { lang: 'de', 'user.id': { $in: [1, 2] } }
 */
export type Filter<T extends object = Document> = FilterOperators<T> & Paths<T>

/** Operators of an update, by MongoDB's names. */
interface UpdateOperators<T extends object> {
  $set?: Values<T>
  $setOnInsert?: Values<T>
  $unset?: Paths<T>
  $inc?: Paths<T>
  $mul?: Paths<T>
  $min?: Paths<T>
  $max?: Paths<T>
  $rename?: Paths<T>
  $currentDate?: Paths<T>
  $bit?: Paths<T>
  $push?: Paths<T>
  $addToSet?: Paths<T>
  $pop?: Paths<T>
  $pull?: Paths<T>
  $pullAll?: Paths<T>
}

/** Update operators, see compileUpdate for those understood, or a pipeline: docs/aggregation.md tells of which stages. */
export type UpdateSpec<T extends object = Document> = UpdateOperators<T> | AggregationPipeline

/** A document as it is stored: it has an `_id`, whether its type tells of one or not. */
export type WithId<T extends object> = T & { _id: T extends { _id?: infer Id } ? Exclude<Id, undefined> : unknown }

/** A document as it is given: one whose type tells of no `_id` may have one all the same. */
export type MayHaveId<T extends object> = T | (T & { _id?: unknown })
