/** Copies values, and tells whether two values are identical in every detail. */
import { equalValues } from './compare.ts'
import { timeOf } from './date.ts'
import { maxDepth } from './depth.ts'
import { PetalError } from './errors.ts'
import { unwrapNumber } from './numbers.ts'
import { objectIdDigits } from './object-id.ts'
import { type Document, type Numeric, Type, typeOf } from './types.ts'

/**
 * A deep copy in the form that the store would return: class instances become plain objects, Long a bigint, Int32 and
 * Double numbers, BSONSymbol a string; undefined is dropped (null in arrays). Immutable values such as ObjectId are
 * shared.
 * @throws PetalError BadValue for the key `__proto__` and for nesting too deep for a document, which includes cycles
 */
export function cloneValue(value: unknown, depth = 0): unknown {
  if (typeof value !== 'object' || value === null) return value
  switch (typeOf(value)) {
    case Type.object:
      return cloneDocument(value as Document, depth)
    case Type.array:
      checkDepth(depth)
      return Array.from(value as readonly unknown[], (element) => cloneValue(element ?? null, depth + 1))
    case Type.number:
      return unwrapNumber(value as Numeric)
    case Type.string:
      return String(value)
    case Type.date:
      return new Date(timeOf(value))
    case Type.binData:
      return value instanceof Uint8Array ? Uint8Array.from(value) : value
    default:
      return value
  }
}

/** cloneValue() for an object. */
export function cloneDocument(document: Document, depth = 0): Document {
  checkDepth(depth)
  const copy: Document = {}
  for (const key of Object.keys(document)) {
    if (key === '__proto__') throw new PetalError('BadValue', "A document may not have the key '__proto__'")
    const field = document[key]
    if (field !== undefined) copy[key] = cloneValue(field, depth + 1)
  }
  return copy
}

/**
 * True if replacing one by the other would change nothing that is stored. Stricter than equalValues: 1 and 1n are
 * equal, not identical. REQUIRES: both are in the form that the store or cloneValue() returns; values of rarer types
 * from two versions of bson differ, even if they would be stored alike.
 */
export function isIdentical(a: unknown, b: unknown): boolean {
  if (Object.is(a, b)) return true
  if (typeof a !== 'object' || typeof b !== 'object' || a === null || b === null) return false
  const type = typeOf(a)
  if (type !== typeOf(b)) return false
  switch (type) {
    case Type.array:
      return haveIdenticalElements(a as readonly unknown[], b as readonly unknown[])
    case Type.object:
      return haveIdenticalFields(a as Document, b as Document)
    case Type.date:
      return timeOf(a) === timeOf(b)
    case Type.objectId:
      return objectIdDigits(a) === objectIdDigits(b)
    default:
      // Both of the same class: a change from Long to Int32 counts.
      return Object.getPrototypeOf(a) === Object.getPrototypeOf(b) && equalValues(a, b) && String(a) === String(b)
  }
}

function haveIdenticalElements(a: readonly unknown[], b: readonly unknown[]): boolean {
  return a.length === b.length && a.every((element, i) => isIdentical(element, b[i]))
}

function haveIdenticalFields(a: Document, b: Document): boolean {
  const keys = Object.keys(a)
  const others = Object.keys(b)
  return keys.length === others.length && keys.every((key, i) => key === others[i] && isIdentical(a[key], b[key]))
}

function checkDepth(depth: number): void {
  // Far beyond the 100 levels of a document, which are checked where it is stored: few but cycles get here.
  if (depth <= maxDepth) return
  throw new PetalError(
    'BadValue',
    `A value that contains itself, or is nested deeper than ${maxDepth} levels, cannot be copied`,
    { details: { maxDepth } }
  )
}
