/**
 * A schema of `$jsonSchema`: what parse.ts makes and what compile.ts and implied.ts read.
 *
 * Invariants:
 * 1. A schema is the conjunction of its keywords, and each says by itself all that it says: `exclusiveMinimum` is part of a
 *    comparison, `otherProperties` knows the names and patterns beside it, the keywords of `allOf` stand among the others.
 * 2. It speaks of a value that is there, and of the whole of it: elements of an array are tested by keywords for arrays only.
 * 3. A keyword for one type holds for values of every other.
 */
import type { Decimal } from '../../model/decimal.ts'
import type { Type, TypeCode } from '../../model/types.ts'
import type { Test, TypeTest } from '../ast.ts'
import type { Pattern } from '../pattern.ts'

export type Schema = readonly Keyword[]

export type Keyword =
  | { readonly kind: 'type'; readonly types: readonly TypeTest[] }
  /** One of these, whatever order fields are in: values as unordered.ts makes them. */
  | { readonly kind: 'enum'; readonly values: readonly unknown[] }
  | { readonly kind: 'anyOf' | 'oneOf'; readonly schemas: readonly Schema[] }
  | { readonly kind: 'not'; readonly schema: Schema }
  /** Of numbers or of strings. */
  | { readonly kind: 'test'; readonly type: TypeCode; readonly test: Test }
  | { readonly kind: 'multipleOf'; readonly divisor: Decimal }
  /** Code points of a string, elements of an array, fields of an object. */
  | { readonly kind: 'count'; readonly type: CountedType; readonly least: number; readonly most: number }
  | { readonly kind: 'uniqueItems' }
  /** One after the other for the first elements, as far as there are any. */
  | { readonly kind: 'firstItems'; readonly schemas: readonly Schema[] }
  | { readonly kind: 'itemsFrom'; readonly start: number; readonly schema: Schema }
  | { readonly kind: 'required'; readonly names: readonly string[] }
  /** Of those that are there. */
  | { readonly kind: 'properties'; readonly schemas: ReadonlyMap<string, Schema> }
  | { readonly kind: 'patternProperties'; readonly pattern: Pattern; readonly schema: Schema }
  /** Of all that is neither named nor found by a pattern. */
  | {
      readonly kind: 'otherProperties'
      readonly names: ReadonlySet<string>
      readonly patterns: readonly Pattern[]
      readonly schema: Schema
    }
  /** For objects that have the property. */
  | { readonly kind: 'dependency'; readonly name: string; readonly schema: Schema }

export type CountedType = typeof Type.string | typeof Type.array | typeof Type.object

/** Nothing passes. */
export const impossible: Schema = [{ kind: 'not', schema: [] }]
