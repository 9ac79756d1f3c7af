/** Types of updates: each operator takes the fields that it can change, with arguments of their type. */
import type { Timestamp } from 'bson'
import type { Document, Numeric } from '../../model/types.ts'
import type { AggregationPipeline } from '../aggregate/options.ts'
import type { SortDirection } from '../options.ts'
import type {
  AnyFields,
  DottedPaths,
  ElementOf,
  FieldOf,
  FieldOfKind,
  IfKnown,
  UndeclaredId,
  UnlessEmpty,
  UnsharedField,
  ValueOf
} from './fields.ts'
import type { Condition, ElementFilter } from './filter.ts'

/**
 * Update operators, or a pipeline of `$set $addFields $unset $project $replaceWith $replaceRoot` (docs/aggregation.md, Updates).
 *
 * Operators: `$set $unset $inc $mul $min $max $rename $setOnInsert $currentDate $push $addToSet $pop $pull $pullAll $bit`,
 * with the positional `$`, `$[]` and `$[id]`.
 *
 * In a function for any T, operators would be taken for misspelt properties of a pipeline, if its type were not left open
 * like theirs.
 */
export type UpdateSpec<T extends object = Document> =
  | IfKnown<T, UpdateOperators<T>, OpenUpdateOperators>
  | IfKnown<T, AggregationPipeline, AggregationPipeline>

/** Update operators, under MongoDB's names. */
interface UpdateOperators<T extends object> {
  $set?: Paths<FieldValues<T>>
  $setOnInsert?: Paths<FieldValues<T> & UndeclaredId<T>>
  $unset?: FieldsToUnset<T>
  $inc?: Paths<NumberFields<T>>
  $mul?: Paths<NumberFields<T>>
  $min?: Paths<ComparedFields<T>>
  $max?: Paths<ComparedFields<T>>
  $rename?: NewNames<T>
  $currentDate?: Paths<DateFields<T>>
  $bit?: Paths<BitFields<T>>
  $push?: Paths<ArraysToPush<T>>
  $addToSet?: Paths<ArraysToAddTo<T>>
  $pop?: Paths<ArraysToPop<T>>
  $pull?: Paths<ArraysToPull<T>>
  $pullAll?: Paths<ArraysToPullAll<T>>
}

/** Of documents whose fields are not known. */
type OpenUpdateOperators = { [Operator in keyof UpdateOperators<Document>]: AnyFields }

/**
 * Fields with dotted paths, or a variable of an interface type, which cannot be assigned to a type with any dotted paths. Where
 * no field can be changed, only paths: a type without fields takes everything.
 */
type Paths<Fields> = keyof Fields extends never ? DottedPaths : Fields | (Fields & DottedPaths)

type FieldValues<T> = Values<T, keyof T> & UnlessEmpty<{ [Field in UnsharedField<T>]?: ValueOf<T, Field> }>

/** Mapped from T by a parameter, as the conditions of a filter are. */
type Values<T, Fields extends keyof T> = { [Field in Fields]?: ValueOf<T, Field> }

/** And fields that the type does not declare any more. */
type FieldsToUnset<T> = { [Field in FieldOf<T>]?: unknown } & Record<string, unknown>

type NumberFields<T> = { [Field in FieldOfKind<T, Numeric>]?: Numeric }

/** A number is compared with numbers of all types. */
type ComparedFields<T> = {
  [Field in FieldOf<T>]?: ValueOf<T, Field> | (number extends ValueOf<T, Field> ? Numeric : never)
}

/** As of `$unset`. */
type NewNames<T> = { [Field in FieldOf<T>]?: string } & Record<string, string>

type DateFields<T> = { [Field in FieldOfKind<T, Date | Timestamp>]?: boolean | { $type: 'date' | 'timestamp' } }

type BitFields<T> = {
  [Field in FieldOfKind<T, Numeric>]?: { and?: Numeric; or?: Numeric; xor?: Numeric }
}

type ArrayField<T> = FieldOfKind<T, readonly unknown[]>

type ArraysToPush<T> = { [Field in ArrayField<T>]?: Pushed<ElementOf<ValueOf<T, Field>>> }

type Pushed<Element> =
  | Element
  | {
      $each: readonly Element[]
      /** Where to insert; negative positions count from the end. */
      $position?: number
      /** How many elements to keep: the first, or with a negative number the last. */
      $slice?: number
      /** The direction of whole elements, or the paths of elements that are documents. */
      $sort?: 1 | -1 | Readonly<Record<string, SortDirection>>
    }

type ArraysToAddTo<T> = { [Field in ArrayField<T>]?: Added<ElementOf<ValueOf<T, Field>>> }

type Added<Element> = Element | { $each: readonly Element[] }

/** `1` removes the last element, `-1` the first. */
type ArraysToPop<T> = { [Field in ArrayField<T>]?: 1 | -1 }

type ArraysToPull<T> = {
  [Field in ArrayField<T>]?: Condition<ElementOf<ValueOf<T, Field>>> | ElementFilter<ElementOf<ValueOf<T, Field>>>
}

type ArraysToPullAll<T> = { [Field in ArrayField<T>]?: readonly ElementOf<ValueOf<T, Field>>[] }
