/**
 * Whether a document's JSON is the document: what has to be known before its bytes may stand for it.
 *
 * Invariant: where the answer is yes, flatten() accepts the document, calls it plain, and JSON.parse of its text gives it
 * back (an ObjectId as `_id` becomes its digits). The opposite may be answered no.
 */
import { type Document, Type, typeOf } from '../../model/types.ts'
import { defaultFlattenLimits } from '../pairs/flatten.ts'

const { maxDepth } = defaultFlattenLimits

/**
 * True when JSON.stringify(document) holds the document exactly; an ObjectId as `_id` is allowed.
 * @example
 * isPlainJson({ a: [1, 'x', null], b: undefined }) // true: what is undefined is not stored
 * isPlainJson({ at: new Date() }) // false
 */
export function isPlainJson(document: Document): boolean {
  return jsonFormOf(document) !== undefined
}

/** How the scanner has to read JSON.stringify(document); undefined when it does not hold the document exactly. */
export function jsonFormOf(document: Document): 'json' | 'objectId' | undefined {
  if (!inheritsNothing()) return undefined
  const id = document._id
  const isObjectId = typeof id === 'object' && id !== null && typeOf(id) === Type.objectId
  if (!isOfNoClass(document) || !holdsPlain(document, 0, isObjectId)) return undefined
  return isObjectId ? 'objectId' : 'json'
}

/** False when every object, or array, inherits something that JSON.stringify would write, or call. */
export function inheritsNothing(): boolean {
  for (const _ in Object.prototype) return false
  return !('toJSON' in Array.prototype)
}

/** Anything else may be more than its keys. */
export function isOfNoClass(value: object): value is Document {
  const prototype: unknown = Object.getPrototypeOf(value)
  return prototype === Object.prototype || prototype === null
}

function holdsPlain(object: Document, depth: number, hasObjectId: boolean): boolean {
  if (depth >= maxDepth) return false
  // Object.prototype has nothing to enumerate, and no other prototype comes here.
  for (const key in object) {
    const value = object[key]
    if (key === '__proto__') return false
    if (value === undefined || (hasObjectId && key === '_id')) continue
    if (!isPlainValue(value, depth)) return false
  }
  return true
}

function isPlainArray(array: readonly unknown[], depth: number): boolean {
  if (Object.getPrototypeOf(array) !== Array.prototype || depth >= maxDepth) return false
  for (let i = 0; i < array.length; i++) if (!isPlainValue(array[i], depth)) return false
  return true
}

/** @param depth of what it stands in. Comparisons of typeof, one by one, are quicker than a switch over it. */
function isPlainValue(value: unknown, depth: number): boolean {
  if (typeof value === 'string' || typeof value === 'boolean' || value === null) return true
  if (typeof value === 'number') return isPlainNumber(value)
  if (typeof value !== 'object') return false
  if (Array.isArray(value)) return isPlainArray(value, depth + 1)
  return isOfNoClass(value) && holdsPlain(value, depth + 1, false)
}

/** Finite, and not −0. */
export function isPlainNumber(value: number): boolean {
  return value === 0 ? 1 / value > 0 : value - value === 0
}
