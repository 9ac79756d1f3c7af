/** What threads of the pool can be asked to do, and the messages to and from them: plain data, cloned or shared. */
import type { ErrorData } from '../../lsm/compaction/job-errors.ts'
import type { BuiltUnit, LoadRequest } from '../bulk/load-unit.ts'
import type { BuiltSegmentTables, SegmentRequest } from '../rebuild/segment-request.ts'

export interface ThreadWork {
  /** A unit of a bulk load. */
  readonly unit: { readonly request: LoadRequest; readonly result: BuiltUnit }
  /** A segment of an index being rebuilt. */
  readonly segment: { readonly request: SegmentRequest; readonly result: BuiltSegmentTables }
}

export type WorkKind = keyof ThreadWork

export type ThreadMessage =
  | { [K in WorkKind]: { readonly kind: K; readonly request: ThreadWork[K]['request'] } }[WorkKind]
  /** The result of the current work is no longer wanted. */
  | { readonly kind: 'abort' }

export type ThreadReply =
  | { readonly kind: 'progress'; readonly documents: number }
  /** The result is undefined if the work has to be done in the thread that asked for it. */
  | { readonly kind: 'done'; readonly result: ThreadWork[WorkKind]['result'] | undefined }
  | { readonly kind: 'failed'; readonly error: ErrorData }

/** How the caller follows the work. */
export interface FollowedWork {
  readonly signal?: AbortSignal | undefined
  /** REQUIRES: does not throw */
  readonly onProgress?: ((documents: number) => void) | undefined
  /** Buffers of the request that are transferred instead of cloned. */
  readonly transfer?: readonly ArrayBuffer[] | undefined
}
