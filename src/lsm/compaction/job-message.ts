/** The messages between the main thread and the worker. Data only. */
import type { TableMeta } from '../version/table-meta.ts'
import type { KeyRange, TableJob, TableJobResult } from './job.ts'
import type { ErrorData } from './job-errors.ts'

export interface JobRequest {
  readonly id: number
  readonly job: TableJob
  /** Word 0 becomes 1 to cancel the job. Shared, because a busy worker reads no messages. */
  readonly abort: Int32Array
}

export type JobReply =
  | { readonly id: number; readonly result: TableJobResult }
  | { readonly id: number; readonly error: ErrorData }

/**
 * The job with keys that own their memory. Most keys are views of something larger, a manifest or a pool, and cloning
 * a view clones its whole buffer.
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

/**
 * Buffers owned by the job alone, which are transferred to the thread instead of copied: the memtables' entry lists
 * and pair hashes.
 */
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
