/** Sets of values that are equal under an order of strings, as collations have: by binary search, not by pairs. */
import { compareValues, type StringOrder } from '../model/compare.ts'
import { countWhile } from '../model/count-while.ts'

/** Returns a test for values that equal one of these. */
export function oneInOrder(values: readonly unknown[], order: StringOrder): (value: unknown) => boolean {
  const sorted = [...values].sort((a, b) => compareValues(a, b, order))
  return (value) => {
    const before = countWhile(sorted.length, (i) => compareValues(sorted[i], value, order) < 0)
    return before < sorted.length && compareValues(sorted[before], value, order) === 0
  }
}

/** Returns the values without those that equal an earlier one. */
export function distinctInOrder(values: readonly unknown[], order: StringOrder): unknown[] {
  const places = values.map((_, i) => i).sort((a, b) => compareValues(values[a], values[b], order) || a - b)
  const isFirst = (place: number, i: number): boolean =>
    i === 0 || compareValues(values[places[i - 1]!], values[place], order) !== 0
  return places
    .filter(isFirst)
    .sort((a, b) => a - b)
    .map((place) => values[place])
}
