/**
 * A committed change, in the form of records, and the event that describes it. A stream holds records and decodes them
 * when the event is requested: its size in bytes is known, and every event belongs to the caller.
 */
import { cloneValue } from '../../model/clone.ts'
import type { Document } from '../../model/types.ts'
import { decodeRecord } from '../documents/record.ts'
import { clusterTimeOf, type EventTime, tokenOf } from './event-clock.ts'
import { describeUpdate } from './update-description.ts'

/** What a batch does to each of its documents. */
export type CommitKind = 'insert' | 'update' | 'replace' | 'delete'

export interface DocumentChange {
  readonly kind: CommitKind
  readonly time: EventTime
  /** Record before the change; undefined for an insert, or if no stream wants it. */
  readonly before: string | undefined
  /** Record after the change; undefined for a deletion. */
  readonly after: string | undefined
  /** `_id` of a deleted document. */
  readonly id: unknown
}

/** A change of the whole collection. */
type CollectionChange =
  | { readonly kind: 'drop' | 'invalidate'; readonly time: EventTime }
  | { readonly kind: 'rename'; readonly time: EventTime; readonly to: string }

export type Change = DocumentChange | CollectionChange

/** Which full documents the events include. */
export interface FullDocumentFlags {
  /** For updates, the document after the change. */
  readonly fullDocument: boolean
  readonly beforeChange: boolean
}

/** Approximate size of an event apart from its records. */
const overheadBytes = 200

export function bytesOf(change: Change): number {
  return isDocumentChange(change)
    ? overheadBytes + (change.before?.length ?? 0) + (change.after?.length ?? 0)
    : overheadBytes
}

/** Returns the change without parts that this consumer does not receive. */
export function trimFor(wants: FullDocumentFlags, change: Change): Change {
  if (wants.beforeChange || change.kind === 'update' || !isDocumentChange(change)) return change
  return change.before === undefined ? change : { ...change, before: undefined }
}

function isDocumentChange(change: Change): change is DocumentChange {
  return change.kind !== 'drop' && change.kind !== 'rename' && change.kind !== 'invalidate'
}

/**
 * Returns the event of a change. Its fields are computed when read, so that a filter on the type alone decodes nothing;
 * `{ ...event }` computes them all.
 */
export function eventOf(change: Change, coll: string, wants: FullDocumentFlags): Document {
  const { kind, time } = change
  const event: Document = {
    _id: tokenOf(time),
    operationType: kind,
    clusterTime: clusterTimeOf(time),
    wallTime: new Date(time.wallMilliseconds)
  }
  if (kind !== 'invalidate') event.ns = { coll }
  if (change.kind === 'rename') event.to = { coll: change.to }
  if (!isDocumentChange(change)) return event
  const { before, after, id } = change
  let decoded: Document | undefined
  const documentAfter = (): Document => {
    decoded ??= decodeRecord(after ?? '')
    return decoded
  }
  // An _id may be an object, which must not be shared with the document or with other streams.
  defineLazy(event, 'documentKey', () => ({ _id: cloneValue(kind === 'delete' ? id : documentAfter()._id) }))
  if (kind === 'update') {
    defineLazy(event, 'updateDescription', () => describeUpdate(decodeRecord(before ?? ''), documentAfter()))
  }
  if (kind === 'insert' || kind === 'replace' || (kind === 'update' && wants.fullDocument)) {
    defineLazy(event, 'fullDocument', documentAfter)
  }
  if (wants.beforeChange && before !== undefined) {
    defineLazy(event, 'fullDocumentBeforeChange', () => decodeRecord(before))
  }
  return event
}

function defineLazy(event: Document, key: string, make: () => unknown): void {
  Object.defineProperty(event, key, { enumerable: true, configurable: true, get: make })
}
