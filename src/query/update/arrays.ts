/**
 * Operators that add to arrays, and `$pop`: `$push` with `$each`, `$position`, `$sort`, `$slice`; `$addToSet` with
 * `$each`.
 */
import { compareValues, equalValues, type StringOrder } from '../../model/compare.ts'
import { unwrapNumber } from '../../model/numbers.ts'
import { type Document, isPlainObject, type Numeric, Type, typeOf } from '../../model/types.ts'
import { compileElementSort, wholeElementDirection } from '../element-sort.ts'
import { describeType, filterError } from '../errors.ts'
import { ValueSet } from '../value-set.ts'
import { distinctInOrder, oneInOrder } from '../values-in-order.ts'
import { absent, comparedOneByOne, type Edit, type UpdatePlace } from './types.ts'

type Rearrange = (array: readonly unknown[]) => readonly unknown[]

const pushModifiers: ReadonlySet<string> = new Set(['$each', '$position', '$sort', '$slice'])

export function compilePush(operand: unknown, place: UpdatePlace, order?: StringOrder): Edit {
  const modifiers = modifiersOf(operand, pushModifiers, place)
  const added = modifiers === undefined ? [operand] : eachOf(modifiers, 'BadValue', place)
  const position = modifiers?.$position === undefined ? undefined : integer(modifiers.$position, '$position', place)
  const sort = compilePushSort(modifiers?.$sort, place, order)
  const slice = compilePushSlice(modifiers?.$slice, place)
  return (current) => {
    const array = arrayAt(current, 'BadValue', place)
    // Negative positions count from the end, and are clamped to the start.
    const start = position === undefined ? array.length : position < 0 ? Math.max(0, array.length + position) : position
    return slice(sort([...array.slice(0, start), ...added, ...array.slice(start)]))
  }
}

/** Compiles `1` or `-1` for whole elements, `{ path: 1 | -1 }` for elements that are documents. */
function compilePushSort(spec: unknown, place: UpdatePlace, order: StringOrder | undefined): Rearrange {
  if (spec === undefined) return (array) => array
  const direction = wholeElementDirection(spec)
  if (direction !== undefined) return (array) => [...array].sort((a, b) => direction * compareValues(a, b, order))
  if (!isPlainObject(spec) || Object.keys(spec).length === 0) {
    throw filterError('BadValue', place, `$sort takes 1, -1 or { path: 1 | -1 }, not ${describeType(spec)}`)
  }
  const sort = compileElementSort(spec, { strings: order })
  if (sort === undefined) throw filterError('BadValue', place, '$sort cannot use $natural')
  return sort
}

function compilePushSlice(argument: unknown, place: UpdatePlace): Rearrange {
  if (argument === undefined) return (array) => array
  const count = integer(argument, '$slice', place)
  if (count === 0) return () => []
  return (array) => (count > 0 ? array.slice(0, count) : array.slice(count))
}

export function compileAddToSet(operand: unknown, place: UpdatePlace, order?: StringOrder): Edit {
  const modifiers = modifiersOf(operand, new Set(['$each']), place)
  const candidates = modifiers === undefined ? [operand] : eachOf(modifiers, 'TypeMismatch', place)
  return (current) => {
    const array = arrayAt(current, 'BadValue', place)
    if (candidates.length > comparedOneByOne) {
      if (order !== undefined) {
        const isMember = oneInOrder(array, order)
        return [...array, ...distinctInOrder(candidates, order).filter((candidate) => !isMember(candidate))]
      }
      const members = new ValueSet(array)
      return [...array, ...candidates.filter((candidate) => members.add(candidate))]
    }
    const result = [...array]
    for (const candidate of candidates) {
      if (!result.some((element) => equalValues(element, candidate, order))) result.push(candidate)
    }
    return result
  }
}

/** `1` removes the last element, `-1` the first. */
export function compilePop(operand: unknown, place: UpdatePlace): Edit {
  const end = typeOf(operand) === Type.number ? Number(String(unwrapNumber(operand as Numeric))) : undefined
  if (end !== 1 && end !== -1) {
    const found = end ?? describeType(operand)
    throw filterError('FailedToParse', place, `takes 1 (the last element) or -1 (the first), not ${found}`)
  }
  return (current) => {
    if (current === absent) return absent
    const array = arrayAt(current, 'TypeMismatch', place)
    return end === 1 ? array.slice(0, -1) : array.slice(1)
  }
}

/** Returns undefined when the operand is a plain value to add. */
function modifiersOf(operand: unknown, known: ReadonlySet<string>, place: UpdatePlace): Document | undefined {
  if (!isPlainObject(operand)) return undefined
  const keys = Object.keys(operand)
  const modifier = keys.find((key) => known.has(key))
  if (modifier === undefined) return undefined
  if (!Object.hasOwn(operand, '$each')) throw filterError('BadValue', place, `${modifier} needs $each`)
  const unknownKey = keys.find((key) => !known.has(key))
  if (unknownKey !== undefined) throw filterError('BadValue', place, `unrecognized clause '${unknownKey}'`)
  return operand
}

function eachOf(modifiers: Document, codeName: 'BadValue' | 'TypeMismatch', place: UpdatePlace): readonly unknown[] {
  const values = modifiers.$each
  if (Array.isArray(values)) return values
  throw filterError(codeName, place, `$each takes an array, not ${describeType(values)}`)
}

function integer(value: unknown, modifier: string, place: UpdatePlace): number {
  const number = typeOf(value) === Type.number ? Number(String(unwrapNumber(value as Numeric))) : Number.NaN
  if (Number.isSafeInteger(number)) return number
  throw filterError('BadValue', place, `${modifier} takes an integer, not ${describeType(value)}`)
}

/** A missing array counts as empty. */
function arrayAt(current: unknown, codeName: 'BadValue' | 'TypeMismatch', place: UpdatePlace): readonly unknown[] {
  if (current === absent) return []
  if (Array.isArray(current)) return current
  throw filterError(codeName, place, `the field must be an array but is of type ${describeType(current)}`)
}
