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
export function prepareForTransfer(job: TableJob): TableJob {
  return {
    ...job,
    runs: job.runs.map((run) => run.map(withOwnedKeys)),
    deeper: job.deeper?.map((ranges) => ranges.map(withOwnedKeys)),
    grandparents: job.grandparents.map(withOwnedKeys),
    endAfter: job.endAfter.map(ownedCopy)
  }
}

/**
 * Buffers owned by the job alone, which are transferred to the thread instead of copied: the memtables' entry lists
 * and pair hashes.
 */
export function transferList(job: TableJob): ArrayBuffer[] {
  return job.memtables.flatMap(({ entries, pairs }) => {
    const arrays = pairs === undefined ? [entries] : [entries, pairs.sequences, pairs.ends, pairs.halves]
    return arrays.map(({ buffer }) => buffer as ArrayBuffer)
  })
}

export function withOwnedKeys<T extends KeyRange | TableMeta>(range: T): T {
  return { ...range, smallest: ownedCopy(range.smallest), largest: ownedCopy(range.largest) }
}

function ownedCopy(key: Uint8Array): Uint8Array {
  return key.byteLength === key.buffer.byteLength ? key : new Uint8Array(key)
}
