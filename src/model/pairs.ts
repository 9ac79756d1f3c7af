/**
 * The vocabulary that documents and queries share: pairs, and expressions over pairs.
 *
 * A document is a set of pairs. A query is bounded by an expression over pairs that stands for two sets of
 * documents, lower ⊆ matches ⊆ upper:
 *
 * | node              | lower                      | upper                     |
 * | ----------------- | -------------------------- | ------------------------- |
 * | `all`, `none`     | everything, nothing        | everything, nothing       |
 * | `pair`            | the documents proved to match by it, if the index can prove it | those that may have it |
 * | `range`           | those known to have one value of the type on the path, which lies within | those in which some value may |
 * | `and`, `or`       | lane by lane               | lane by lane              |
 * | `not x`           | complement of upper(x)     | complement of lower(x)    |
 * | `bounds l u`      | lower(l)                   | upper(u)                  |
 *
 * Negation only ever swaps and complements bounds, so that a Bloom filter's "maybe" is never negated.
 */
import type { Scalar } from './scalar.ts'
import { Type, type TypeCode } from './types.ts'

/** A fact about a document. Paths are index paths (see path.ts). */
export type Pair =
  /** Some value on the path, an array element at any depth included, is this scalar. */
  | { readonly kind: 'value'; readonly path: string; readonly value: Scalar }
  /** The path is present. */
  | { readonly kind: 'exists'; readonly path: string }
  /** Some value on the path, array elements included, has this type. */
  | { readonly kind: 'type'; readonly path: string; readonly type: TypeCode }
  /** Some array on the path has this length. */
  | { readonly kind: 'size'; readonly path: string; readonly length: number }

/** Some value on the path is this scalar. */
export type ValuePair = Extract<Pair, { readonly kind: 'value' }>

/** Some value on the path has a type. */
export type TypePair = Extract<Pair, { readonly kind: 'type' }>

/** Types for which an index may support ranges: their keys are doubles, or texts ordered by code point. */
export type RangeType = typeof Type.number | typeof Type.date | typeof Type.string

export function isRangeType(type: unknown): type is RangeType {
  return type === Type.number || type === Type.date || type === Type.string
}

/** Some value of the type on the path, including array elements at any depth, lies between the bounds. */
export interface Range {
  readonly path: string
  readonly type: RangeType
  /** Undefined: unbounded within the type. NaN is in no range. */
  readonly low: RangeEnd | undefined
  readonly high: RangeEnd | undefined
}

/** A scalar's key (see scalar.ts); the scalar is exact. */
export interface RangeEnd {
  readonly key: number | string
  readonly isInclusive: boolean
}

export type PairExpression =
  | { readonly kind: 'all' }
  | { readonly kind: 'none' }
  | { readonly kind: 'pair'; readonly pair: Pair }
  | { readonly kind: 'range'; readonly range: Range }
  | { readonly kind: 'and'; readonly children: readonly PairExpression[] }
  | { readonly kind: 'or'; readonly children: readonly PairExpression[] }
  | { readonly kind: 'not'; readonly child: PairExpression }
  | { readonly kind: 'bounds'; readonly lower: PairExpression; readonly upper: PairExpression }

export const all: PairExpression = { kind: 'all' }
export const none: PairExpression = { kind: 'none' }
/** Nothing is known: lower is empty, upper is everything. */
export const unknown: PairExpression = { kind: 'bounds', lower: none, upper: all }

/** A pair whose presence proves a match wherever the index knows it exactly. */
export function pairOf(pair: Pair): PairExpression {
  return { kind: 'pair', pair }
}

/** A range that proves a match wherever the index knows the document's only value of the type. */
export function rangeOf(range: Range): PairExpression {
  return { kind: 'range', range }
}

/** Upper bound only: every result has to be confirmed. */
export function upperOnly(expression: PairExpression): PairExpression {
  return expression.kind === 'all' ? unknown : { kind: 'bounds', lower: none, upper: expression }
}

/** Conjunction; flattens nested conjunctions, drops `all`, collapses on `none`. */
export function and(children: readonly PairExpression[]): PairExpression {
  return combine('and', children, all, none)
}

/** Disjunction; flattens nested disjunctions, drops `none`, collapses on `all`. */
export function or(children: readonly PairExpression[]): PairExpression {
  return combine('or', children, none, all)
}

export function not(child: PairExpression): PairExpression {
  if (child.kind === 'all') return none
  if (child.kind === 'none') return all
  if (child.kind === 'not') return child.child
  return { kind: 'not', child }
}

function combine(
  kind: 'and' | 'or',
  children: readonly PairExpression[],
  neutral: PairExpression,
  absorbing: PairExpression
): PairExpression {
  const kept: PairExpression[] = []
  for (const child of children) {
    if (child.kind === absorbing.kind) return absorbing
    if (child.kind === neutral.kind) continue
    if (child.kind !== kind) kept.push(child)
    // One at a time: as arguments of one call, some hundred thousand members would overflow the stack.
    else for (const member of child.children) kept.push(member)
  }
  if (kept.length === 0) return neutral
  return kept.length === 1 ? kept[0]! : { kind, children: kept }
}
