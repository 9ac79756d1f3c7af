/** `$sortArray`, and operators that select the first, last, least or greatest elements of an array. */
import { compareValues } from '../../model/compare.ts'
import { isPlainObject } from '../../model/types.ts'
import { compileElementSort, wholeElementDirection } from '../../query/element-sort.ts'
import { describeType } from '../../query/errors.ts'
import { isNil } from '../expression-values.ts'
import type { LoopGuard } from '../loop-guard.ts'
import { arrayOf, fieldsOf, limitOf, type Operator, type Operators } from './operator.ts'

type Compare = (a: unknown, b: unknown) => number

/** Selects values from one end. */
interface Picker {
  /** undefined for array order. With a comparison, null and missing are ignored. */
  readonly compare?: Compare
  /** @param values in that order */
  readonly take: (values: readonly unknown[], n: number) => unknown[]
}

export const fromStart = <T>(values: readonly T[], n: number): T[] => values.slice(0, n)
/** @param n ≥ 1 */
export const fromEnd = <T>(values: readonly T[], n: number): T[] => values.slice(-n)

export const pickers: ReadonlyMap<string, Picker> = new Map<string, Picker>([
  ['$firstN', { take: fromStart }],
  ['$lastN', { take: fromEnd }],
  ['$minN', { compare: compareValues, take: fromStart }],
  ['$maxN', { compare: (a, b) => compareValues(b, a), take: fromStart }]
])

export const orderingOperators: Operators = {
  ...Object.fromEntries(Array.from(pickers, ([name, pick]) => [name, picking(pick)])),
  $sortArray: (argument, compiler, name) => {
    const { input, sortBy } = fieldsOf(argument, name, ['input', 'sortBy'], [])
    const list = compiler.compile(input)
    const sorted = compileOrder(sortBy, name, compiler.loops)
    return (document) => {
      const values = list(document)
      return isNil(values) ? null : sorted(arrayOf(values, `${name}: input`))
    }
  }
}

/** @param sortBy `1` or `-1` for whole elements, `{ path: 1 | -1 }` for elements that are documents */
function compileOrder(sortBy: unknown, name: string, loops: LoopGuard): (values: readonly unknown[]) => unknown[] {
  const direction = wholeElementDirection(sortBy)
  if (direction !== undefined) {
    const order = counting((a, b) => direction * compareValues(a, b), loops)
    return (values) => values.toSorted(order)
  }
  if (!isPlainObject(sortBy) || Object.keys(sortBy).length === 0) {
    throw new TypeError(`${name}: sortBy takes 1, -1 or { path: 1 | -1 }, not ${describeType(sortBy)}`)
  }
  const sort = compileElementSort(sortBy, { onStep: () => loops.count() })
  if (sort === undefined) throw new TypeError(`${name}: sortBy cannot be $natural`)
  return sort
}

/** Counts comparisons as steps. */
function counting(compare: Compare, loops: LoopGuard): Compare {
  return (a, b) => {
    loops.count()
    return compare(a, b)
  }
}

function picking({ compare, take }: Picker): Operator {
  return (argument, compiler, name) => {
    const { n, input } = fieldsOf(argument, name, ['n', 'input'], [])
    const count = compiler.compile(n)
    const list = compiler.compile(input)
    const order = compare && counting(compare, compiler.loops)
    return (document) => {
      const most = limitOf(count(document), `${name}: n`)
      const values = arrayOf(list(document), `${name}: input`)
      return take(order === undefined ? values : values.filter((value) => !isNil(value)).sort(order), most)
    }
  }
}
