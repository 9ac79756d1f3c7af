/** What the engine has done since it was opened. */
import type { TableJobResult } from '../compaction/job.ts'
import { levelCount } from '../format/version-edit.ts'

export interface MergeCounts {
  merges: number
  readBytes: number
  writtenBytes: number
  milliseconds: number
}

export interface WaitCounts {
  /** Times that a writer was slowed down, and the milliseconds in all. */
  slowdowns: number
  slowdownMilliseconds: number
  /** Times that all writers had to wait. */
  stalls: number
}

function noWaits(): WaitCounts {
  return { slowdowns: 0, slowdownMilliseconds: 0, stalls: 0 }
}

export class EngineCounters {
  /** Bytes of log records: what users wrote. */
  loggedBytes = 0
  flushes = 0
  flushedBytes = 0
  flushMilliseconds = 0
  /** Tables that changed their level without being rewritten. */
  moves = 0
  /** Tables that were dropped as a whole, because all in them was cleared. */
  droppedTables = 0
  /** Tables that others have written, taken in as a whole. */
  ingestedTables = 0
  failedJobs = 0
  /** What writers waited for: memtables to be written out. */
  readonly memtableWaits: WaitCounts = noWaits()
  /** … or runs of level 0 to be merged, by partition. */
  readonly level0Waits = new Map<string, WaitCounts>()
  /** By output level. */
  readonly merges: readonly MergeCounts[] = Array.from({ length: levelCount }, () => ({
    merges: 0,
    readBytes: 0,
    writtenBytes: 0,
    milliseconds: 0
  }))

  /** To be counted in. */
  waitsFor(partition: string): WaitCounts {
    const known = this.level0Waits.get(partition)
    if (known !== undefined) return known
    const waits = noWaits()
    this.level0Waits.set(partition, waits)
    return waits
  }

  /** Of memtables and of all partitions. */
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
