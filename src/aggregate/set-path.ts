/**
 * Sets computed fields in documents.
 *
 * Invariant: the arguments are never changed; the result shares what did not change.
 */
import { type Document, isPlainObject } from '../model/types.ts'

/**
 * @param shape where it has an array on the path, the value is set in each of its elements, even if `target` does not
 *   have the array yet
 * @param value undefined removes the field
 */
export function withValueAt(target: Document, components: readonly string[], value: unknown, shape: unknown): Document {
  return setAt(target, shape, components, 0, value) as Document
}

function setAt(current: unknown, shape: unknown, components: readonly string[], at: number, value: unknown): unknown {
  if (at === components.length) return value
  const array = Array.isArray(current) ? current : Array.isArray(shape) ? shape : undefined
  if (array !== undefined) {
    return array.map((element: unknown, i) => {
      const target: unknown = Array.isArray(current) ? element : undefined
      return setAt(target, Array.isArray(shape) ? shape[i] : undefined, components, at, value)
    })
  }
  const key = components[at] as string
  const before = isPlainObject(current) ? current : {}
  const below = isPlainObject(shape) ? shape[key] : undefined
  const after = setAt(before[key], below, components, at + 1, value)
  if (after !== undefined) return { ...before, [key]: after }
  const { [key]: _removed, ...rest } = before
  return rest
}
