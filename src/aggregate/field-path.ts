/**
 * Field paths in expressions: `$a.b` with the semantics of MongoDB's aggregation, which differ from those of filters.
 *
 * Invariants:
 * 1. Through an array, a path returns an array of the elements' values; elements without a value are omitted.
 * 2. An all-digit component is a key, never a position.
 * 3. Only own properties count.
 */
import { splitPath } from '../model/path.ts'
import { isPlainObject } from '../model/types.ts'

/** Returns the value at a path; undefined if missing. */
export type FieldGetter = (value: unknown) => unknown

/** @param path without its `$` */
export function compileFieldPath(path: string): FieldGetter {
  const components = splitPath(path)
  if (components.length > 1) return (value) => follow(value, components, 0)
  return (value) => own(value, path)
}

function follow(value: unknown, components: readonly string[], at: number): unknown {
  if (at === components.length) return value
  if (Array.isArray(value)) {
    const found: unknown[] = []
    for (const element of value) {
      const below = isPlainObject(element) ? follow(element, components, at) : undefined
      if (below !== undefined) found.push(below)
    }
    return found
  }
  const below = own(value, components[at] as string)
  return below === undefined ? undefined : follow(below, components, at + 1)
}

function own(value: unknown, key: string): unknown {
  if (Array.isArray(value)) return follow(value, [key], 0)
  return isPlainObject(value) && Object.hasOwn(value, key) ? value[key] : undefined
}

/** Follows objects only: an array on the path counts as missing. */
export function ownValueAt(document: unknown, components: readonly string[]): unknown {
  let value = document
  for (const component of components) {
    if (!isPlainObject(value) || !Object.hasOwn(value, component)) return undefined
    value = value[component]
  }
  return value
}
