/**
 * The normal form of a filter: parse.ts and value-filter.ts produce it, matcher.ts and bounds.ts read it.
 *
 * Two languages share the connectives. A `Filter` is about a document; its leaves say that *some* value on a path
 * passes a predicate. A `Test` is about one array element, inside `$elemMatch`; its leaves are the predicates
 * themselves.
 *
 * Invariants:
 * 1. Literal values are our own copies of what the caller passed: nobody changes them afterwards.
 * 2. There are no derived operators: `$ne` is not(equal), `$nin` is not(in), `$all` is and(equal…), `$lte: null` is
 *    equal(null), a comparison that can never hold is `never`.
 */
import type { StringOrder } from '../model/compare.ts'
import type { TypeCode } from '../model/types.ts'
import type { Pattern } from './pattern.ts'

/** An `and` without children holds, an `or` without children does not. */
export type Formula<Leaf> =
  | { readonly kind: 'and'; readonly children: readonly Formula<Leaf>[] }
  | { readonly kind: 'or'; readonly children: readonly Formula<Leaf>[] }
  | { readonly kind: 'not'; readonly child: Formula<Leaf> }
  | { readonly kind: 'never' }
  | { readonly kind: 'leaf'; readonly leaf: Leaf }

export type Filter = Formula<Condition>
export type Test = Formula<Predicate>

/** A query path, split at its dots. */
export interface QueryPath {
  readonly text: string
  readonly components: readonly string[]
}

export type Condition =
  /** Some value that the path leads to passes the predicate. */
  | { readonly kind: 'field'; readonly path: QueryPath; readonly predicate: Predicate }
  | { readonly kind: 'where'; readonly test: (this: unknown, document: unknown) => unknown }
  /** `$expr`, compiled by the caller's aggregation compiler. */
  | {
      readonly kind: 'expression'
      readonly evaluate: (document: Record<string, unknown>) => unknown
      /** Whether it may call a function of the caller. */
      readonly hasCallback: boolean
      /** The paths that it looks at; undefined if it may look at anything. */
      readonly paths: ReadonlySet<string> | undefined
    }
  /** `$jsonSchema`, compiled; what it implies for single paths is in separate conditions. */
  | { readonly kind: 'schema'; readonly passes: (document: Record<string, unknown>) => boolean }

export type RangeOperator = '$lt' | '$lte' | '$gt' | '$gte'
export type BitsOperator = '$bitsAllSet' | '$bitsAnySet' | '$bitsAllClear' | '$bitsAnyClear'

/** A statement about one value, which may be missing (`undefined`). */
export type Predicate =
  /** Null equals missing. */
  | { readonly kind: 'equal'; readonly value: unknown }
  | { readonly kind: 'in'; readonly values: readonly unknown[]; readonly patterns: readonly Pattern[] }
  /** The value is neither null, NaN nor a regular expression. */
  | { readonly kind: 'range'; readonly operator: RangeOperator; readonly value: unknown }
  /**
   * As `in` (of one or more values) and `range` (of one), by another order of strings. Each value contains a string.
   */
  | {
      readonly kind: 'collated'
      readonly operator: '$in' | RangeOperator
      readonly values: readonly unknown[]
      readonly order: StringOrder
    }
  | { readonly kind: 'regex'; readonly pattern: Pattern }
  | { readonly kind: 'exists' }
  | { readonly kind: 'type'; readonly types: readonly TypeTest[] }
  | { readonly kind: 'size'; readonly length: number }
  | { readonly kind: 'mod'; readonly divisor: bigint; readonly remainder: bigint }
  | {
      readonly kind: 'bits'
      readonly operator: BitsOperator
      /** For binary values: the bit positions. */
      readonly positions: readonly number[]
      /** For numbers: the positions as 64 bits, those beyond the sign bit mapped to it. */
      readonly mask: bigint
    }
  | { readonly kind: 'elemMatchValue'; readonly test: Test }
  | { readonly kind: 'elemMatchObject'; readonly filter: Filter }

export type NumericKind = 'int' | 'long' | 'double' | 'decimal'

/** One alternative of `$type`. */
export type TypeTest =
  | { readonly kind: 'code'; readonly code: TypeCode }
  | { readonly kind: 'numeric'; readonly numeric: NumericKind }
  | { readonly kind: 'javascript'; readonly hasScope: boolean }

export function leaf<Leaf>(content: Leaf): Formula<Leaf> {
  return { kind: 'leaf', leaf: content }
}

/** Conjunction; a single child is returned as is. */
export function allOf<Leaf>(children: readonly Formula<Leaf>[]): Formula<Leaf> {
  return children.length === 1 ? (children[0] as Formula<Leaf>) : { kind: 'and', children }
}

export function negate<Leaf>(child: Formula<Leaf>): Formula<Leaf> {
  return child.kind === 'not' ? child.child : { kind: 'not', child }
}

/** Converts a test of elements to a filter on a path: every leaf becomes "some value on the path …". */
export function atPath(path: QueryPath, test: Test): Filter {
  switch (test.kind) {
    case 'and':
    case 'or':
      return { kind: test.kind, children: test.children.map((child) => atPath(path, child)) }
    case 'not':
      return { kind: 'not', child: atPath(path, test.child) }
    case 'never':
      return test
    case 'leaf':
      return leaf({ kind: 'field', path, predicate: test.leaf })
  }
}

/** The leaves of a formula, in its order, whatever connects them. */
export function leavesOf<Leaf>(formula: Formula<Leaf>): Leaf[] {
  switch (formula.kind) {
    case 'and':
    case 'or':
      return formula.children.flatMap(leavesOf)
    case 'not':
      return leavesOf(formula.child)
    case 'never':
      return []
    case 'leaf':
      return [formula.leaf]
  }
}
