/** Linear interpolation between two points. */
import { Decimal128 } from 'bson'
import { decimalOf, type PlainNumber } from '../model/arithmetic.ts'
import { addDecimals, type Decimal, divideDecimals, multiplyDecimals, toDecimal128 } from '../model/decimal.ts'
import { toDouble } from '../model/numbers.ts'

export interface Point {
  readonly x: PlainNumber
  readonly y: PlainNumber
}

/**
 * Computes with doubles or, if one of the numbers is a Decimal128, with decimals.
 * REQUIRES: the points differ in x.
 */
export function interpolate(left: Point, right: Point, x: PlainNumber): PlainNumber {
  const numbers = [left.x, left.y, right.x, right.y, x] as const
  const isDecimal = numbers.some((number) => number instanceof Decimal128)
  if (isDecimal) {
    const decimals = numbers.map(decimalOf)
    if (decimals.every((decimal) => decimal !== undefined)) return toDecimal128(betweenDecimals(decimals))
  }
  const [x1, y1, x2, y2, at] = numbers.map(toDouble) as [number, number, number, number, number]
  const between = (y1 * (x2 - at) + y2 * (at - x1)) / (x2 - x1)
  return isDecimal ? Decimal128.fromString(String(between)) : between
}

function betweenDecimals(numbers: readonly Decimal[]): Decimal {
  const [x1, y1, x2, y2, at] = numbers as readonly [Decimal, Decimal, Decimal, Decimal, Decimal]
  const weighted = addDecimals(
    multiplyDecimals(y1, subtractDecimals(x2, at)),
    multiplyDecimals(y2, subtractDecimals(at, x1))
  )
  return divideDecimals(weighted, subtractDecimals(x2, x1))
}

function subtractDecimals(a: Decimal, b: Decimal): Decimal {
  return addDecimals(a, { ...b, coefficient: -b.coefficient })
}
