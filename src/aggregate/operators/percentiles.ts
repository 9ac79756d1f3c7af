/** `$percentile` and `$median`: existing values, selected by rank. */
import { toDouble } from '../../model/numbers.ts'
import type { Expression } from '../expression-compile.ts'
import { arrayOf, type Compiler, describe, fieldsOf, isNumber } from './operator.ts'

/** Selects values by rank, for one document or a group. */
export interface Ranks {
  readonly input: Expression
  /** The ranks, as fractions; evaluated once for all values. */
  readonly fractions: Expression
  of(values: readonly unknown[], fractions: unknown): unknown
  /** @param numbers results of rankable() for the values, ascending */
  ofSorted(numbers: readonly number[], fractions: unknown): unknown
}

/** Ranks are exact, although the only method that MongoDB knows may be approximate. */
export function compileRanks(name: string, argument: unknown, compiler: Compiler): Ranks {
  const isMedian = name === '$median'
  const { input, p, method } = fieldsOf(argument, name, ['input', ...(isMedian ? [] : ['p']), 'method'], [])
  if (method !== 'approximate') {
    const found = typeof method === 'string' ? `'${method}'` : describe(method)
    throw new TypeError(`${name}: method must be 'approximate', not ${found}`)
  }
  const ofSorted: Ranks['ofSorted'] = (numbers, fractions) => {
    const found = percentiles(numbers, arrayOf(fractions, `${name}: p`), name)
    return isMedian ? found[0] : found
  }
  return {
    input: compiler.compile(input),
    fractions: compiler.compile(isMedian ? [0.5] : p),
    of(values, fractions) {
      const numbers = values.map(rankable).filter((number) => number !== undefined)
      return ofSorted(numbers.sort(ascending), fractions)
    },
    ofSorted
  }
}

/** Returns undefined for a value that is ignored. */
export function rankable(value: unknown): number | undefined {
  const number = isNumber(value) ? toDouble(value) : Number.NaN
  return Number.isNaN(number) ? undefined : number
}

export function ascending(a: number, b: number): number {
  return a < b ? -1 : a > b ? 1 : 0
}

/** Returns null for each fraction if there are no numbers. */
function percentiles(numbers: readonly number[], fractions: readonly unknown[], name: string): (number | null)[] {
  if (fractions.length === 0) throw new TypeError(`${name}: p takes at least one number`)
  return fractions.map((value) => {
    const fraction = isNumber(value) ? toDouble(value) : Number.NaN
    if (!(fraction >= 0 && fraction <= 1)) throw new TypeError(`${name}: p takes numbers from 0 to 1`)
    return numbers[Math.max(0, Math.ceil(fraction * numbers.length) - 1)] ?? null
  })
}
