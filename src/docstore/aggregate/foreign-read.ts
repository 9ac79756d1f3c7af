/** What stages that look into another collection have in common: which values they look for, and the read that finds them. */
import { wholeRead } from '../../aggregate/leading.ts'
import type { LeadingRead } from '../../aggregate/stage.ts'
import { splitPath } from '../../model/path.ts'
import type { Document } from '../../model/types.ts'
import type { CompiledFilter } from '../../query/filter.ts'
import { someValue } from '../../query/path-values.ts'

/** The values a path leads to: an array stands for its elements. undefined where the path leads to nothing. */
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

/** All documents that match. */
export function readOf(compiledFilter: CompiledFilter): LeadingRead {
  return { ...wholeRead, filter: undefined, compiledFilter, narrowed: undefined, places: [] }
}
