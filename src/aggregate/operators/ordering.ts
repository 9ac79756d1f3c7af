/** `$sortArray`, and so many of an array's elements: the first, the last, the least, the greatest. */
import { compareValues } from '../../model/compare.ts'
import { type Document, isPlainObject } from '../../model/types.ts'
import { describeType } from '../../query/errors.ts'
import { compileSort } from '../../query/sort.ts'
import { isNil } from '../expression-values.ts'
import { arrayOf, fieldsOf, integerOf, type Operator, type Operators } from './operator.ts'

type Pick = (values: readonly unknown[], n: number) => unknown[]

/** What each of them makes of values; the least and the greatest pass over null and missing. */
export const picks: Readonly<Record<string, Pick>> = {
  $firstN: (values, n) => values.slice(0, n),
  $lastN: (values, n) => values.slice(-n),
  $minN: (values, n) => present(values).sort(compareValues).slice(0, n),
  $maxN: (values, n) =>
    present(values)
      .sort((a, b) => compareValues(b, a))
      .slice(0, n)
}

export const orderingOperators: Operators = {
  ...Object.fromEntries(Object.keys(picks).map((name) => [name, picking(picks[name] as Pick)])),
  $sortArray: (argument, compiler, name) => {
    const { input, sortBy } = fieldsOf(argument, name, ['input', 'sortBy'], [])
    const list = compiler.compile(input)
    const sorted = compileOrder(sortBy, name)
    return (document) => {
      const values = list(document)
      return isNil(values) ? null : sorted(arrayOf(values, `${name}: input`))
    }
  }
}

/** @param sortBy `1` or `-1` for whole elements, `{ path: 1 | -1 }` for elements that are documents */
function compileOrder(sortBy: unknown, name: string): (values: readonly unknown[]) => unknown[] {
  if (sortBy === 1 || sortBy === -1) return (values) => values.toSorted((a, b) => sortBy * compareValues(a, b))
  if (!isPlainObject(sortBy) || Object.keys(sortBy).length === 0) {
    throw new TypeError(`${name}: sortBy takes 1, -1 or { path: 1 | -1 }, not ${describeType(sortBy)}`)
  }
  const { keyOf, compareKeys, natural } = compileSort(sortBy)
  if (natural !== undefined) throw new TypeError(`${name}: sortBy cannot be $natural`)
  const asDocument = (value: unknown): Document => (isPlainObject(value) ? value : {})
  return (values) =>
    values
      .map((value) => ({ value, key: keyOf(asDocument(value)) }))
      .sort((a, b) => compareKeys(a.key, b.key))
      .map(({ value }) => value)
}

function picking(pick: Pick): Operator {
  return (argument, compiler, name) => {
    const { n, input } = fieldsOf(argument, name, ['n', 'input'], [])
    const count = compiler.compile(n)
    const list = compiler.compile(input)
    return (document) => {
      const most = integerOf(count(document), `${name}: n`, 1)
      return pick(arrayOf(list(document), `${name}: input`), most)
    }
  }
}

function present(values: readonly unknown[]): unknown[] {
  return values.filter((value) => !isNil(value))
}
