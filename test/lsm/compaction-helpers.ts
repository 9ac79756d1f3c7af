/** Jobs over small tables in memory, and the entries of the tables they write. */
import { BlockCache } from '../../src/lsm/cache/block-cache.ts'
import { InlineRunner } from '../../src/lsm/compaction/inline-runner.ts'
import type { MemtableSnapshot, TableJob, TableJobResult } from '../../src/lsm/compaction/job.ts'
import type { PartitionRules } from '../../src/lsm/compaction/partition.ts'
import { applyBatches } from '../../src/lsm/engine/apply-batches.ts'
import type { EntryKind } from '../../src/lsm/format/entry.ts'
import { Table } from '../../src/lsm/format/table.ts'
import {
  encodeDelete,
  encodedDeleteBytes,
  encodedPutBytes,
  encodePut,
  writeBatchHeader
} from '../../src/lsm/format/write-batch.ts'
import { tableName } from '../../src/lsm/fs/file-names.ts'
import type { FileSystem } from '../../src/lsm/fs/file-system.ts'
import { Arena } from '../../src/lsm/memtable/arena.ts'
import { Memtable } from '../../src/lsm/memtable/memtable.ts'
import type { TableMeta } from '../../src/lsm/version/table-meta.ts'

export const directory = '/db'

/** A version of a key; a tombstone has no value. */
export interface Version {
  readonly key: string
  readonly sequence: number
  readonly value: string | undefined
}

export type Operation = Pick<Version, 'key' | 'value'>

/** A memtable with one batch per operation, numbered from `firstSequence`. */
export function memtableOf(operations: readonly Operation[], firstSequence: number): MemtableSnapshot {
  const arena = new Arena()
  const memtable = new Memtable(arena)
  operations.forEach(({ key, value }, i) => {
    const keyBytes = Buffer.from(key)
    const valueBytes = value === undefined ? undefined : Buffer.from(value)
    const bytes =
      valueBytes === undefined
        ? encodedDeleteBytes(keyBytes.length)
        : encodedPutBytes(keyBytes.length, valueBytes.length)
    const reserved = arena.reserve(12 + bytes)
    const at = writeBatchHeader(reserved.bytes, reserved.offset, firstSequence + i, 1)
    const end =
      valueBytes === undefined
        ? encodeDelete(reserved.bytes, at, keyBytes)
        : encodePut(reserved.bytes, at, keyBytes, valueBytes)
    arena.commit(end)
    applyBatches(memtable, reserved.chunk, reserved.offset, end, { path: directory })
  })
  return memtable.snapshot()
}

/** Every partition has its own tables. */
export function partitionsOf(depth: number): PartitionRules {
  return { depth, minBytes: 0, own: new Set() }
}

export function jobOf(parts: Partial<TableJob> & Pick<TableJob, 'firstNumber'>): TableJob {
  return {
    kind: parts.memtables === undefined ? 'compaction' : 'flush',
    directory,
    memtables: [],
    runs: [],
    snapshots: [],
    deeper: undefined,
    grandparents: [],
    maxGrandparentBytes: Number.POSITIVE_INFINITY,
    endAfter: [],
    reservedNumbers: 1000,
    maxFileBytes: 1 << 20,
    partitions: partitionsOf(0),
    table: { blockBytes: 128, restartInterval: 4, codec: 'none', keyFilterBits: 10, values: undefined },
    ...parts
  }
}

export function runInline(fileSystem: FileSystem, job: TableJob, signal?: AbortSignal): Promise<TableJobResult> {
  return new InlineRunner(fileSystem).run(job, signal)
}

/** All entries of a table, in order. */
export function entriesOf(fileSystem: FileSystem, meta: TableMeta, location = directory): Version[] {
  const file = fileSystem.open(`${location}/${tableName(meta.number)}`, 'read')
  const table = Table.open(file, meta, new BlockCache(0))
  const entries: Version[] = []
  const cursor = table.cursor({ fillCache: 'none', readahead: false })
  for (cursor.seekToFirst(); cursor.isValid; cursor.next()) {
    const { keyBytes, keyStart, keyEnd, valueBytes, valueStart, valueEnd, sequence } = cursor
    const kind: EntryKind = cursor.kind
    entries.push({
      key: Buffer.from(keyBytes.subarray(keyStart, keyEnd)).toString(),
      sequence,
      value: kind === 0 ? undefined : Buffer.from(valueBytes.subarray(valueStart, valueEnd)).toString()
    })
  }
  cursor.close()
  table.close()
  return entries
}

/** The keys and values that a reader at `sequence` sees. */
export function visibleAt(versions: readonly Version[], sequence: number): Map<string, string> {
  const newest = new Map<string, Version>()
  for (const version of versions) {
    if (version.sequence > sequence) continue
    const known = newest.get(version.key)
    if (known === undefined || known.sequence < version.sequence) newest.set(version.key, version)
  }
  const visible = new Map<string, string>()
  for (const [key, { value }] of newest) if (value !== undefined) visible.set(key, value)
  return visible
}
