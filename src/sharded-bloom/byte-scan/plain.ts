/**
 * Decides whether a document's JSON represents it exactly, before its bytes may stand for it.
 *
 * Invariant: if the answer is yes, flatten() accepts the document and calls it plain, and JSON.parse of its text
 * returns it (an ObjectId as `_id` becomes its digits). The answer may be no although all of this holds.
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
  if (!arePrototypesClean()) return undefined
  const id = document._id
  const isObjectId = typeof id === 'object' && id !== null && typeOf(id) === Type.objectId
  if (!hasPlainPrototype(document) || !hasPlainValues(document, 0, isObjectId)) return undefined
  return isObjectId ? 'objectId' : 'json'
}

/** False when all objects, or arrays, inherit something that JSON.stringify would write or call. */
export function arePrototypesClean(): boolean {
  for (const _ in Object.prototype) return false
  return !('toJSON' in Array.prototype)
}

/** True for an object without a class: an instance may be more than its keys. */
export function hasPlainPrototype(value: object): value is Document {
  const prototype: unknown = Object.getPrototypeOf(value)
  return prototype === Object.prototype || prototype === null
}

function hasPlainValues(object: Document, depth: number, hasObjectId: boolean): boolean {
  if (depth >= maxDepth) return false
  // Object.prototype has nothing to enumerate, and no other prototype gets here.
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

/** @param depth of the enclosing container. Successive comparisons of typeof are faster than a switch. */
function isPlainValue(value: unknown, depth: number): boolean {
  if (typeof value === 'string' || typeof value === 'boolean' || value === null) return true
  if (typeof value === 'number') return isPlainNumber(value)
  if (typeof value !== 'object') return false
  if (Array.isArray(value)) return isPlainArray(value, depth + 1)
  return hasPlainPrototype(value) && hasPlainValues(value, depth + 1, false)
}

/** Finite, and not −0. */
export function isPlainNumber(value: number): boolean {
  return value === 0 ? 1 / value > 0 : value - value === 0
}
