/**
 * A flush or a compaction as one kind of job: merge sorted runs of entries, drop what nobody can see, write tables.
 *
 * A job is data: it is sent to a worker thread by structured clone (arena chunks are shared, not copied). It only
 * reads inputs and writes new tables; the thread that owns the manifest decides, installs and deletes. A job that dies
 * leaves only files that no manifest refers to.
 */
import type { TableWriteOptions } from '../format/table-options.ts'
import type { SuppliedPairsData } from '../memtable/supplied-pairs.ts'
import type { TableMeta } from '../version/table-meta.ts'
import type { PartitionRules } from './partition.ts'

export interface TableJob {
  readonly kind: 'flush' | 'compaction'
  readonly directory: string
  /** Memtables to flush, oldest first; empty for a compaction. */
  readonly memtables: readonly MemtableSnapshot[]
  /**
   * Sorted runs of tables; tables of one run ascend and do not overlap. Runs may overlap each other: versions of a key
   * are ordered by their sequence numbers.
   */
  readonly runs: readonly (readonly TableMeta[])[]
  /** Sequence numbers of live snapshots, ascending, without the newest state, which is always kept. */
  readonly snapshots: readonly number[]
  /**
   * For each level below the output, the key ranges of its tables, ascending. A tombstone is dropped if its key is in
   * none of them and no snapshot needs it. `undefined` keeps every tombstone.
   */
  readonly deeper: readonly (readonly KeyRange[])[] | undefined
  /** Tables one level below the output: an output ends once it overlaps more than `maxGrandparentBytes` of them. */
  readonly grandparents: readonly KeyRange[]
  readonly maxGrandparentBytes: number
  /**
   * Keys after which an output ends, ascending: for a flush, the last keys of partitions (see partitionEnds), so that
   * entries appended to a partition get tables that overlap nothing and can be moved. For a compaction, only those of
   * large partitions among small ones: a table across a large one overlaps all of it, which its next merge downwards
   * includes.
   */
  readonly endAfter: readonly Uint8Array[]
  /**
   * File numbers reserved for this job's outputs: [first, first + count). The last table takes all remaining entries.
   */
  readonly firstNumber: number
  readonly reservedNumbers: number
  /** Target size of an output table. */
  readonly maxFileBytes: number
  readonly partitions: PartitionRules
  readonly table: TableWriteOptions
}

export interface KeyRange {
  readonly smallest: Uint8Array
  readonly largest: Uint8Array
  readonly bytes: number
}

/** A memtable at one moment. */
export interface MemtableSnapshot {
  /** The arena's chunks, indexed by their numbers. */
  readonly chunks: readonly ArenaChunk[]
  /** See EntryList.data(). */
  readonly entries: Int32Array
  /** Pair hashes supplied with puts: the extractor is not called for these. */
  readonly pairs?: SuppliedPairsData | undefined
}

export interface ArenaChunk {
  readonly buffer: SharedArrayBuffer
  /** Offset of the chunk in `buffer`. */
  readonly start: number
  /** Bytes of the chunk in use. */
  readonly usedBytes: number
}

export interface TableJobResult {
  /** In key order; written and synced, but their directory is not. */
  readonly tables: readonly TableMeta[]
  readonly readBytes: number
  readonly writtenBytes: number
  readonly milliseconds: number
}

/**
 * Runs jobs, in slices on this thread or in a worker thread. Several may be in progress: the smallest runs first and
 * the others wait, flushes before everything else, so that a long compaction does not hold up writers.
 */
export interface JobRunner {
  /**
   * Rejects with LEVEL_CORRUPTION, LEVEL_IO_ERROR (`cause.code` ENOSPC is worth a retry) or LEVEL_ABORTED; a failed
   * job has removed its outputs as far as possible.
   */
  run(job: TableJob, signal?: AbortSignal): Promise<TableJobResult>
}

/** Bytes that a job reads: a measure of how long it takes. */
export function bytesToRead(job: TableJob): number {
  let bytes = 0
  for (const { chunks } of job.memtables) for (const { usedBytes } of chunks) bytes += usedBytes
  for (const run of job.runs) for (const table of run) bytes += table.bytes
  return bytes
}
