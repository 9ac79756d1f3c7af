/**
 * A schema of `$jsonSchema`: parse.ts produces it, compile.ts and implied.ts read it.
 *
 * Invariants:
 * 1. A schema is the conjunction of its keywords, each of which is self-contained: `exclusiveMinimum` is part of a
 *    comparison, `otherProperties` includes the sibling names and patterns, the keywords of `allOf` are listed among
 *    the others.
 * 2. It applies to a value that is not missing, as a whole: only the keywords for arrays test elements.
 * 3. A keyword for one type holds for values of every other type.
 */
import type { Decimal } from '../../model/decimal.ts'
import type { Type, TypeCode } from '../../model/types.ts'
import type { Test, TypeTest } from '../ast.ts'
import type { Pattern } from '../pattern.ts'

export type Schema = readonly Keyword[]

export type Keyword =
  | { readonly kind: 'type'; readonly types: readonly TypeTest[] }
  /** One of these values, regardless of the order of fields: values are normalised by unordered.ts. */
  | { readonly kind: 'enum'; readonly values: readonly unknown[] }
  | { readonly kind: 'anyOf' | 'oneOf'; readonly schemas: readonly Schema[] }
  | { readonly kind: 'not'; readonly schema: Schema }
  /** For numbers or strings. */
  | { readonly kind: 'test'; readonly type: TypeCode; readonly test: Test }
  | { readonly kind: 'multipleOf'; readonly divisor: Decimal }
  /** Counts the code points of a string, elements of an array or fields of an object. */
  | { readonly kind: 'count'; readonly type: CountedType; readonly least: number; readonly most: number }
  | { readonly kind: 'uniqueItems' }
  /** One schema for each of the first elements, as far as there are any. */
  | { readonly kind: 'firstItems'; readonly schemas: readonly Schema[] }
  | { readonly kind: 'itemsFrom'; readonly start: number; readonly schema: Schema }
  | { readonly kind: 'required'; readonly names: readonly string[] }
  /** For those properties that are present. */
  | { readonly kind: 'properties'; readonly schemas: ReadonlyMap<string, Schema> }
  | { readonly kind: 'patternProperties'; readonly pattern: Pattern; readonly schema: Schema }
  /** For all properties neither named nor matched by a pattern. */
  | {
      readonly kind: 'otherProperties'
      readonly names: ReadonlySet<string>
      readonly patterns: readonly Pattern[]
      readonly schema: Schema
    }
  /** For objects with the property. */
  | { readonly kind: 'dependency'; readonly name: string; readonly schema: Schema }

export type CountedType = typeof Type.string | typeof Type.array | typeof Type.object

/** Passes nothing. */
export const impossible: Schema = [{ kind: 'not', schema: [] }]
