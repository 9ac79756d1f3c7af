/**
 * Validates a filter and copies it, so that later changes of the caller's object have no effect.
 *
 * Rejected, naming the path: `undefined` (a driver that drops it silently turns `deleteMany({ user: undefined })` into
 * `deleteMany({})`), own `__proto__` keys, cycles, nesting beyond `maxFilterDepth`, functions other than `$where`,
 * instances of classes, and values that no document can hold.
 */
import { timeOf } from '../model/date.ts'
import { type Document, Type, typeOf } from '../model/types.ts'
import { describeType, type FilterPlace, filterError } from './errors.ts'

export const maxFilterDepth = 100

/** @throws PetalError TypeMismatch when the filter is not an object, BadValue for a disallowed value in it */
export function sanitizeFilter(filter: unknown): Document {
  if (!isRecord(filter)) {
    throw filterError('TypeMismatch', { path: '' }, `A filter must be a plain object, not ${describeType(filter)}`)
  }
  return copyObject(filter, { path: '' }, [])
}

function copyValue(value: unknown, place: FilterPlace, ancestors: readonly object[]): unknown {
  switch (typeOf(value)) {
    case Type.undefined:
      throw filterError('BadValue', place, 'undefined is not a value; omit the key, or use null to find missing fields')
    case Type.array:
      return copyArray(value as readonly unknown[], place, ancestors)
    case Type.object:
      if (isRecord(value)) return copyObject(value, place, ancestors)
      throw filterError('BadValue', place, `an instance of class ${describeType(value)} cannot be part of a filter`)
    case Type.date: {
      const time = timeOf(value)
      if (Number.isNaN(time)) throw filterError('BadValue', place, 'an invalid Date cannot be compared')
      return new Date(time)
    }
    case Type.binData:
      // The slice() of a Buffer shares its memory.
      return value instanceof Uint8Array ? Uint8Array.from(value) : value
    case Type.unsupported:
      if (typeof value === 'function' && (place.operator === '$where' || place.operator === '$function')) return value
      throw filterError('BadValue', place, `a value of type ${describeType(value)} cannot be part of a filter`)
    default:
      return value
  }
}

function copyArray(array: readonly unknown[], place: FilterPlace, ancestors: readonly object[]): unknown[] {
  const inside = descend(array, place, ancestors)
  // Array.from visits the holes of a sparse array, as undefined; map would keep them.
  return Array.from(array, (element) => copyValue(element, place, inside))
}

function copyObject(object: Document, place: FilterPlace, ancestors: readonly object[]): Document {
  const inside = descend(object, place, ancestors)
  const copy: Document = {}
  for (const key of Object.keys(object)) {
    if (key === '__proto__') throw filterError('BadValue', placeOf(place, key), "the key '__proto__' is not allowed")
    const value = object[key]
    // The place is only needed for values that may be rejected.
    copy[key] = typeof value === 'string' ? value : copyValue(value, placeOf(place, key), inside)
  }
  return copy
}

function placeOf({ path, operator }: FilterPlace, key: string): FilterPlace {
  if (key.startsWith('$')) return { path, operator: key }
  return { path: path === '' ? key : `${path}.${key}`, operator }
}

function descend(container: object, place: FilterPlace, ancestors: readonly object[]): readonly object[] {
  if (ancestors.includes(container)) throw filterError('BadValue', shown(place), 'the filter contains itself')
  if (ancestors.length >= maxFilterDepth) {
    throw filterError('BadValue', shown(place), `the filter is nested deeper than ${maxFilterDepth} levels`)
  }
  return [...ancestors, container]
}

function shown({ path, operator }: FilterPlace): FilterPlace {
  return { path: path.length > 80 ? `${path.slice(0, 80)}…` : path, operator }
}

/** An object literal of any realm: its prototype is null or an `Object.prototype`. */
function isRecord(value: unknown): value is Document {
  if (typeOf(value) !== Type.object) return false
  const prototype: unknown = Object.getPrototypeOf(value)
  return prototype === null || Object.getPrototypeOf(prototype) === null
}
