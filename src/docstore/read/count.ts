/** Counting what a filter matches. */

import { fromStore } from '../errors.ts'
import { countByIndex } from '../indexes/read-by-index.ts'
import type { OpenCollection } from '../open-collection.ts'
import type { FindOptions } from '../options.ts'
import { Control } from './control.ts'
import { countMatches } from './executor.ts'
import { beginFind, compileFind } from './find.ts'
import { Meter } from './meter.ts'
import { advance } from './steps.ts'

/** Certain documents are counted without being read. */
export async function countFound(
  collection: OpenCollection | undefined,
  filter: unknown,
  options: FindOptions
): Promise<number> {
  // The order of documents does not change their number.
  const { sort: _sort, projection: _projection, ...rest } = options
  const find = compileFind(filter, rest)
  if (collection === undefined) return 0
  const execution = beginFind(collection, find, new Control(rest), new Meter())
  try {
    const { declared } = execution
    const counting = declared === undefined ? countMatches(execution) : countByIndex(execution, declared)
    const counted = await advance(counting)
    collection.autoRebuild?.noteRead(find, execution.meter)
    return Math.max(0, (counted ?? 0) - find.skip)
  } catch (error) {
    throw fromStore(error)
  } finally {
    execution.view.close()
  }
}
