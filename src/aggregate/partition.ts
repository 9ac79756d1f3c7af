/** Partitioning by fields: the values of some paths, combined into one value. */
import type { Document } from '../model/types.ts'
import { describeType } from '../query/errors.ts'
import { pathOf } from './arguments.ts'
import { type StagePlace, stageError } from './errors.ts'
import type { Expression } from './expression-compile.ts'
import { compileFieldPath } from './field-path.ts'

/** @returns paths without `$`; none if nothing is given @throws PetalError BadValue */
export function partitionPaths(value: unknown, place: StagePlace): readonly (readonly string[])[] {
  if (value === undefined) return []
  if (Array.isArray(value)) return Array.from(value, (path: unknown) => pathOf(path, place))
  throw stageError('BadValue', place, `partitionByFields must be an array of paths, not ${describeType(value)}`)
}

/**
 * Returns a function that maps a document to an object of its values by path; missing values are missing there, not
 * null.
 */
export function partitionByPaths(paths: readonly (readonly string[])[]): (document: Document) => Document {
  const fields = paths.map((components): readonly [string, Expression] => {
    const path = components.join('.')
    return [path, compileFieldPath(path)]
  })
  return (document) => {
    const partition: Document = {}
    for (const [path, at] of fields) {
      const value = at(document)
      if (value !== undefined) partition[path] = value
    }
    return partition
  }
}
