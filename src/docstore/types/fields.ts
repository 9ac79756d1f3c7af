/**
 * How filters and updates look at a document type: its fields, their values and elements, and paths.
 *
 * A top-level name that the type does not declare is refused as misspelt. Dotted paths take anything: the checker cannot
 * follow positions in arrays or `$[]`, and listing the paths of every type would slow it down, or end in an error for
 * types that contain themselves.
 */

// biome-ignore lint/suspicious/noExplicitAny: an interface is assignable to an index signature of any, and of nothing else
export type Any = any

/**
 * `Checked` for a type whose fields are all known; `Open` for one with an index signature or without fields, and in a function for any
 * `T extends {…}`, whose known fields could not be written otherwise, because T may give them a narrower type.
 *
 * The checker accepts a value for a conditional type that it cannot resolve yet if the value fits each branch that may be
 * taken. It tries the first branch with `any` for T, where the mapped type is an index signature, which refuses the key
 * that no document has: so only `Open` is left.
 */
export type IfKnown<T, Checked, Open> = { '': 1; '\0': 0 } extends { [Name in '' as keyof T | '']?: 1 }
  ? [FieldOf<T>] extends [never]
    ? Open
    : Checked
  : Open

/** The fields of a type; of a union, those of any member. */
export type FieldOf<T> = T extends unknown ? keyof T & string : never

/** What a field may hold, if it is there; in a union, in any member that has it. */
export type ValueOf<T, Field extends PropertyKey> = T extends unknown
  ? Field extends keyof T
    ? Exclude<T[Field], undefined>
    : never
  : never

/** What a dotted path leads to, through the elements of arrays; unknown where the type does not say. */
export type ValueAt<V, Path extends string> = unknown extends V
  ? unknown
  : Path extends `${infer Field}.${infer Below}`
    ? ValueAt<UnlessNever<ValueOf<Documents<V>, Field>>, Below>
    : UnlessNever<ValueOf<Documents<V>, Path>>

type UnlessNever<V> = [V] extends [never] ? unknown : V

/** The documents among values, and among the elements of arrays. */
type Documents<V> = Exclude<Extract<V extends readonly (infer Element)[] ? Element : V, object>, Leaf>

/** Objects that are no documents. */
export type Leaf = Date | RegExp | Uint8Array | readonly unknown[] | { readonly _bsontype: string }

/** The fields that some members of a union lack. */
export type UnsharedField<T> = Exclude<FieldOf<T>, keyof T>

/** `Fields`, unless it has none: every value is assignable to a type without fields. */
export type UnlessEmpty<Fields> = keyof Fields extends never ? unknown : Fields

/** The elements of an array, or of the arrays in a union; those of an unknown value are unknown. */
export type ElementOf<V> = unknown extends V ? V : V extends readonly (infer Element)[] ? Element : never

/** The fields whose type has something in common with `Kind`, or is unknown. */
export type FieldOfKind<T, Kind> = {
  [Field in FieldOf<T>]: unknown extends ValueOf<T, Field>
    ? Field
    : Extract<ValueOf<T, Field>, Kind> extends never
      ? never
      : Field
}[FieldOf<T>]

/** An `_id` of any type, where the document type declares none. */
export type UndeclaredId<T> = '_id' extends FieldOf<T> ? unknown : { _id?: unknown }

/** Paths below the top level. */
export interface DottedPaths {
  [path: `${string}.${string}`]: Any
}

/**
 * Excludes what an index signature of `any` would admit: arrays, maps, dates, functions, promises, regular expressions.
 */
interface NoValue {
  [Symbol.iterator]?: never
  [Symbol.toPrimitive]?: never
  [Symbol.toStringTag]?: never
  [Symbol.hasInstance]?: never
  [Symbol.match]?: never
}

/**
 * Any fields or paths. The values are `any` so that a variable of an interface type, which has no index signature of its own, is
 * assignable.
 */
export type AnyFields = Record<string, Any> & NoValue
