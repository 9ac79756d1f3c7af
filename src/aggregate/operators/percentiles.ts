/** `$percentile` and `$median`: values that are there, by their rank. */
import { toDouble } from '../../model/numbers.ts'
import type { Expression } from '../expression-compile.ts'
import { arrayOf, type Compiler, fieldsOf, isNumber } from './operator.ts'

/** What is given of so many values, for one document or for a group. */
export interface Ranks {
  readonly input: Expression
  /** Which ranks; evaluated once for all values. */
  readonly fractions: Expression
  of(values: readonly unknown[], fractions: unknown): unknown
}

/** The method does not matter: ranks are exact. */
export function compileRanks(name: string, argument: unknown, compiler: Compiler): Ranks {
  const isMedian = name === '$median'
  const { input, p } = fieldsOf(argument, name, isMedian ? ['input'] : ['input', 'p'], ['method'])
  return {
    input: compiler.compile(input),
    fractions: compiler.compile(isMedian ? [0.5] : p),
    of(values, fractions) {
      const found = percentiles(values, arrayOf(fractions, `${name}: p`), name)
      return isMedian ? found[0] : found
    }
  }
}

/** null for each where there are no numbers; what is no number is passed over. */
function percentiles(values: readonly unknown[], fractions: readonly unknown[], name: string): (number | null)[] {
  const numbers = values
    .filter(isNumber)
    .map(toDouble)
    .filter((number) => !Number.isNaN(number))
    .sort((a, b) => a - b)
  return fractions.map((value) => {
    const fraction = isNumber(value) ? toDouble(value) : Number.NaN
    if (!(fraction >= 0 && fraction <= 1)) throw new TypeError(`${name}: p takes numbers from 0 to 1`)
    return numbers[Math.max(0, Math.ceil(fraction * numbers.length) - 1)] ?? null
  })
}
