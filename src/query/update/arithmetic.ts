/**
 * Arithmetic operators: `$inc`, `$mul`, `$min`, `$max`, `$bit`.
 *
 * For how kinds of numbers mix see model/arithmetic.ts.
 */
import { Decimal128 } from 'bson'
import { add, multiply, type PlainNumber } from '../../model/arithmetic.ts'
import { compareValues, type StringOrder } from '../../model/compare.ts'
import type { PetalError } from '../../model/errors.ts'
import { unwrapNumber } from '../../model/numbers.ts'
import { isPlainObject, type Numeric, Type, typeOf } from '../../model/types.ts'
import { describeType, filterError } from '../errors.ts'
import { absent, type Edit, type UpdatePlace } from './types.ts'

export function compileInc(operand: unknown, place: UpdatePlace): Edit {
  const amount = numericOperand(operand, place)
  return (current) => (current === absent ? amount : compute(add, numericTarget(current, place), amount, place))
}

/** A missing field becomes zero, of the operand's kind. */
export function compileMul(operand: unknown, place: UpdatePlace): Edit {
  const factor = numericOperand(operand, place)
  const zero = factor instanceof Decimal128 ? Decimal128.fromString('0') : typeof factor === 'bigint' ? 0n : 0
  return (current) => (current === absent ? zero : compute(multiply, numericTarget(current, place), factor, place))
}

export function compileMin(operand: unknown, _place: UpdatePlace, order?: StringOrder): Edit {
  return (current) => (current === absent || compareValues(operand, current, order) < 0 ? operand : current)
}

export function compileMax(operand: unknown, _place: UpdatePlace, order?: StringOrder): Edit {
  return (current) => (current === absent || compareValues(operand, current, order) > 0 ? operand : current)
}

function numericOperand(operand: unknown, place: UpdatePlace): PlainNumber {
  if (typeOf(operand) === Type.number) return unwrapNumber(operand as Numeric)
  throw filterError('TypeMismatch', place, `takes a number, not ${describeType(operand)}`)
}

function numericTarget(current: unknown, place: UpdatePlace): PlainNumber {
  if (typeOf(current) === Type.number) return unwrapNumber(current as Numeric)
  throw filterError('TypeMismatch', place, `cannot be applied to a value of non-numeric type ${describeType(current)}`)
}

/** @throws PetalError BadValue naming the place, for an integer that does not fit in 64 bits */
function compute(operation: typeof add, a: PlainNumber, b: PlainNumber, place: UpdatePlace): PlainNumber {
  try {
    return operation(a, b)
  } catch (error) {
    throw filterError('BadValue', place, (error as PetalError).message)
  }
}

type BitOperation = (a: bigint, b: bigint) => bigint

const bitOperations: ReadonlyMap<string, BitOperation> = new Map<string, BitOperation>([
  ['and', (a, b) => a & b],
  ['or', (a, b) => a | b],
  ['xor', (a, b) => a ^ b]
])

/** Compiles `{ and | or | xor: integer }`, several applied in order. A missing field counts as 0. */
export function compileBit(operand: unknown, place: UpdatePlace): Edit {
  if (!isPlainObject(operand) || Object.keys(operand).length === 0) {
    const found = isPlainObject(operand) ? 'an empty one' : describeType(operand)
    throw filterError('BadValue', place, `takes an object such as { and: 5 }, not ${found}`)
  }
  const operations = Object.entries(operand).map(([name, mask]) => {
    const operation = bitOperations.get(name)
    if (operation === undefined) throw filterError('BadValue', place, `takes and, or and xor, not '${name}'`)
    return { operation, mask: integerOf(mask, place, `the operand of ${name} must be an integer`) }
  })
  return (current) => {
    const start =
      current === absent ? 0 : integerOf(current, place, 'cannot be applied to a value that is not an integer')
    return operations.reduce<number | bigint>((value, { operation, mask }) => {
      const result = operation(BigInt(value), BigInt(mask))
      const isWide = typeof value === 'bigint' || typeof mask === 'bigint'
      return isWide || !Number.isSafeInteger(Number(result)) ? result : Number(result)
    }, start)
  }
}

function integerOf(value: unknown, place: UpdatePlace, problem: string): number | bigint {
  if (typeOf(value) === Type.number) {
    const plain = unwrapNumber(value as Numeric)
    if (typeof plain === 'bigint' || (typeof plain === 'number' && Number.isSafeInteger(plain))) return plain
  }
  throw filterError('BadValue', place, `${problem}, got ${describeType(value)}`)
}
