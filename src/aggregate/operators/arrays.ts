/** Operators on arrays: elements by position, slices, and arrays of arrays. */
import { PetalError } from '../../model/errors.ts'
import { defaultBudgetBytes } from '../../model/memory-budget.ts'
import { describeType } from '../../query/errors.ts'
import { compareInExpression, isNil } from '../expression-values.ts'
import type { LoopGuard } from '../loop-guard.ts'
import { arrayOf, arraysOf, fieldsOf, integerOf, nary, type Operator, type Operators, unary } from './operator.ts'

/** Maximum length of a `$range`, limited by the memory that an operation may use. */
const maxRange = defaultBudgetBytes / 16

export const arrayOperators: Operators = {
  $arrayElemAt: nary(2, 2, ([array, position], name) => {
    if (isNil(array) || isNil(position)) return null
    return arrayOf(array, name).at(integerOf(position, `${name}: position`))
  }),
  $first: end(0),
  $last: end(-1),
  $concatArrays: nary(0, Number.POSITIVE_INFINITY, concatenated),
  $isArray: unary(Array.isArray),
  $size: unary((value, name) => arrayOf(value, name).length),
  $reverseArray: unary((value, name, loops) =>
    isNil(value) ? null : counted(arrayOf(value, name).toReversed(), loops)
  ),
  $in: nary(2, 2, ([value, list], name, loops) => {
    const elements = arrayOf(list, `${name}: the second argument`)
    return indexIn(elements, (element) => compareInExpression(element, value) === 0, loops) >= 0
  }),
  $indexOfArray: nary(2, 4, ([array, wanted, ...bounds], name, loops) => {
    if (isNil(array)) return null
    const elements = arrayOf(array, name)
    const [from = 0, to = elements.length] = bounds.map((bound) => integerOf(bound, `${name}: position`, 0))
    const isWanted = (element: unknown, i: number): boolean => i >= from && compareInExpression(element, wanted) === 0
    return indexIn(elements.slice(0, to), isWanted, loops)
  }),
  $range: nary(2, 3, (values, name, loops) => {
    const [start, end, by] = values.length === 2 ? [...values, 1] : values
    const from = integerOf(start, `${name}: start`)
    const to = integerOf(end, `${name}: end`)
    const step = integerOf(by, `${name}: step`)
    if (step === 0) throw new TypeError(`${name}: step must not be 0`)
    const length = Math.max(0, Math.ceil((to - from) / step))
    if (length > maxRange) {
      throw new PetalError(
        'QueryExceededMemoryLimit',
        `${name} would give ${length} numbers, more than the maximum of ${maxRange}`
      )
    }
    return counted(
      Array.from({ length }, (_, i) => from + i * step),
      loops
    )
  }),
  $slice: nary(2, 3, (values, name, loops) => {
    const [array, position, count] = values
    if (isNil(array) || isNil(position)) return null
    const elements = arrayOf(array, name)
    const n = integerOf(position, `${name}: position or count`)
    if (values.length === 2) return counted(n < 0 ? elements.slice(n) : elements.slice(0, n), loops)
    if (isNil(count)) return null
    const from = n < 0 ? Math.max(0, elements.length + n) : n
    return counted(elements.slice(from, from + integerOf(count, `${name}: count`, 1)), loops)
  }),
  $zip: (argument, compiler, name) => {
    const fields = fieldsOf(argument, name, ['inputs'], ['defaults', 'useLongestLength'])
    const { inputs, defaults, useLongestLength = false } = fields
    if (!Array.isArray(inputs) || inputs.length === 0) {
      throw new TypeError(`${name}: inputs takes an array of at least one expression`)
    }
    if (typeof useLongestLength !== 'boolean') {
      throw new TypeError(`${name}: useLongestLength takes true or false, not ${describeType(useLongestLength)}`)
    }
    const fillers: readonly unknown[] = Array.isArray(defaults) ? defaults : []
    if (defaults !== undefined && (!Array.isArray(defaults) || (fillers.length > 0 && !useLongestLength))) {
      throw new TypeError(`${name}: defaults takes an array, and requires useLongestLength: true`)
    }
    if (fillers.length > 0 && fillers.length !== inputs.length) {
      throw new TypeError(`${name}: there must be as many defaults as inputs`)
    }
    const lists = inputs.map((input) => compiler.compile(input))
    const others = fillers.map((filler) => compiler.compile(filler))
    return (document) => {
      const values = lists.map((list) => list(document))
      const arrays = arraysOf(values, `${name}: inputs`)
      if (arrays === null) return null
      const lengths = arrays.map(({ length }) => length)
      const length = useLongestLength ? Math.max(...lengths) : Math.min(...lengths)
      return Array.from({ length }, (_, at) => {
        compiler.loops.count()
        return arrays.map((array, i) => (at < array.length ? array[at] : others[i]?.(document)) ?? null)
      })
    }
  }
}

/** Returns a new array, or null if one of the values is null or missing. */
export function concatenated(values: readonly unknown[], name: string, loops: LoopGuard): unknown[] | null {
  const arrays = arraysOf(values, name)
  if (arrays === null) return null
  // concat() copies a long array a hundred times as fast as flatMap(), but takes each array as an argument.
  return counted(arrays.length > 1000 ? arrays.flat() : ([] as unknown[]).concat(...arrays), loops)
}

/** As findIndex(). */
function indexIn(
  elements: readonly unknown[],
  isWanted: (element: unknown, i: number) => boolean,
  loops: LoopGuard
): number {
  const at = elements.findIndex(isWanted)
  loops.count(at < 0 ? elements.length : at)
  return at
}

function counted(copy: unknown[], loops: LoopGuard): unknown[] {
  loops.countCopies(copy.length)
  return copy
}

/** Returns the first or last element; missing for an empty array. */
function end(position: 0 | -1): Operator {
  return unary((value, name) => (isNil(value) ? null : arrayOf(value, name).at(position)))
}
