/** Statistics of a store. */
import { level0Depth } from '../compaction/level0-runs.ts'
import type { Engine } from './engine.ts'

export interface LevelStats {
  readonly tables: number
  readonly bytes: number
  /** Keys and values before compression. */
  readonly rawBytes: number
  readonly entries: number
  readonly tombstones: number
  /** Merges into this level since the store was opened. */
  readonly merges: number
  readonly mergeReadBytes: number
  readonly mergeWrittenBytes: number
  readonly mergeMilliseconds: number
}

export interface StoreStats {
  /** Sequence number of the newest entry. */
  readonly sequence: number
  readonly levels: readonly LevelStats[]
  /** Sorted runs in level 0 of the partition that has most: these slow writers down. */
  readonly level0Runs: number
  readonly memtables: {
    readonly active: number
    readonly pending: number
    readonly bytes: number
  }
  readonly logBytes: number
  /** Open snapshots, counting those at the same sequence number once. */
  readonly snapshots: number
  readonly cache: {
    readonly budgetBytes: number
    readonly usedBytes: number
    readonly hits: number
    readonly misses: number
  }
  readonly openTables: number
  /** Indexes and key filters of open tables. */
  readonly tableMemoryBytes: number
  readonly writes: {
    readonly loggedBytes: number
    readonly flushes: number
    readonly flushedBytes: number
    readonly flushMilliseconds: number
    readonly movedTables: number
    /** Tables that clear() dropped whole. */
    readonly droppedTables: number
    /** Tables added whole, see LsmLevel.beginIngest(). */
    readonly ingestedTables: number
    readonly failedJobs: number
    /** Bytes written to tables per byte flushed. */
    readonly amplification: number
    /** How often writers were slowed down, and the total milliseconds. */
    readonly slowdowns: number
    readonly slowdownMilliseconds: number
    /** Times that all writers had to wait for a flush or a merge. */
    readonly stalls: number
  }
  /** Why the last flush or merge failed, or why writing ended. */
  readonly lastError: Error | undefined
}

export function storeStats(engine: Engine): StoreStats {
  const { blocks, counters, tables, version, options } = engine
  return {
    sequence: engine.sequence,
    levels: version.levels.map((_, level) => levelStats(engine, level)),
    level0Runs: level0Depth(version.tables(0), options.partitionDepth),
    memtables: {
      active: engine.buffers.length - engine.pendingMemtables,
      pending: engine.pendingMemtables,
      bytes: engine.buffers.reduce((sum, { memtable }) => sum + memtable.memoryBytes, 0)
    },
    logBytes: engine.logBytes,
    snapshots: engine.snapshots.live().length,
    cache: {
      budgetBytes: blocks.budgetBytes,
      usedBytes: blocks.usedBytes,
      hits: blocks.hits,
      misses: blocks.misses
    },
    openTables: tables.size,
    tableMemoryBytes: tables.memoryBytes,
    writes: {
      loggedBytes: counters.loggedBytes,
      flushes: counters.flushes,
      flushedBytes: counters.flushedBytes,
      flushMilliseconds: counters.flushMilliseconds,
      movedTables: counters.moves,
      droppedTables: counters.droppedTables,
      ingestedTables: counters.ingestedTables,
      failedJobs: counters.failedJobs,
      amplification: counters.writeAmplification,
      ...counters.waits
    },
    lastError: engine.lastError
  }
}

function levelStats({ version, counters }: Engine, level: number): LevelStats {
  const tables = version.tables(level)
  const merges = counters.merges[level]
  return {
    tables: tables.length,
    bytes: version.levelBytes[level] ?? 0,
    rawBytes: tables.reduce((sum, table) => sum + table.rawBytes, 0),
    entries: tables.reduce((sum, table) => sum + table.entries, 0),
    tombstones: tables.reduce((sum, table) => sum + table.tombstones, 0),
    merges: merges?.merges ?? 0,
    mergeReadBytes: merges?.readBytes ?? 0,
    mergeWrittenBytes: merges?.writtenBytes ?? 0,
    mergeMilliseconds: merges?.milliseconds ?? 0
  }
}
