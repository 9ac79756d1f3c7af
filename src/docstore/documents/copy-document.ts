/**
 * Copies of decoded documents, made from the object instead of the text.
 *
 * A generated tweet takes 1.1 µs to copy, 4.2 to decode from its bytes, 6.5 with structuredClone() (measured).
 */
import { ObjectId } from 'bson'
import type { Document } from '../../model/types.ts'

/** What V8 needs for an object, an array or a string beside what they hold, and for one value in them. */
const headerBytes = 32
const valueBytes = 8

/**
 * A document that shares nothing with `document` but strings and other values that never change.
 * REQUIRES: heapBytesOf() knows the document.
 */
export function copyDocument(document: Document): Document {
  const copy: Document = { ...document }
  for (const key in copy) {
    const value = copy[key]
    // Object.prototype may have been given enumerable properties.
    if (typeof value === 'object' && value !== null && Object.hasOwn(copy, key)) copy[key] = copyOf(value)
  }
  return copy
}

/**
 * About how many bytes a document takes in memory; undefined when it holds what copyDocument() does not copy: anything
 * but plain objects, arrays, dates, ObjectIds and primitive values.
 */
export function heapBytesOf(document: Document): number | undefined {
  const bytes = bytesOf(document)
  return Number.isNaN(bytes) ? undefined : bytes
}

function copyOf(value: object): object {
  if (Array.isArray(value)) return copyArray(value)
  if (value instanceof Date) return new Date(value.getTime())
  if (value instanceof ObjectId) return new ObjectId(value.toHexString())
  return copyDocument(value as Document)
}

function copyArray(array: readonly unknown[]): unknown[] {
  const copy = array.slice()
  for (let i = 0; i < copy.length; i++) {
    const value = copy[i]
    if (typeof value === 'object' && value !== null) copy[i] = copyOf(value)
  }
  return copy
}

/** NaN for what is not copied. */
function bytesOf(value: unknown): number {
  if (typeof value === 'string') return headerBytes + value.length
  if (typeof value !== 'object' || value === null) return valueBytes
  if (Array.isArray(value)) {
    let bytes = 2 * headerBytes
    for (const element of value) bytes += valueBytes + bytesOf(element)
    return bytes
  }
  if (value instanceof Date || value instanceof ObjectId) return 4 * headerBytes
  if (Object.getPrototypeOf(value) !== Object.prototype) return Number.NaN
  let bytes = headerBytes
  for (const key of Object.keys(value)) bytes += valueBytes + bytesOf((value as Document)[key])
  return bytes
}
