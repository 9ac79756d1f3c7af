/**
 * Flush and compaction are one job: merge sorted runs of entries, drop what nobody can see, write tables.
 *
 * A job is data: it crosses into a worker thread by structured clone (arena chunks are shared, not copied). It reads
 * inputs and writes new tables, nothing else; the thread that owns the manifest decides, installs and deletes. A job
 * that dies leaves only files that no manifest names.
 */
import type { TableWriteOptions } from '../format/table-options.ts'
import type { HandedPairsData } from '../memtable/handed-pairs.ts'
import type { TableMeta } from '../version/table-meta.ts'

export interface TableJob {
  readonly kind: 'flush' | 'compaction'
  readonly directory: string
  /** Memtables to write out, oldest first; empty for a compaction. */
  readonly memtables: readonly MemtableSnapshot[]
  /**
   * Sorted runs of tables; tables of one run do not overlap and ascend. Runs may overlap each other: entries of one
   * key are ordered by their sequence numbers.
   */
  readonly runs: readonly (readonly TableMeta[])[]
  /** Sequence numbers of live snapshots, ascending, without the newest state of all, which is always kept. */
  readonly snapshots: readonly number[]
  /**
   * Levels below the output, each with its tables' key ranges, ascending. A tombstone whose key is in none of them,
   * and that no snapshot needs, is dropped. `undefined` keeps every tombstone.
   */
  readonly deeper: readonly (readonly KeyRange[])[] | undefined
  /** Tables one level below the output: an output stops when it overlaps more than `maxGrandparentBytes` of them. */
  readonly grandparents: readonly KeyRange[]
  readonly maxGrandparentBytes: number
  /**
   * Keys after which an output ends, ascending: for a flush, the last keys of partitions (see partitionEnds), so that
   * what a partition grows by at its end is in tables that overlap nothing and can be moved. Empty for a compaction.
   */
  readonly endAfter: readonly Uint8Array[]
  /** File numbers reserved for this job's outputs: [first, first + count). The last table takes all that is left. */
  readonly firstNumber: number
  readonly reservedNumbers: number
  /** Target size of an output table. */
  readonly maxFileBytes: number
  /** Keys are grouped by this many leading `!name!` groups; a table never spans two groups. 0: no groups. */
  readonly partitionDepth: number
  readonly table: TableWriteOptions
}

export interface KeyRange {
  readonly smallest: Uint8Array
  readonly largest: Uint8Array
  readonly bytes: number
}

/** A memtable as it was at one moment. */
export interface MemtableSnapshot {
  /** The arena's chunks, by their numbers. */
  readonly chunks: readonly ArenaChunk[]
  /** See EntryList.data(). */
  readonly entries: Int32Array
  /** Hashes of pairs that came along with puts: the extractor need not be asked about these. */
  readonly pairs?: HandedPairsData | undefined
}

export interface ArenaChunk {
  readonly buffer: SharedArrayBuffer
  /** Where in it the chunk begins. */
  readonly start: number
  /** What of it is in use. */
  readonly usedBytes: number
}

export interface TableJobResult {
  /** In key order; already written and synced, their directory not. */
  readonly tables: readonly TableMeta[]
  readonly readBytes: number
  readonly writtenBytes: number
  readonly entriesIn: number
  readonly entriesOut: number
  readonly milliseconds: number
}

/**
 * Runs jobs, here in slices or in a worker thread. Several may run at a time: the one with the least to do goes first
 * and the others wait, flushes before everything else, so that a long compaction does not hold up writers.
 */
export interface JobRunner {
  /**
   * Rejects with LEVEL_CORRUPTION, LEVEL_IO_ERROR (`cause.code` ENOSPC is worth another try) or LEVEL_ABORTED; a job
   * that failed has removed its outputs as far as it could.
   */
  run(job: TableJob, signal?: AbortSignal): Promise<TableJobResult>
}

/** Bytes that a job has to read: how long it will take. */
export function bytesToRead(job: TableJob): number {
  let bytes = 0
  for (const { chunks } of job.memtables) for (const { usedBytes } of chunks) bytes += usedBytes
  for (const run of job.runs) for (const table of run) bytes += table.bytes
  return bytes
}
