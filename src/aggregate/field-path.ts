/**
 * Field paths of expressions: `$a.b` as MongoDB's aggregation follows them, which is not how filters do.
 *
 * Invariants:
 * 1. Through an array a path gives an array of what its elements have; elements without it, and arrays among them, give nothing.
 * 2. A component of digits is a key, never a position.
 * 3. Only own properties count.
 */
import { splitPath } from '../model/path.ts'
import { isPlainObject } from '../model/types.ts'

/** What a path leads to; undefined is missing. */
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

/** Through objects only: an array on the way has no such field. */
export function ownValueAt(document: unknown, components: readonly string[]): unknown {
  let value = document
  for (const component of components) {
    if (!isPlainObject(value) || !Object.hasOwn(value, component)) return undefined
    value = value[component]
  }
  return value
}
