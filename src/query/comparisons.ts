/**
 * Makes tests of comparisons, by the order of code points or by another order of strings.
 *
 * Only values that contain strings compare differently under another order; all others keep the tests that indexes
 * support.
 */
import type { StringOrder } from '../model/compare.ts'
import { compareNumbers } from '../model/numbers.ts'
import { isPlainObject, type Numeric, Type, typeOf } from '../model/types.ts'
import { type Formula, leaf, type Predicate, type RangeOperator, type Test } from './ast.ts'
import type { Pattern } from './pattern.ts'

export function equalTest(value: unknown, order?: StringOrder): Test {
  return order !== undefined && holdsString(value)
    ? leaf({ kind: 'collated', operator: '$in', values: [value], order })
    : leaf({ kind: 'equal', value })
}

export function memberTest(values: readonly unknown[], patterns: readonly Pattern[], order?: StringOrder): Test {
  if (order === undefined || !values.some(holdsString)) return leaf({ kind: 'in', values, patterns })
  const collated: Test = leaf({ kind: 'collated', operator: '$in', values: values.filter(holdsString), order })
  const others = values.filter((value) => !holdsString(value))
  if (others.length + patterns.length === 0) return collated
  return { kind: 'or', children: [collated, leaf<Predicate>({ kind: 'in', values: others, patterns })] }
}

/**
 * Null and NaN equal themselves and are neither above nor below anything.
 * REQUIRES: the bound is not a regular expression.
 */
export function rangeTest(operator: RangeOperator, value: unknown, order?: StringOrder): Formula<Predicate> {
  if (value === null || (typeOf(value) === Type.number && isNaNumber(value as Numeric))) {
    return operator === '$gte' || operator === '$lte' ? leaf({ kind: 'equal', value }) : { kind: 'never' }
  }
  return order !== undefined && holdsString(value)
    ? leaf({ kind: 'collated', operator, values: [value], order })
    : leaf({ kind: 'range', operator, value })
}

function isNaNumber(value: Numeric): boolean {
  return compareNumbers(value, Number.NaN) === 0
}

function holdsString(value: unknown): boolean {
  if (Array.isArray(value)) return value.some(holdsString)
  if (isPlainObject(value)) return Object.values(value).some(holdsString)
  return typeOf(value) === Type.string
}
