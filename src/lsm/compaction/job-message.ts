/** What the main thread and the worker say to each other. Data only. */
import type { TableMeta } from '../version/table-meta.ts'
import type { KeyRange, TableJob, TableJobResult } from './job.ts'
import type { ErrorData } from './job-errors.ts'

export interface JobRequest {
  readonly id: number
  readonly job: TableJob
  /** Word 0 becomes 1 when the job is to end. Shared, because a worker that is busy reads no messages. */
  readonly abort: Int32Array
}

export type JobReply =
  | { readonly id: number; readonly result: TableJobResult }
  | { readonly id: number; readonly error: ErrorData }

/**
 * The job with keys that own their memory. A key is mostly a view of something larger, a manifest or a pool, and a view
 * is cloned with all that it is a view of.
 */
export function postable(job: TableJob): TableJob {
  return {
    ...job,
    runs: job.runs.map((run) => run.map(ownKeys)),
    deeper: job.deeper?.map((ranges) => ranges.map(ownKeys)),
    grandparents: job.grandparents.map(ownKeys),
    endAfter: job.endAfter.map(owned)
  }
}

/** Memory that only the job has, and that goes to the thread instead of being copied: what lists a memtable's entries. */
export function ownMemory(job: TableJob): ArrayBuffer[] {
  return job.memtables.flatMap(({ entries, pairs }) => {
    const arrays = pairs === undefined ? [entries] : [entries, pairs.sequences, pairs.ends, pairs.halves]
    return arrays.map(({ buffer }) => buffer as ArrayBuffer)
  })
}

export function ownKeys<T extends KeyRange | TableMeta>(range: T): T {
  return { ...range, smallest: owned(range.smallest), largest: owned(range.largest) }
}

function owned(key: Uint8Array): Uint8Array {
  return key.byteLength === key.buffer.byteLength ? key : new Uint8Array(key)
}
