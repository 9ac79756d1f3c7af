/** Change events, in the shapes of MongoDB's driver. */
import type { Timestamp } from 'bson'
import type { Document } from '../../model/types.ts'
import type { IdOf, WithId } from '../types/documents.ts'
import type { UpdateDescription } from './update-description.ts'

/** Identifies an event among all events of the process. Streams cannot be resumed from it. */
export interface ResumeToken {
  readonly _data: string
}

interface EventBase {
  _id: ResumeToken
  /** Seconds, and a counter within the second; increases from event to event. */
  clusterTime: Timestamp
  /** Time of the commit. */
  wallTime: Date
}

interface DocumentEvent<T extends object> extends EventBase {
  ns: { coll: string }
  documentKey: { _id: IdOf<T> }
}

/** A document was inserted. */
export interface InsertEvent<T extends object = Document> extends DocumentEvent<T> {
  operationType: 'insert'
  fullDocument: WithId<T>
}

/** A document was updated by operators or a pipeline. */
export interface UpdateEvent<T extends object = Document> extends DocumentEvent<T> {
  operationType: 'update'
  updateDescription: UpdateDescription
  /** The document after the change; absent if the option `fullDocument` is `'default'`. */
  fullDocument?: WithId<T>
  /** Present with the option `fullDocumentBeforeChange`. */
  fullDocumentBeforeChange?: WithId<T>
}

/** A document was replaced. */
export interface ReplaceEvent<T extends object = Document> extends DocumentEvent<T> {
  operationType: 'replace'
  fullDocument: WithId<T>
  fullDocumentBeforeChange?: WithId<T>
}

/** A document was deleted. */
export interface DeleteEvent<T extends object = Document> extends DocumentEvent<T> {
  operationType: 'delete'
  fullDocumentBeforeChange?: WithId<T>
}

/** The collection was dropped; an InvalidateEvent follows. */
export interface DropEvent extends EventBase {
  operationType: 'drop'
  ns: { coll: string }
}

/** The collection was renamed; an InvalidateEvent follows. */
export interface RenameEvent extends EventBase {
  operationType: 'rename'
  ns: { coll: string }
  to: { coll: string }
}

/** The last event of a stream. */
export interface InvalidateEvent extends EventBase {
  operationType: 'invalidate'
}

/** An event of a change stream, told apart by its `operationType`. */
export type ChangeEvent<T extends object = Document> =
  | InsertEvent<T>
  | UpdateEvent<T>
  | ReplaceEvent<T>
  | DeleteEvent<T>
  | DropEvent
  | RenameEvent
  | InvalidateEvent
