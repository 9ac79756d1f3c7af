/** Counts the matches of a filter. */
import { countByIndex } from '../indexes/read-by-index.ts'
import type { FindOptions } from '../options.ts'
import { Control } from './control.ts'
import { countMatches } from './executor.ts'
import { usesNone } from './fields-read.ts'
import { type CompiledFind, compileAndOpen, compileFind, readToEnd, resultWithoutCollection } from './find.ts'
import type { FindSource } from './find-source.ts'
import type { Readable } from './sliced-cursor.ts'

/** Counts the matches; those that the index is certain of are not read. */
export async function countDocuments(readable: Readable, filter: unknown, options: FindOptions): Promise<number> {
  const [find, collection] = await compileAndOpen(readable, () => {
    // The order does not affect the count.
    const { sort: _sort, projection: _projection, ...rest } = options
    return compileFind(filter, rest)
  })
  if (collection === undefined) return resultWithoutCollection(find, 0)
  return countFound(collection, find, new Control(options))
}

/** @param find without an order or a projection */
export async function countFound(source: FindSource, find: CompiledFind, control: Control): Promise<number> {
  const counted = await readToEnd(
    source,
    find,
    control,
    (execution) =>
      execution.declared === undefined ? countMatches(execution) : countByIndex(execution, execution.declared),
    usesNone
  )
  return Math.max(0, (counted ?? 0) - find.skip)
}
