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
 * Matches every id that `child` does not match. A filter can never prove that an id has a pair, so `not(pair)` has
 * every id as a candidate; only `not(not(pair))` excludes the ids *proved* not to match it. See docs/sharded-bloom.md.
 * @example and(['lang', 'en'], not(['verified', true]))
 */
export function not(child: Expression): Expression {
  return { kind: 'not', child }
}

/** Tells a pair from what and(), or() and not() return. */
export function isPair(expression: Expression): expression is Pair {
  return Array.isArray(expression)
}
