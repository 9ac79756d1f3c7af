/**
 * Types of filters and updates: editors complete the operators and the fields of the document type, while any other
 * path, dotted or unknown to the type, is accepted too.
 */
import type { Document } from '../model/types.ts'
import type { AggregationPipeline } from './aggregate/options.ts'

/**
 * Any path. The values are `any` so that a variable of an interface type, which has no index signature of its own, is
 * assignable; known fields and operators declared beside it are still checked.
 */
// biome-ignore lint/suspicious/noExplicitAny: an interface is assignable to an index signature of any, and of nothing else
type AnyPath = Record<string, any>

/**
 * Excludes what an index signature of `any` would admit: arrays, maps, dates, functions, promises, regular expressions,
 * BSON values.
 */
interface NoValue {
  [Symbol.iterator]?: never
  [Symbol.toPrimitive]?: never
  [Symbol.toStringTag]?: never
  [Symbol.hasInstance]?: never
  [Symbol.match]?: never
  _bsontype?: never
}

type Paths<T extends object> = ({ [Field in keyof T & string]?: unknown } | object) & AnyPath & NoValue

/** Values by path; known fields keep their types. */
type Values<T extends object> = { [Field in keyof T & string]?: T[Field] | undefined } & AnyPath & NoValue

/** Top-level operators of a filter. */
interface FilterOperators<T extends object> {
  $and?: readonly Filter<T>[]
  $or?: readonly Filter<T>[]
  $nor?: readonly Filter<T>[]
  /** An aggregation expression that must be true. */
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

/** Update operators, under MongoDB's names. */
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

/**
 * Update operators, or a pipeline of `$set $addFields $unset $project $replaceWith $replaceRoot` (docs/aggregation.md, Updates).
 *
 * Operators: `$set $unset $inc $mul $min $max $rename $setOnInsert $currentDate $push $addToSet $pop $pull $pullAll $bit`,
 * with the positional `$`, `$[]` and `$[id]`.
 */
export type UpdateSpec<T extends object = Document> = UpdateOperators<T> | AggregationPipeline

/** A stored document: it has an `_id` whether or not its type declares one. */
export type WithId<T extends object> = T & { _id: T extends { _id?: infer Id } ? Exclude<Id, undefined> : unknown }

/** A document without its `_id`; of a union of types, each of them without it. */
export type WithoutId<T extends object> = T extends unknown ? Omit<T, '_id'> : never

/** A document as passed by the caller: it may have an `_id` even if its type declares none. */
export type MayHaveId<T extends object> = T | (T & { _id?: unknown })
