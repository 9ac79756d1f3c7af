/** Partitions by fields: what documents have at some paths, as one value that tells them apart. */
import type { Document } from '../model/types.ts'
import { describeType } from '../query/errors.ts'
import { pathOf } from './arguments.ts'
import { type StagePlace, stageError } from './errors.ts'
import type { Expression } from './expression-compile.ts'
import { compileFieldPath } from './field-path.ts'

/** @returns paths without `$`; none when nothing is given. @throws PetalError BadValue */
export function partitionPaths(value: unknown, place: StagePlace): readonly (readonly string[])[] {
  if (value === undefined) return []
  if (Array.isArray(value)) return Array.from(value, (path: unknown) => pathOf(path, place))
  throw stageError('BadValue', place, `partitionByFields must be an array of paths, not ${describeType(value)}`)
}

/** An object of what is at each path, which it has for a key; what is missing is missing there, and not null. */
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
