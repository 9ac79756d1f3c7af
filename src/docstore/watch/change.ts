/**
 * One committed change, as records, and the event that tells of it. A stream holds records and decodes them when the event is
 * asked for: what it holds is known in bytes, and every event is the caller's own.
 */
import { cloneValue } from '../../model/clone.ts'
import type { Document } from '../../model/types.ts'
import { decodeRecord } from '../documents/record.ts'
import { clusterTimeOf, type EventTime, tokenOf } from './event-clock.ts'
import { describeUpdate } from './update-description.ts'

/** What a batch does to each document it is about. */
export type CommitKind = 'insert' | 'update' | 'replace' | 'delete'

export interface DocumentChange {
  readonly kind: CommitKind
  readonly time: EventTime
  /** Record before the change; undefined for an insert, or where nobody wants it. */
  readonly before: string | undefined
  /** Record after it; undefined for a deletion. */
  readonly after: string | undefined
  /** Of a deletion. */
  readonly id: unknown
}

/** What becomes of the whole collection. */
export type Ending = 'drop' | 'invalidate'

export type Change = DocumentChange | { readonly kind: Ending; readonly time: EventTime }

/** Which documents are told beside what every event tells. */
export interface Wants {
  /** Of an update: the document after it. */
  readonly fullDocument: boolean
  readonly beforeChange: boolean
}

/** What an event takes beside its records, about. */
const bytesBeside = 200

export function bytesOf(change: Change): number {
  return isOfDocument(change) ? bytesBeside + (change.before?.length ?? 0) + (change.after?.length ?? 0) : bytesBeside
}

/** The change without what this consumer is not told. */
export function keptFor(wants: Wants, change: Change): Change {
  if (wants.beforeChange || change.kind === 'update' || !isOfDocument(change)) return change
  return change.before === undefined ? change : { ...change, before: undefined }
}

function isOfDocument(change: Change): change is DocumentChange {
  return change.kind !== 'drop' && change.kind !== 'invalidate'
}

/**
 * The event of a change. Its fields are worked out when they are read, so that a filter on the type alone decodes nothing;
 * `{ ...event }` has them all.
 */
export function eventOf(change: Change, coll: string, wants: Wants): Document {
  const { kind, time } = change
  const event: Document = {
    _id: tokenOf(time),
    operationType: kind,
    clusterTime: clusterTimeOf(time),
    wallTime: new Date(time.wallMilliseconds)
  }
  if (kind !== 'invalidate') event.ns = { coll }
  if (!isOfDocument(change)) return event
  const { before, after, id } = change
  let decoded: Document | undefined
  const documentAfter = (): Document => {
    decoded ??= decodeRecord(after ?? '')
    return decoded
  }
  // An _id may be an object: it is shared neither with the document nor with other streams.
  later(event, 'documentKey', () => ({ _id: cloneValue(kind === 'delete' ? id : documentAfter()._id) }))
  if (kind === 'update') {
    later(event, 'updateDescription', () => describeUpdate(decodeRecord(before ?? ''), documentAfter()))
  }
  if (kind === 'insert' || kind === 'replace' || (kind === 'update' && wants.fullDocument)) {
    later(event, 'fullDocument', documentAfter)
  }
  if (wants.beforeChange && before !== undefined) {
    later(event, 'fullDocumentBeforeChange', () => decodeRecord(before))
  }
  return event
}

function later(event: Document, key: string, make: () => unknown): void {
  Object.defineProperty(event, key, { enumerable: true, configurable: true, get: make })
}
