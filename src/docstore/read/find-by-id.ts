/**
 * Reads single documents by `_id` without a view: what ends before the next `await` sees one state. To capture a view and
 * execute a find takes longer than to look up and parse a tweet.
 */
import { tryEncodeKey } from '../../model/key.ts'
import type { Document } from '../../model/types.ts'
import { decodeRecord } from '../documents/record.ts'
import type { OpenCollection } from '../open-collection.ts'
import type { FindOptions } from '../options.ts'
import { LaterRead, type Match } from './confirmer.ts'
import { Control } from './control.ts'
import type { CompiledFind } from './find.ts'

type Readable = Pick<OpenCollection, 'store' | 'snapshots' | 'committer'>

/**
 * The committed document with an encoded `_id`; undefined if there is none. REQUIRES: store.canReadSync
 * @param fillsCache false if the document is about to be replaced or deleted
 */
export function matchOf(
  { store, snapshots, committer }: Readable,
  key: Uint8Array,
  fillsCache = true
): Match | undefined {
  const options = snapshots.readOptions
  const [ordinal] = store.ordinalsOf([key], options) as (number | undefined)[]
  if (ordinal === undefined || ordinal >= committer.ordinalLimit) return undefined
  const { cache } = store
  const kept = cache.get(ordinal)
  if (kept !== undefined) {
    return new LaterRead(ordinal, kept.document, kept.characters, { record: (at) => store.record(at, options) })
  }
  const record = store.record(ordinal, options)
  if (record === undefined) return undefined
  const document = decodeRecord(record)
  if (fillsCache) cache.offer(ordinal, document, record.length)
  return { ordinal, record, document, characters: record.length }
}

/** The only match of a filter with an `_id`, or null if there is none; undefined if the find has to be executed. */
export function matchById(collection: OpenCollection, find: CompiledFind, fillsCache = true): Match | null | undefined {
  const { plan, filter } = find
  if (plan.kind !== 'ids' || plan.ids.length !== 1 || !collection.store.canReadSync) return undefined
  // An execution looks for the declared index of a hint.
  if (find.hint !== undefined) return undefined
  // It can interrupt expressions and functions.
  if (find.expressions !== undefined || filter.hasCallback) return undefined
  const key = tryEncodeKey(plan.ids[0])
  const match = key && matchOf(collection, key, fillsCache)
  return match !== undefined && filter.matches(match.document) ? match : null
}

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
  const match = find.skip > 0 ? undefined : matchById(collection, find)
  if (match === undefined) return undefined
  new Control(options).check()
  if (match === null) return null
  const { document } = match
  return find.project === undefined ? document : find.project(document)
}
