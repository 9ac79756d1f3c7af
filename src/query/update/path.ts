/** Paths of updates: fields and positions, and the positional steps `$`, `$[]` and `$[identifier]`. */
import { maxPathComponents, positionOf } from '../../model/path.ts'
import { filterError } from '../errors.ts'
import { isReferenceKey } from '../parse-operators.ts'
import type { UpdatePlace } from './types.ts'

export type PathStep =
  | { readonly kind: 'field'; readonly name: string }
  /** `$`: the element that the filter matched. */
  | { readonly kind: 'matched' }
  /** `$[]`: every element. */
  | { readonly kind: 'every' }
  /** `$[identifier]`: the elements that the array filter of that name matches. */
  | { readonly kind: 'filtered'; readonly identifier: string }

export interface UpdatePath {
  readonly text: string
  readonly steps: readonly PathStep[]
}

/**
 * @throws PetalError EmptyFieldName, DollarPrefixedFieldName, or BadValue for `__proto__`, a positional first step and
 *   more than one `$`
 */
export function parseUpdatePath(text: string, operator: string): UpdatePath {
  const place = { operator, path: text }
  const components = text.split('.')
  if (components.length > maxPathComponents) {
    const shown = { operator, path: `${text.slice(0, 80)}…` }
    throw filterError('BadValue', shown, `the path has more than ${maxPathComponents} components`)
  }
  const steps = components.map((component, i) => parseStep(component, place, i))
  if (steps[0]?.kind !== 'field') {
    throw filterError(
      'BadValue',
      place,
      `the path begins with '${components[0]}', which must follow the path of an array`
    )
  }
  if (steps.filter(({ kind }) => kind === 'matched').length > 1) {
    throw filterError('BadValue', place, "the path has more than one positional '$'")
  }
  return { text, steps }
}

function parseStep(component: string, place: UpdatePlace, at: number): PathStep {
  if (component === '') throw filterError('EmptyFieldName', place, 'the path has an empty component')
  if (component === '__proto__') throw filterError('BadValue', place, "the path component '__proto__' is not allowed")
  if (!component.startsWith('$') || (at > 0 && isReferenceKey(component))) return { kind: 'field', name: component }
  if (component === '$') return { kind: 'matched' }
  if (component === '$[]') return { kind: 'every' }
  const identifier = /^\$\[(.+)\]$/.exec(component)?.[1]
  if (identifier !== undefined) return { kind: 'filtered', identifier }
  throw filterError('DollarPrefixedFieldName', place, `the component '${component}' begins with '$'`)
}

/**
 * Rejects two changes at one place, or one above the other.
 * @throws PetalError ConflictingUpdateOperators
 */
export function checkConflicts(places: readonly UpdatePlace[]): void {
  const found = findConflict(places)
  if (found !== undefined) throw conflict(found.place, found.other)
}

/** Finds a place that equals another one, or is below it. */
export function findConflict<P extends { readonly path: string }>(
  places: readonly P[]
): { readonly place: P; readonly other: string } | undefined {
  const paths = new Set<string>()
  for (const place of places) {
    if (paths.has(place.path)) return { place, other: place.path }
    paths.add(place.path)
  }
  for (const place of places) {
    for (let dot = place.path.indexOf('.'); dot >= 0; dot = place.path.indexOf('.', dot + 1)) {
      const prefix = place.path.slice(0, dot)
      if (paths.has(prefix)) return { place, other: prefix }
    }
  }
  return undefined
}

export function conflict(place: UpdatePlace, other: string): Error {
  return filterError('ConflictingUpdateOperators', place, `updating this path would create a conflict at '${other}'`)
}

/** The order in which new fields are appended: by component, digits numerically, everything else by code unit. */
export function comparePaths(a: UpdatePath, b: UpdatePath): number {
  const x = a.text.split('.')
  const y = b.text.split('.')
  const length = Math.min(x.length, y.length)
  for (let i = 0; i < length; i++) {
    const difference = compareComponents(x[i]!, y[i]!)
    if (difference !== 0) return difference
  }
  return x.length - y.length
}

function compareComponents(a: string, b: string): number {
  const x = positionOf(a)
  const y = positionOf(b)
  if (x !== undefined && y !== undefined) return x - y
  return a < b ? -1 : a > b ? 1 : 0
}
