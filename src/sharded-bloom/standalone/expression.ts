/**
 * Questions about ids: AND, OR and NOT over pairs.
 *
 * `and()` of nothing is everything, `or()` of nothing is nothing.
 */

/** A key path and a value: a string, a number, a boolean, null, a date or another scalar that a document may hold. */
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
 * Everything that does not match. What is *proved* not to match a pair is excluded by `not(not(pair))` alone: that an id may
 * have a pair says nothing about its not having it, so `not(pair)` has every id as a candidate. See docs/sharded-bloom.md.
 * @example and(['lang', 'en'], not(['verified', true]))
 */
export function not(child: Expression): Expression {
  return { kind: 'not', child }
}

/** Tells a pair from what and(), or() and not() return. */
export function isPair(expression: Expression): expression is Pair {
  return Array.isArray(expression)
}
