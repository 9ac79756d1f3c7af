/**
 * Paths: keys and array positions joined by dots. The index leaves out all-digit components, in documents and in queries
 * alike, so that array positions do not count there, and `a.0.b` finds its upper candidates through `a.b`.
 */
import { PetalError } from './errors.ts'
import { isPlainObject } from './types.ts'

/** As in MongoDB. No document is as deep, and following a path recurses once per component. */
export const maxPathComponents = 200

/** Splits a user's path into components. @throws PetalError BadValue if there are too many */
export function splitPath(path: string): readonly string[] {
  const components = path.split('.')
  if (components.length <= maxPathComponents) return components
  throw new PetalError('BadValue', `A path has at most ${maxPathComponents} components, not ${components.length}`, {
    details: { path: `${path.slice(0, 80)}…` }
  })
}

/** True for a component that a query may mean as an array position: `0`, `17`, `007`. */
export function isDigits(component: string): boolean {
  if (component.length === 0) return false
  for (let i = 0; i < component.length; i++) {
    const unit = component.charCodeAt(i)
    if (unit < 48 || unit > 57) return false
  }
  return true
}

/** Returns the array position that a component denotes ('0', '17', not '007'), or undefined. */
export function positionOf(component: string): number | undefined {
  return /^(?:0|[1-9]\d{0,14})$/.test(component) ? Number(component) : undefined
}

/** Returns a field, or the element at a position; undefined if there is none. */
export function childOf(value: unknown, component: string): unknown {
  if (Array.isArray(value)) return value[positionOf(component) ?? value.length]
  return isPlainObject(value) && Object.hasOwn(value, component) ? value[component] : undefined
}

/** The first component of a path. In the index, irregularity is recorded per top-level key. */
export function topLevelKey(path: string): string {
  const dot = path.indexOf('.')
  return dot < 0 ? path : path.slice(0, dot)
}
