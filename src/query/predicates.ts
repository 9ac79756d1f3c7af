/**
 * Predicates as closures over one value. Each is specialised for its argument's type when compiled, so that the common
 * case is one comparison.
 *
 * Invariant: `undefined` is missing, and is decided like any other value.
 */
import { compareStrings, compareValues, equalValues, type StringOrder } from '../model/compare.ts'
import { exactInt64, truncateToInt64 } from '../model/integers.ts'
import { compareNumbers, isExactDouble, toDouble } from '../model/numbers.ts'
import { binaryParts, regexParts } from '../model/scalar.ts'
import { type Numeric, Type, typeOf } from '../model/types.ts'
import type { BitsOperator, NumericKind, Predicate, RangeOperator, TypeTest } from './ast.ts'
import type { ValueTest } from './path-values.ts'
import type { Pattern } from './pattern.ts'
import { ValueSet } from './value-set.ts'
import { oneInOrder } from './values-in-order.ts'

export function equalTo(expected: unknown): ValueTest {
  switch (typeof expected) {
    case 'string':
      return (value) => value === expected || (isObject(value) && equalValues(value, expected))
    case 'boolean':
      return (value) => value === expected
    case 'number':
      if (Number.isNaN(expected)) return (value) => typeOf(value) === Type.number && equalValues(value, expected)
      return (value) => value === expected || (isSpecialNumber(value) && compareNumbers(value, expected) === 0)
  }
  if (expected === null) return (value) => value === null || value === undefined
  const type = typeOf(expected)
  if (type === Type.number && isExactDouble(expected as Numeric)) return equalTo(toDouble(expected as Numeric))
  return (value) => typeOf(value) === type && equalValues(value, expected)
}

export function oneOf(values: readonly unknown[], patterns: readonly Pattern[]): ValueTest {
  const set = new ValueSet(values)
  const isMember = values.length === 1 ? equalTo(values[0]) : (value: unknown) => set.has(value)
  if (patterns.length === 0) return isMember
  const tests = patterns.map(matchesPattern)
  return (value) => isMember(value) || tests.some((test) => test(value))
}

/** Compares within the type of the bound only; MinKey and MaxKey compare with everything, missing included. */
export function inRange(operator: RangeOperator, bound: unknown, order: StringOrder = compareStrings): ValueTest {
  const type = typeOf(bound)
  if (typeof bound === 'number') return inNumberRange(operator, bound)
  if (typeof bound === 'string') return inStringRange(operator, bound, order)
  const accepts = acceptsOrder(operator)
  if (type === Type.minKey || type === Type.maxKey) {
    const acceptsOthers = accepts(type === Type.minKey ? 1 : -1)
    return (value) => (typeOf(value) === type ? accepts(0) : acceptsOthers)
  }
  if (type === Type.number) return (value) => isComparableNumber(value) && accepts(compareValues(value, bound))
  return (value) => typeOf(value) === type && accepts(compareValues(value, bound, order))
}

function inNumberRange(operator: RangeOperator, bound: number): ValueTest {
  const accepts = acceptsOrder(operator)
  const rarely = (value: unknown): boolean =>
    isSpecialNumber(value) && isComparableNumber(value) && accepts(compareNumbers(value, bound))
  switch (operator) {
    case '$gt':
      return (value) => (typeof value === 'number' ? value > bound : rarely(value))
    case '$gte':
      return (value) => (typeof value === 'number' ? value >= bound : rarely(value))
    case '$lt':
      return (value) => (typeof value === 'number' ? value < bound : rarely(value))
    case '$lte':
      return (value) => (typeof value === 'number' ? value <= bound : rarely(value))
  }
}

function inStringRange(operator: RangeOperator, bound: string, order: StringOrder): ValueTest {
  const accepts = acceptsOrder(operator)
  return (value) => {
    if (typeof value === 'string') return accepts(order(value, bound))
    return typeOf(value) === Type.string && accepts(compareValues(value, bound, order))
  }
}

/** As oneOf() and inRange(), with another order of strings. */
export function collated({ operator, values, order }: Extract<Predicate, { kind: 'collated' }>): ValueTest {
  const [first] = values
  if (operator !== '$in') return inRange(operator, first, order)
  return values.length === 1 ? (value) => equalValues(value, first, order) : oneInOrder(values, order)
}

function acceptsOrder(operator: RangeOperator): (order: number) => boolean {
  switch (operator) {
    case '$gt':
      return (order) => order > 0
    case '$gte':
      return (order) => order >= 0
    case '$lt':
      return (order) => order < 0
    case '$lte':
      return (order) => order <= 0
  }
}

export function matchesPattern({ expression, source, flags }: Pattern): ValueTest {
  return (value) => {
    if (typeof value === 'string') return expression.test(value)
    if (!isObject(value)) return false
    const type = typeOf(value)
    if (type === Type.string) return expression.test(String(value))
    if (type !== Type.regex) return false
    const stored = regexParts(value as RegExp)
    return stored.source === source && stored.flags === flags
  }
}

export function isPresent(value: unknown): boolean {
  return value !== undefined
}

export function hasType(types: readonly TypeTest[]): ValueTest {
  const codes = new Set(types.flatMap((type) => (type.kind === 'code' ? [type.code] : [])))
  const kinds = new Set(types.flatMap((type) => (type.kind === 'numeric' ? [type.numeric] : [])))
  const scopes = new Set(types.flatMap((type) => (type.kind === 'javascript' ? [type.hasScope] : [])))
  return (value) => {
    const type = typeOf(value)
    if (codes.has(type)) return true
    if (type === Type.number) return kinds.size > 0 && kinds.has(numericKind(value as Numeric))
    return type === Type.javascript && scopes.has((value as { readonly scope?: unknown }).scope != null)
  }
}

/** Classifies JavaScript numbers as the `mongodb` driver sends them: 32-bit integers are `int`, others `double`. */
function numericKind(value: Numeric): NumericKind {
  if (typeof value === 'bigint') return 'long'
  if (typeof value === 'object') {
    const tag: string = value._bsontype
    if (tag === 'Long') return 'long'
    if (tag === 'Decimal128') return 'decimal'
  }
  const number = Number(value)
  return (number | 0) === number && !Object.is(number, -0) ? 'int' : 'double'
}

export function hasLength(length: number): ValueTest {
  return (value) => Array.isArray(value) && value.length === length
}

/** The remainder has the dividend's sign; fractions are truncated before dividing. */
export function hasRemainder(divisor: bigint, remainder: bigint): ValueTest {
  const smallDivisor = Number(divisor)
  const smallRemainder = Number(remainder)
  const isSmall = Number.isSafeInteger(smallDivisor) && Number.isSafeInteger(smallRemainder)
  return (value) => {
    if (typeof value === 'number' && isSmall && Math.abs(value) <= Number.MAX_SAFE_INTEGER) {
      return Math.trunc(value) % smallDivisor === smallRemainder
    }
    if (typeOf(value) !== Type.number) return false
    const dividend = truncateToInt64(value as Numeric)
    return dividend !== undefined && dividend % divisor === remainder
  }
}

/** Numbers are in 64-bit two's complement; binary data is little-endian and zero-extended. */
export function hasBits(operator: BitsOperator, positions: readonly number[], mask: bigint): ValueTest {
  return (value) => {
    const type = typeOf(value)
    if (type === Type.binData) {
      const { bytes } = binaryParts(value as Uint8Array)
      const isSet = (bit: number): boolean => (((bytes[bit >> 3] ?? 0) >> (bit & 7)) & 1) === 1
      return bitsPass(operator, positions.filter(isSet).length, positions.length)
    }
    const integer = type === Type.number ? exactInt64(value as Numeric) : undefined
    if (integer === undefined) return false
    const set = integer & mask
    switch (operator) {
      case '$bitsAllSet':
        return set === mask
      case '$bitsAnySet':
        return set !== 0n
      case '$bitsAllClear':
        return set === 0n
      case '$bitsAnyClear':
        return set !== mask
    }
  }
}

function bitsPass(operator: BitsOperator, set: number, asked: number): boolean {
  switch (operator) {
    case '$bitsAllSet':
      return set === asked
    case '$bitsAnySet':
      return set > 0
    case '$bitsAllClear':
      return set === 0
    case '$bitsAnyClear':
      return set < asked
  }
}

function isObject(value: unknown): value is object {
  return typeof value === 'object' && value !== null
}

/** A number that is not a JavaScript number. */
function isSpecialNumber(value: unknown): value is Exclude<Numeric, number> {
  return typeof value === 'bigint' || (isObject(value) && typeOf(value) === Type.number)
}

/** Any number except NaN, which is outside every range. */
function isComparableNumber(value: unknown): boolean {
  return typeOf(value) === Type.number && compareNumbers(value as Numeric, Number.NaN) !== 0
}
