/**
 * Reads the one document that a filter with an `_id` can match, without a view: what ends before the next `await` sees
 * a single state. To capture a view and execute a find takes longer than to look up and parse a tweet.
 */
import { tryEncodeKey } from '../../model/key.ts'
import type { Document } from '../../model/types.ts'
import type { OpenCollection } from '../open-collection.ts'
import type { FindOptions } from '../options.ts'
import { Control } from './control.ts'
import type { CompiledFind } from './find.ts'

/**
 * @param find without a limit other than 1
 * @returns its first result, or null if there is none; undefined if it has to be executed
 * @throws as the find would
 */
export function findById(
  collection: OpenCollection,
  find: CompiledFind,
  options: FindOptions
): Document | null | undefined {
  const { plan, filter, project } = find
  if (plan.kind !== 'ids' || plan.ids.length !== 1 || find.skip > 0 || !collection.store.canReadSync) return undefined
  // An execution can interrupt expressions and functions.
  if (find.expressions !== undefined || filter.hasCallback) return undefined
  new Control(options).check()
  const key = tryEncodeKey(plan.ids[0])
  if (key === undefined) return null
  const [document] = collection.documentsOf([key]) as (Document | undefined)[]
  if (document === undefined || !filter.matches(document)) return null
  return project === undefined ? document : project(document)
}
