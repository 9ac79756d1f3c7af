/** Equality of values regardless of the order of fields. */
import { compareStrings } from '../../model/compare.ts'
import { type Document, Type, typeOf } from '../../model/types.ts'

/** Sorts the fields of every object, so that values that differ only in the order of fields become equal. */
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
