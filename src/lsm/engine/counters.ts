/** Counts of the engine's work since it was opened. */
import type { TableJobResult } from '../compaction/job.ts'
import { levelCount } from '../format/version-edit.ts'

export interface MergeCounts {
  merges: number
  readBytes: number
  writtenBytes: number
  milliseconds: number
}

export interface WaitCounts {
  /** How often a writer was slowed down, and the total milliseconds. */
  slowdowns: number
  slowdownMilliseconds: number
  /** How often all writers had to wait. */
  stalls: number
}

function noWaits(): WaitCounts {
  return { slowdowns: 0, slowdownMilliseconds: 0, stalls: 0 }
}

export class EngineCounters {
  /** Bytes of log records: the users' writes. */
  loggedBytes = 0
  flushes = 0
  flushedBytes = 0
  flushMilliseconds = 0
  /** Tables moved to another level without being rewritten. */
  moves = 0
  /** Tables dropped whole because everything in them was cleared. */
  droppedTables = 0
  /** Tables written elsewhere and added whole. */
  ingestedTables = 0
  failedJobs = 0
  /** Waits of writers for memtables to be flushed. */
  readonly memtableWaits: WaitCounts = noWaits()
  /** Waits of writers for level-0 runs to be merged, by partition. */
  readonly level0Waits = new Map<string, WaitCounts>()
  /** By output level. */
  readonly merges: readonly MergeCounts[] = Array.from({ length: levelCount }, () => ({
    merges: 0,
    readBytes: 0,
    writtenBytes: 0,
    milliseconds: 0
  }))

  /** The counts of a partition, to be incremented. */
  waitsFor(partition: string): WaitCounts {
    const known = this.level0Waits.get(partition)
    if (known !== undefined) return known
    const waits = noWaits()
    this.level0Waits.set(partition, waits)
    return waits
  }

  /** The sum over memtables and all partitions. */
  get waits(): WaitCounts {
    const sum = { ...this.memtableWaits }
    for (const { slowdowns, slowdownMilliseconds, stalls } of this.level0Waits.values()) {
      sum.slowdowns += slowdowns
      sum.slowdownMilliseconds += slowdownMilliseconds
      sum.stalls += stalls
    }
    return sum
  }

  addFlush(result: TableJobResult): void {
    this.flushes++
    this.flushedBytes += result.writtenBytes
    this.flushMilliseconds += result.milliseconds
  }

  addMerge(level: number, result: TableJobResult): void {
    const counts = this.merges[level]
    if (counts === undefined) return
    counts.merges++
    counts.readBytes += result.readBytes
    counts.writtenBytes += result.writtenBytes
    counts.milliseconds += result.milliseconds
  }

  /** Bytes written to tables per byte flushed; 0 before the first flush. */
  get writeAmplification(): number {
    if (this.flushedBytes === 0) return 0
    const merged = this.merges.reduce((sum, counts) => sum + counts.writtenBytes, 0)
    return (this.flushedBytes + merged) / this.flushedBytes
  }
}
