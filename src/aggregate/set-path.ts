/**
 * Sets computed fields in documents.
 *
 * Invariant: the arguments are never changed, except objects in `owned`; the result shares what did not change.
 */
import { type Document, isPlainObject } from '../model/types.ts'

/**
 * @param shape where it has an array on the path, the value is set in each of its elements, even if `target` does not
 *   have the array yet
 * @param value undefined removes the field
 * @param owned the objects made by earlier calls for the same document, so that thousands of fields copy it once
 */
export function withValueAt(
  target: Document,
  components: readonly string[],
  value: unknown,
  shape: unknown,
  owned?: Set<unknown>
): Document {
  return setAt(target, shape, { components, value, owned }, 0) as Document
}

interface Setting {
  readonly components: readonly string[]
  readonly value: unknown
  readonly owned: Set<unknown> | undefined
}

function setAt(current: unknown, shape: unknown, setting: Setting, at: number): unknown {
  const { components, value, owned } = setting
  if (at === components.length) return value
  const array = Array.isArray(current) ? current : Array.isArray(shape) ? shape : undefined
  if (array !== undefined) {
    return array.map((element: unknown, i) => {
      const target: unknown = Array.isArray(current) ? element : undefined
      return setAt(target, Array.isArray(shape) ? shape[i] : undefined, setting, at)
    })
  }
  const key = components[at] as string
  const before = isPlainObject(current) ? current : {}
  const below = isPlainObject(shape) ? shape[key] : undefined
  const after = setAt(before[key], below, setting, at + 1)
  if (owned?.has(before)) {
    if (after === undefined) delete before[key]
    else before[key] = after
    return before
  }
  const copy = after === undefined ? without(before, key) : { ...before, [key]: after }
  owned?.add(copy)
  return copy
}

function without(object: Document, key: string): Document {
  const { [key]: _removed, ...rest } = object
  return rest
}
