/** Chooses how a read finds its documents. Pure policy: no I/O, no state. */
import { all, type PairExpression, unknown } from '../../model/pairs.ts'

export type Plan =
  /** The filter names the only `_id`s that can match. */
  | { readonly kind: 'ids'; readonly ids: readonly unknown[]; readonly reverse: boolean }
  /** The index provides bounds; candidates between them are confirmed. */
  | { readonly kind: 'index'; readonly bounds: PairExpression; readonly reverse: boolean }
  /** Every live document is a candidate, and certain if the bounds are `all`. */
  | { readonly kind: 'scan'; readonly bounds: PairExpression; readonly reverse: boolean }

export interface PlanRequest {
  readonly bounds: PairExpression
  readonly ids: readonly unknown[] | undefined
  /** Direction of `$natural`; undefined if the order is free or there is another sort. */
  readonly natural: 1 | -1 | undefined
  readonly hint: 'scan' | 'index' | undefined
}

/**
 * @example
 * plan({ bounds: all, ids: [1], natural: undefined, hint: undefined }) // { kind: 'ids', ids: [1], reverse: false }
 */
export function plan({ bounds, ids, natural, hint }: PlanRequest): Plan {
  const reverse = natural === -1
  if (hint === 'scan') return { kind: 'scan', bounds: bounds.kind === 'all' ? all : unknown, reverse }
  if (ids !== undefined && hint === undefined) return { kind: 'ids', ids, reverse }
  if (bounds.kind === 'all' || isUnknown(bounds)) return { kind: 'scan', bounds, reverse }
  return { kind: 'index', bounds, reverse }
}

/** True when the index can neither exclude nor prove anything. */
export function isUnknown(bounds: PairExpression): boolean {
  return bounds.kind === 'bounds' && bounds.lower.kind === 'none' && bounds.upper.kind === 'all'
}
