/** Comparison and truthiness of values in expressions: like in the data model, but including missing values. */
import { compareValues } from '../model/compare.ts'
import { toDouble } from '../model/numbers.ts'
import { type Numeric, Type, typeOf } from '../model/types.ts'

/** Missing values sort before all others, including null: `{ $eq: ['$missing', null] }` is false. */
export function compareInExpression(a: unknown, b: unknown): number {
  if (a !== undefined && b !== undefined) return compareValues(a, b)
  // Only MinKey sorts before missing.
  if (b === undefined) return a === undefined ? 0 : typeOf(a) === Type.minKey ? -1 : 1
  return typeOf(b) === Type.minKey ? 1 : -1
}

/** False, zero, null and missing are false; everything else is true, including NaN and the empty string. */
export function isTruthy(value: unknown): boolean {
  if (value === undefined || value === null || value === false) return false
  return typeOf(value) !== Type.number || toDouble(value as Numeric) !== 0
}

export function isNil(value: unknown): value is null | undefined {
  return value === undefined || value === null
}
