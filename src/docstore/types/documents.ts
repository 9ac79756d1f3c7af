/** Types of documents as they are given and returned. */
import type { AnyFields, IfKnown, ValueAt } from './fields.ts'

/** The type of the `_id`s of stored documents: unknown, if the document type declares none. */
export type IdOf<T extends object> = T extends { _id?: infer Id } ? Exclude<Id, undefined> : unknown

/** A stored document: it has an `_id` whether or not its type declares one. */
export type WithId<T extends object> = T & { _id: IdOf<T> }

/** A document without its `_id`; of a union of types, each of them without it. */
export type WithoutId<T extends object> = T extends unknown ? Omit<T, '_id'> : never

/** A document as passed by the caller: it may have an `_id` even if its type declares none. */
export type MayHaveId<T extends object> = T | (T & { _id?: unknown }) | AnyOf<T>

/** What replaces a document: all of it, with or without its `_id`. */
export type Replacement<T extends object> = T | WithoutId<T> | AnyOf<T>

/**
 * Where documents have no type, or an index signature, also a variable of an interface type, which cannot be assigned to one of
 * unknown values.
 */
type AnyOf<T> = IfKnown<T, never, AnyFields & { _bsontype?: never } & DeclaredFields<T>>

/** The fields beside an index signature. */
type DeclaredFields<T> = { [Field in keyof T as string extends Field ? never : Field]: T[Field] }

/**
 * What distinct() finds at a path: the elements of arrays separately. Unknown where the type says nothing about it. (The compiler
 * compares collections of different types by their methods for the path `any`, of which nothing needs to be known.)
 */
export type DistinctValue<T extends object, Path extends string> = string extends Path
  ? unknown
  : ElementOrValue<ValueAt<WithId<T>, Path>>

type ElementOrValue<V> = V extends readonly (infer Element)[] ? Element : V
