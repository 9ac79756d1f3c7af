/** Equality of values where the order of fields does not matter. */
import { compareStrings } from '../../model/compare.ts'
import { type Document, Type, typeOf } from '../../model/types.ts'

/** The value with the fields of every object in one order: of values that differ in it alone, the same is made. */
export function unordered(value: unknown): unknown {
  switch (typeOf(value)) {
    case Type.array:
      return Array.from(value as readonly unknown[], (element) => unordered(element ?? null))
    case Type.object: {
      const object = value as Document
      const keys = Object.keys(object).filter((key) => object[key] !== undefined)
      return Object.fromEntries(keys.sort(compareStrings).map((key) => [key, unordered(object[key])]))
    }
    default:
      return value
  }
}
