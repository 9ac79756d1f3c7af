/**
 * Paths as the index names them: keys joined by dots, without all-digit components, in documents and in queries alike.
 * Array positions therefore do not count, and `a.0.b` finds its upper candidates through `a.b`.
 */
import { PetalError } from './errors.ts'

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

/** The index path of a query path, and whether a component was removed. */
export function indexPath(queryPath: string): { readonly path: string; readonly hasDigits: boolean } {
  const components = queryPath.split('.')
  const kept = components.filter((component) => !isDigits(component))
  return { path: kept.join('.'), hasDigits: kept.length !== components.length }
}

/** The first component of an index path: irregularity is recorded per top-level key. */
export function topLevelKey(path: string): string {
  const dot = path.indexOf('.')
  return dot < 0 ? path : path.slice(0, dot)
}
