/** Determines which paths of a document a filter or a projection looks at. */
import { isPlainObject } from '../model/types.ts'
import { type Condition, type Filter, leavesOf } from './ast.ts'

/** Returns undefined if the filter may look at anything. */
export function pathsOfFilter(filter: Filter): ReadonlySet<string> | undefined {
  const paths = new Set<string>()
  for (const condition of leavesOf(filter)) {
    const found = pathsOfCondition(condition)
    if (found === undefined) return undefined
    for (const path of found) paths.add(path)
  }
  return paths
}

function pathsOfCondition(condition: Condition): Iterable<string> | undefined {
  switch (condition.kind) {
    case 'field':
      return [condition.path.text]
    case 'expression':
      return condition.paths
    case 'where':
    case 'schema':
      return undefined
  }
}

/**
 * Returns the paths that a projection of plain inclusions reads; undefined for any other projection.
 * @example
 * pathsOfProjection({ 'user.name': 1, text: true }) // Set { 'user.name', 'text', '_id' }
 */
export function pathsOfProjection(spec: unknown): ReadonlySet<string> | undefined {
  if (!isPlainObject(spec)) return undefined
  const { _id: id = 1, ...others } = spec
  const paths = Object.keys(others)
  // `{}` and `{ _id: 0 }` include everything else.
  if (!isFlag(id) || (paths.length === 0 && !isInclusion(spec._id))) return undefined
  // A `$` in a path stands for an element that the filter determines.
  if (!paths.every((path) => isInclusion(others[path]) && !path.includes('$'))) return undefined
  return new Set(isInclusion(id) ? [...paths, '_id'] : paths)
}

function isFlag(value: unknown): boolean {
  return isInclusion(value) || value === 0 || value === false
}

function isInclusion(value: unknown): boolean {
  return value === 1 || value === true
}
