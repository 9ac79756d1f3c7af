/**
 * Values as expressions compare them: the order of the model, with a place for what is missing.
 */
import { compareValues } from '../model/compare.ts'
import { toDouble } from '../model/numbers.ts'
import { type Numeric, Type, typeOf } from '../model/types.ts'

/** Missing is before everything, null too: `{ $eq: ['$missing', null] }` is false. */
export function compareInExpression(a: unknown, b: unknown): number {
  if (a !== undefined && b !== undefined) return compareValues(a, b)
  // MinKey alone comes before what is missing.
  if (b === undefined) return a === undefined ? 0 : typeOf(a) === Type.minKey ? -1 : 1
  return typeOf(b) === Type.minKey ? 1 : -1
}

/** False, zero, null and missing are false; everything else is true, NaN and the empty string among it. */
export function isTruthy(value: unknown): boolean {
  if (value === undefined || value === null || value === false) return false
  return typeOf(value) !== Type.number || toDouble(value as Numeric) !== 0
}

export function isNil(value: unknown): value is null | undefined {
  return value === undefined || value === null
}
