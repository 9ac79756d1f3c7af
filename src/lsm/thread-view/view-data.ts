/** A read view as data, from which another thread reads the same entries; see thread-view.ts. */
import type { MemtableSnapshot } from '../compaction/job.ts'
import type { TableMeta } from '../version/table-meta.ts'

export interface ViewData {
  readonly directory: string
  /** Entries with higher sequence numbers are invisible. */
  readonly sequence: number
  readonly memtables: readonly MemtableSnapshot[]
  /** Sorted runs of tables, as in TableJob. */
  readonly runs: readonly (readonly TableMeta[])[]
}

/** Buffers that are transferred to the thread instead of copied. */
export function transferListOf({ memtables }: ViewData): ArrayBuffer[] {
  return memtables.map(({ entries }) => entries.buffer as ArrayBuffer)
}
