/**
 * MongoDB's total order over values, and the equality that goes with it.
 *
 * Invariants:
 * 1. Types compare before values; the order of types is that of the codes in types.ts. Missing (`undefined`) is null.
 * 2. Numbers of every kind compare by value, exactly. NaN equals itself and is the smallest number.
 * 3. Strings compare by code point, which is the order of their UTF-8 bytes; JavaScript's `<` compares UTF-16 units. A
 *    different order, a collation's, can be passed in: it applies to values only, field names compare by code point.
 * 4. Objects compare field by field in their own order: type of the value, then name, then value. `{ a: 1, b: 2 }` and
 *    `{ b: 2, a: 1 }` differ. A field that is `undefined` is not there.
 */
import { timeOf } from './date.ts'
import { compareNumbers } from './numbers.ts'
import { binaryParts, regexParts } from './scalar.ts'
import { type Document, type Numeric, Type, type TypeCode, typeOf } from './types.ts'

/** Negative, 0 or positive if the first string sorts before, with or after the second. */
export type StringOrder = (a: string, b: string) => number

/**
 * Negative, 0 or positive if `a` sorts before, with or after `b`.
 * @param strings order of strings, wherever they occur in the values
 * @example
 * compareValues(2, 10n) < 0
 * compareValues('10', 9) > 0 // every string is after every number
 */
export function compareValues(a: unknown, b: unknown, strings: StringOrder = compareStrings): number {
  if (typeof a === 'number' && typeof b === 'number') return compareNumbers(a, b)
  if (typeof a === 'string' && typeof b === 'string') return strings(a, b)
  if (a === b) return 0
  const type = orderedType(a)
  const difference = type - orderedType(b)
  return difference === 0 ? compareWithinType(type, a, b, strings) : difference
}

/** True if MongoDB considers the values equal: `compareValues(a, b, strings) === 0`, but faster. */
export function equalValues(a: unknown, b: unknown, strings?: StringOrder): boolean {
  if (a === b) return true
  if (strings === undefined && typeof a === 'string' && typeof b === 'string') return false
  if (Array.isArray(a) && Array.isArray(b) && a.length !== b.length) return false
  return compareValues(a, b, strings) === 0
}

/** Negative, 0 or positive, by code point. */
export function compareStrings(a: string, b: string): number {
  if (a === b) return 0
  const length = Math.min(a.length, b.length)
  for (let i = 0; i < length; i++) {
    const x = a.charCodeAt(i)
    const y = b.charCodeAt(i)
    if (x === y) continue
    // Below the surrogates a unit is a code point, and smaller than any code point that a surrogate is part of.
    return x < 0xdc00 && y < 0xdc00 && (x < 0xd800 || y < 0xd800) ? x - y : compareCodePoints(a, b, i)
  }
  return a.length - b.length
}

/** @param i index of the first unit that differs; it may be the second half of a surrogate pair */
function compareCodePoints(a: string, b: string, i: number): number {
  const before = i > 0 ? a.charCodeAt(i - 1) : 0
  const start = before >= 0xd800 && before < 0xdc00 ? i - 1 : i
  return codePoint(a, start) - codePoint(b, start) || codePoint(a, i) - codePoint(b, i)
}

function codePoint(text: string, at: number): number {
  return text.codePointAt(at) ?? 0
}

function orderedType(value: unknown): TypeCode {
  return value === undefined ? Type.null : typeOf(value)
}

/** REQUIRES: both values are of type `type`, as the casts below assert. */
function compareWithinType(type: TypeCode, a: unknown, b: unknown, strings: StringOrder): number {
  switch (type) {
    case Type.number:
      return compareNumbers(a as Numeric, b as Numeric)
    case Type.string:
      return strings(String(a), String(b))
    case Type.object:
      return compareObjects(a as Document, b as Document, strings)
    case Type.array:
      return compareArrays(a as readonly unknown[], b as readonly unknown[], strings)
    case Type.binData:
      return compareBinary(a as Uint8Array, b as Uint8Array)
    case Type.objectId:
      return compareStrings(hexOf(a), hexOf(b))
    case Type.bool:
      return Number(a) - Number(b)
    case Type.date:
      return compareNumbers(timeOf(a), timeOf(b))
    case Type.timestamp:
      return compareNumbers(BigInt(String(a)), BigInt(String(b)))
    case Type.regex: {
      const x = regexParts(a as RegExp)
      const y = regexParts(b as RegExp)
      return compareStrings(x.source, y.source) || compareStrings(x.flags, y.flags)
    }
    case Type.javascript:
      return compareCode(a as CodeParts, b as CodeParts)
    case Type.null:
    case Type.minKey:
    case Type.maxKey:
    case Type.undefined:
    case Type.unsupported:
      return 0
  }
}

/** In lower case, whichever version of bson created it. */
function hexOf(objectId: unknown): string {
  return (objectId as { toHexString(): string }).toHexString().toLowerCase()
}

interface CodeParts {
  readonly code: unknown
  readonly scope?: unknown
}

function compareObjects(a: Document, b: Document, strings: StringOrder): number {
  const keys = presentKeys(a)
  const others = presentKeys(b)
  const length = Math.min(keys.length, others.length)
  for (let i = 0; i < length; i++) {
    const key = keys[i] as string
    const other = others[i] as string
    const x = a[key]
    const y = b[other]
    const difference = orderedType(x) - orderedType(y) || compareStrings(key, other) || compareValues(x, y, strings)
    if (difference !== 0) return difference
  }
  return keys.length - others.length
}

function presentKeys(document: Document): readonly string[] {
  const keys = Object.keys(document)
  return keys.some((key) => document[key] === undefined) ? keys.filter((key) => document[key] !== undefined) : keys
}

function compareArrays(a: readonly unknown[], b: readonly unknown[], strings: StringOrder): number {
  const length = Math.min(a.length, b.length)
  for (let i = 0; i < length; i++) {
    const difference = compareValues(a[i], b[i], strings)
    if (difference !== 0) return difference
  }
  return a.length - b.length
}

function compareBinary(a: Uint8Array, b: Uint8Array): number {
  const x = binaryParts(a)
  const y = binaryParts(b)
  const difference = x.bytes.length - y.bytes.length || x.subtype - y.subtype
  if (difference !== 0) return difference
  for (let i = 0; i < x.bytes.length; i++) {
    const byteDifference = (x.bytes[i] as number) - (y.bytes[i] as number)
    if (byteDifference !== 0) return byteDifference
  }
  return 0
}

/** Code without a scope sorts before code with one. */
function compareCode(a: CodeParts, b: CodeParts): number {
  const hasScope = Number(a.scope != null)
  const difference = hasScope - Number(b.scope != null)
  if (difference !== 0) return difference
  return compareStrings(String(a.code), String(b.code)) || (hasScope === 1 ? compareValues(a.scope, b.scope) : 0)
}
