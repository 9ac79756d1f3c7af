/**
 * `$round` and `$trunc` of numbers of all types, to a decimal place. Computed in decimal, because scaling a double and
 * rounding it with Math.round() is wrong for many numbers.
 */
import { Decimal128 } from 'bson'
import type { PlainNumber } from '../../model/arithmetic.ts'
import { cutDecimal, parseDecimal, quantizeDecimal } from '../../model/decimal.ts'
import { unwrapNumber } from '../../model/numbers.ts'
import { type Numeric, Type, typeOf } from '../../model/types.ts'
import { describeType } from '../../query/errors.ts'
import { isNil } from '../expression-values.ts'

type Mode = 'round' | 'truncate'

/** Significant digits of a double's exact value, not of its shortest representation: 2.345 is a little more. */
const doubleDigits = 34

/** @param values the number, and the place, 0 by default; places before the decimal point are negative */
export function roundTo(operator: string, mode: Mode, values: readonly unknown[]): PlainNumber | null {
  if (values.length < 1 || values.length > 2) throw new TypeError(`${operator} takes a number and an optional place`)
  const [value, place] = values.length === 1 ? [values[0], 0] : values
  if (isNil(value)) return null
  if (typeOf(value) !== Type.number) throw new TypeError(`${operator} takes a number, got ${describeType(value)}`)
  if (isNil(place)) return null
  const places = typeOf(place) === Type.number ? Number(String(place)) : Number.NaN
  if (!Number.isInteger(places) || places < -20 || places > 100) {
    throw new TypeError(`${operator} takes a whole number from -20 to 100 as the place`)
  }
  return rounded(unwrapNumber(value as Numeric), -places, mode, operator)
}

function rounded(value: PlainNumber, exponent: number, mode: Mode, operator: string): PlainNumber {
  if (typeof value === 'number') {
    const decimal = parseDecimal(value.toPrecision(doubleDigits))
    // NaN, infinities and -0 are unchanged.
    if (decimal === undefined || value === 0) return value
    const { coefficient, exponent: power } = cutDecimal(decimal, exponent, mode)
    const result = Number(`${coefficient}e${power}`)
    // Integers have no -0.
    return result === 0 && value < 0 && !Number.isInteger(value) ? -0 : result
  }
  if (value instanceof Decimal128) return quantizeDecimal(value, exponent, mode)
  const cut = cutDecimal({ coefficient: value, exponent: 0 }, exponent, mode)
  const whole = cut.coefficient * 10n ** BigInt(cut.exponent)
  if (BigInt.asIntN(64, whole) === whole) return whole
  throw new TypeError(`${operator}: ${whole} does not fit in 64 bits`)
}
