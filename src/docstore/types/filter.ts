/** Types of filters: fields with values and operators of their type. */
import type { BSONRegExp } from 'bson'
import type { Document, Numeric } from '../../model/types.ts'
import type { IdOf } from './documents.ts'
import type {
  Any,
  AnyFields,
  DottedPaths,
  ElementOf,
  IfKnown,
  Leaf,
  UndeclaredId,
  UnlessEmpty,
  UnsharedField,
  ValueOf
} from './fields.ts'

/**
 * A filter in MongoDB's query language, which can also be built step by step.
 * @example
 * const german: Filter<{ lang: string; user: { id: number } }> = { lang: 'de', 'user.id': { $in: [1, 2] } }
 */
export type Filter<T extends object = Document> = FilterOperators<T> &
  IfKnown<T, FieldConditions<T> & DottedPaths, AnyConditions>

/**
 * What methods take for a filter: a Filter, or a variable of an interface type, which cannot be assigned to a type with
 * any dotted paths.
 */
export type FilterArgument<T extends object = Document> =
  | Filter<T>
  | (FilterOperators<T> & IfKnown<T, FieldConditions<T>, AnyConditions>)

/** What get() takes for an `_id`: a value of the type that T declares for it. */
export type IdArgument<T extends object> = IfKnown<T, Operand<IdOf<T>>, unknown>

/** Not an ObjectId, which is easily passed for a filter of one. */
type AnyConditions = AnyFields & { _bsontype?: never }

/** Not a text, which is easily passed for a filter of its `_id`, and has methods with the names of fields, such as `at`. */
interface NoText {
  [Symbol.iterator]?: never
}

/** Top-level operators of a filter. */
interface FilterOperators<T extends object> extends NoText {
  $and?: readonly FilterArgument<T>[]
  $or?: readonly FilterArgument<T>[]
  $nor?: readonly FilterArgument<T>[]
  /** An aggregation expression that must be true. */
  $expr?: unknown
  $jsonSchema?: AnyFields
  $comment?: unknown
  /** Of any documents, so that a filter of any collection fits. */
  $where?: (this: Any, document: Any) => unknown
}

/** Conditions on the fields of T, those of any member of a union. */
type FieldConditions<T extends object> = Conditions<T, keyof T> &
  UnlessEmpty<{ [Field in UnsharedField<T>]?: Condition<ValueOf<T, Field>> }> &
  UndeclaredId<T>

/** Mapped from T by a parameter, so that editors show what is written about a field, but not for each member of a union. */
type Conditions<T, Fields extends keyof T> = { [Field in Fields]?: Condition<ValueOf<T, Field>> }

/**
 * What a filter may say about a field of type V: the value, null for a missing one, an element of an array, a regular
 * expression for strings, or operators.
 */
export type Condition<V> = Operand<V> | PatternFor<V> | Operators<V>

/** What comparisons take: the value, or elements of an array. A number finds equal numbers of all types. */
type Operand<V> = unknown extends V
  ? unknown
  : V extends readonly (infer Element)[]
    ? Readonly<V> | Operand<Element> | null
    : Scalar<V> | null

type Scalar<V> = V extends Date
  ? Moment
  : V | (V extends Exclude<Numeric, number> ? number | bigint : number extends V ? bigint : never)

/** A regular expression, where V or its elements may be strings. */
type PatternFor<V> = unknown extends V ? Pattern : Extract<V | ElementOf<V>, string> extends never ? never : Pattern

/** A Date, but editors do not complete its methods where they should complete operators. */
type Moment = Pick<Date, typeof Symbol.toPrimitive>

/** A RegExp, likewise. */
interface Pattern {
  [Symbol.match](text: string): RegExpMatchArray | null
}

/** Operators that values of any type have. */
interface ValueOperators<V> {
  $eq?: Operand<V>
  $ne?: Operand<V>
  $gt?: Operand<V>
  $gte?: Operand<V>
  $lt?: Operand<V>
  $lte?: Operand<V>
  $in?: readonly (Operand<V> | PatternFor<V>)[]
  $nin?: readonly (Operand<V> | PatternFor<V>)[]
  $exists?: boolean
  $type?: TypeName | number | readonly (TypeName | number)[]
  $not?: Operators<V> | PatternFor<V>
  $all?: readonly (Operand<V> | PatternFor<V>)[]
  $comment?: unknown
}

interface StringOperators<V> extends ValueOperators<V> {
  $regex?: string | Pattern | BSONRegExp
  /** Of `$regex`: any of `imsxu`. */
  $options?: string
}

interface BitOperators<V> extends ValueOperators<V> {
  $bitsAllSet?: BitMask
  $bitsAnySet?: BitMask
  $bitsAllClear?: BitMask
  $bitsAnyClear?: BitMask
}

interface NumberOperators<V> extends BitOperators<V> {
  /** Divisor and remainder. */
  $mod?: readonly [divisor: Numeric, remainder: Numeric]
}

interface ArrayOperators<V> extends Omit<ValueOperators<V>, '$all'> {
  $size?: number
  $elemMatch?: ElementFilter<ElementOf<V>>
  $all?: readonly (Operand<V> | PatternFor<V> | { $elemMatch: ElementFilter<ElementOf<V>> })[]
}

interface EveryOperator<V> extends StringOperators<V>, NumberOperators<V>, Omit<ArrayOperators<V>, '$all'> {}

/** The operators for each member of V; array fields also have those of their elements. */
type Operators<V> = unknown extends V ? EveryOperator<V> : OperatorsOf<V, V>

type OperatorsOf<V, Member> = Member extends readonly (infer Element)[]
  ?
      | ArrayOperators<V>
      | (unknown extends Element ? EveryOperator<V> : OperatorsOf<V, Exclude<Element, readonly unknown[]>>)
  : Member extends string
    ? StringOperators<V>
    : Member extends Numeric
      ? NumberOperators<V>
      : Member extends Bytes
        ? BitOperators<V>
        : ValueOperators<V>

/** What `$elemMatch` and `$pull` take: a filter of elements that are documents, or operators on the elements. */
export type ElementFilter<Element> = unknown extends Element
  ? EveryOperator<unknown> | AnyFields
  : Operators<Element> | (Element extends Leaf ? never : Element extends object ? FilterArgument<Element> : never)

type Bytes = Uint8Array | { readonly _bsontype: 'Binary' }

type BitMask = number | bigint | Bytes | readonly number[]

type TypeName =
  | 'double'
  | 'string'
  | 'object'
  | 'array'
  | 'binData'
  | 'undefined'
  | 'objectId'
  | 'bool'
  | 'date'
  | 'null'
  | 'regex'
  | 'dbPointer'
  | 'javascript'
  | 'symbol'
  | 'javascriptWithScope'
  | 'int'
  | 'timestamp'
  | 'long'
  | 'decimal'
  | 'minKey'
  | 'maxKey'
  | 'number'
