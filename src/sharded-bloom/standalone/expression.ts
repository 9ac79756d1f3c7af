/**
 * Boolean expressions over pairs: AND, OR and NOT.
 *
 * `and()` without arguments matches everything, `or()` without arguments nothing.
 */

/** A key path and a value: a string, number, boolean, null, date or any other scalar that a document may hold. */
export type Pair = readonly [key: string, value: unknown]

export type Expression =
  | Pair
  | { readonly kind: 'and'; readonly children: readonly Expression[] }
  | { readonly kind: 'or'; readonly children: readonly Expression[] }
  | { readonly kind: 'not'; readonly child: Expression }

/** @example and(['lang', 'en'], or(['tag', 'bloom'], ['tag', 'filter'])) */
export function and(...children: readonly Expression[]): Expression {
  return { kind: 'and', children }
}

/** @example or(['lang', 'en'], ['lang', 'de']) */
export function or(...children: readonly Expression[]): Expression {
  return { kind: 'or', children }
}

/**
 * Matches every id that `child` does not match. A filter proves only that an id lacks a pair, never that it has it, so
 * `not(pair)` has every id as a candidate but makes most of them certain. `not(not(pair))` has the candidates of
 * `pair`. See docs/sharded-bloom.md.
 * @example and(['lang', 'en'], not(['verified', true]))
 */
export function not(child: Expression): Expression {
  return { kind: 'not', child }
}

/** Tells a pair from what and(), or() and not() return. */
export function isPair(expression: Expression): expression is Pair {
  return Array.isArray(expression)
}
