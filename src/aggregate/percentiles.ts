/** `$percentile` and `$median`: values that are there, by their rank. */
import { toDouble } from '../model/numbers.ts'
import { isPlainObject, type Numeric, Type, typeOf } from '../model/types.ts'
import { describeType } from '../query/errors.ts'

/** What an accumulator is told of how. */
export interface Ranks {
  readonly input: unknown
  readonly p?: unknown
  readonly method?: unknown
}

/** @throws TypeError unless there is an `input` */
export function ranksOf(name: string, argument: unknown): Ranks {
  if (isPlainObject(argument) && Object.hasOwn(argument, 'input')) return argument as unknown as Ranks
  throw new TypeError(`${name} takes { input, method }, not ${describeType(argument)}`)
}

/** null for each where there are no numbers; what is no number is passed over. */
export function percentiles(values: readonly unknown[], fractions: unknown): (number | null)[] {
  if (!Array.isArray(fractions)) throw new TypeError(`$percentile: p must be an array, not ${describeType(fractions)}`)
  const numbers = values
    .filter((value) => value !== undefined && typeOf(value) === Type.number)
    .map((value) => toDouble(value as Numeric))
    .filter((number) => !Number.isNaN(number))
    .sort((a, b) => a - b)
  return fractions.map((fraction: unknown) => {
    if (typeof fraction !== 'number' || !(fraction >= 0 && fraction <= 1)) {
      throw new TypeError('$percentile: p must be numbers from 0 to 1')
    }
    return numbers[Math.max(0, Math.ceil(fraction * numbers.length) - 1)] ?? null
  })
}
