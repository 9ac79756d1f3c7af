/** Numbers as text. */
import { unwrapNumber } from '../../model/numbers.ts'
import type { Numeric } from '../../model/types.ts'

/** Spells a double as MongoDB does: the shortest digits that identify it, with an exponent below 10^-4 and from 10^16. */
export function numberText(value: Numeric): string {
  const number = unwrapNumber(value)
  if (typeof number !== 'number' || !Number.isFinite(number)) return String(number)
  if (Object.is(number, -0)) return '-0'
  const [digits, exponent] = number.toExponential().split('e') as [string, string]
  const power = Number(exponent)
  if (power >= -4 && power < 16) return String(number)
  return `${digits}e${power < 0 ? '-' : '+'}${String(Math.abs(power)).padStart(2, '0')}`
}
