/**
 * Evaluates an expression to two sets of positions, lower and upper.
 *
 * Invariants, for every expression:
 * 1. Upper: an id that matches has all of its K positions in upper.
 * 2. Lower: every id with a position in lower matches.
 *
 * They hold for a pair, where upper is what the tail finds and lower is empty; AND and OR of each bound preserve them.
 * NOT swaps the bounds and complements them within the positions in use: by 2, an id that does not match x has no
 * position in lower(x), so all of its positions are in ¬lower(x); by 1, an id with one position outside upper(x) does
 * not match x, so all of ¬upper(x) is certain. A filter's "maybe" is never complemented into a "no".
 *
 * By 1 an id is a candidate when *all* of its positions are in upper; by 2 it is certain when *any* is in lower.
 */
import { BitSet } from '../../bloom/bit-set.ts'
import { PetalError } from '../../model/errors.ts'
import { type Expression, isPair, type Pair } from './expression.ts'
import { shown } from './options.ts'

export interface Bounds {
  readonly lower: BitSet
  readonly upper: BitSet
}

export interface Source {
  /** M */
  readonly bits: number
  /** A fresh copy of the positions of every id that was added. */
  used(): BitSet
  /** out = the positions at which the pair is found. */
  read(pair: Pair, out: BitSet): void
}

/** Each nesting level holds bit sets of its own. */
const maxDepth = 1000

/** @throws PetalError BadValue for a value that is not an expression, or one that nests too deep */
export function evaluate(expression: Expression, source: Source, depth = 0): Bounds {
  if (depth > maxDepth) throw new PetalError('BadValue', `The expression is nested deeper than ${maxDepth} levels`)
  if (isPair(expression)) {
    const upper = new BitSet(source.bits)
    source.read(expression, upper)
    return { lower: new BitSet(source.bits), upper }
  }
  switch (expression?.kind) {
    case 'and':
      return combine(expression, source, depth, (into, other) => into.and(other)) ?? everything(source)
    case 'or':
      return combine(expression, source, depth, (into, other) => into.or(other)) ?? nothing(source)
    case 'not': {
      const { lower, upper } = evaluate(expression.child, source, depth + 1)
      return { lower: source.used().andNot(upper), upper: source.used().andNot(lower) }
    }
    default:
      throw new PetalError('BadValue', `Expected [key, value], and(), or() or not(), got ${shown(expression)}`)
  }
}

function combine(
  { kind, children }: Extract<Expression, { readonly children: readonly Expression[] }>,
  source: Source,
  depth: number,
  fold: (into: BitSet, other: BitSet) => void
): Bounds | undefined {
  if (!Array.isArray(children))
    throw new PetalError('BadValue', `${kind}() takes an array of expressions, got ${shown(children)}`)
  let bounds: Bounds | undefined
  for (const child of children) {
    const next = evaluate(child, source, depth + 1)
    if (bounds === undefined) bounds = next
    else {
      fold(bounds.lower, next.lower)
      fold(bounds.upper, next.upper)
    }
  }
  return bounds
}

function everything(source: Source): Bounds {
  return { lower: source.used(), upper: source.used() }
}

function nothing(source: Source): Bounds {
  return { lower: new BitSet(source.bits), upper: new BitSet(source.bits) }
}
