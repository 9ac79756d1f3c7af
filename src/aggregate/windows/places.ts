/**
 * Places of documents on the axis that they are sorted by.
 *
 * Numbers become decimals, doubles with their 15 significant digits, so that 0.3 is exactly 0.2 after 0.1, and every
 * value is within 0 of itself. Dates become milliseconds.
 */
import { decimalOf } from '../../model/arithmetic.ts'
import { addDecimals, type Decimal } from '../../model/decimal.ts'
import { compareNumbers, unwrapNumber } from '../../model/numbers.ts'
import type { Numeric } from '../../model/types.ts'

/** Safe integers, NaN and the infinities are represented by themselves. */
export type Place = number | Decimal

export function placeOf(value: Numeric | Date): Place {
  if (value instanceof Date) return value.getTime()
  const number = unwrapNumber(value)
  if (typeof number === 'number' && isPlain(number)) return number
  return decimalOf(number) ?? Number(String(number))
}

export function movedBy(place: Place, distance: Place): Place {
  if (typeof place === 'number' && typeof distance === 'number') {
    const sum = place + distance
    if (isPlain(sum)) return sum
  }
  if (!isFinitePlace(place) || !isFinitePlace(distance)) return endOf(place) + endOf(distance)
  return addDecimals(toDecimal(place), toDecimal(distance))
}

/** Returns a negative number, 0 or a positive number. NaN sorts before all others. */
export function comparePlaces(a: Place, b: Place): number {
  if (typeof a === 'number' && typeof b === 'number') return compareNumbers(a, b)
  if (!isFinitePlace(a) || !isFinitePlace(b)) return compareNumbers(endOf(a), endOf(b))
  const { coefficient, exponent } = toDecimal(b)
  const difference = addDecimals(toDecimal(a), { coefficient: -coefficient, exponent }).coefficient
  return difference < 0n ? -1 : difference > 0n ? 1 : 0
}

function isPlain(number: number): boolean {
  return Number.isSafeInteger(number) || !Number.isFinite(number)
}

function isFinitePlace(place: Place): boolean {
  return typeof place !== 'number' || Number.isFinite(place)
}

/** Returns 0 for a finite place. */
function endOf(place: Place): number {
  return typeof place === 'number' && !Number.isFinite(place) ? place : 0
}

function toDecimal(place: Place): Decimal {
  return typeof place === 'number' ? { coefficient: BigInt(place), exponent: 0 } : place
}
