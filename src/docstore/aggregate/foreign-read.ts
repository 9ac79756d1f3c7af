/**
 * Helpers for stages that look up documents in another collection: the values to look for, and the read that finds
 * them.
 */
import { fullRead } from '../../aggregate/leading.ts'
import type { LeadingRead } from '../../aggregate/stage.ts'
import { splitPath } from '../../model/path.ts'
import type { Document } from '../../model/types.ts'
import type { CompiledFilter } from '../../query/filter.ts'
import { someValue } from '../../query/path-values.ts'

/** Returns the values of a path, with arrays replaced by their elements; undefined if the path does not exist. */
export function valuesAt(field: string): (document: Document) => readonly unknown[] | undefined {
  let values: unknown[] | undefined
  const walk = someValue({ text: field, components: splitPath(field) }, 'whole', (value) => {
    if (value === undefined) return false
    values ??= []
    if (Array.isArray(value)) for (const element of value) values.push(element)
    else values.push(value)
    return false
  })
  return (document) => {
    values = undefined
    walk(document)
    return values
  }
}

/** A read of all documents that match. */
export function matchingRead(compiledFilter: CompiledFilter): LeadingRead {
  return { ...fullRead, filter: undefined, compiledFilter, narrowed: undefined, places: [] }
}
