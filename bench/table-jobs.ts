/**
 * How fast are flushes and compactions? Runs them in this thread, without a scheduler: sorting, merging, writing,
 * syncing. Values are half random, so that LZ4 can compress them.
 *
 *   node --import tsx bench/table-jobs.ts
 */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { MemtableSnapshot, TableJob } from '../src/lsm/compaction/job.ts'
import type { Pace } from '../src/lsm/compaction/job-queue.ts'
import { runTableJob } from '../src/lsm/compaction/run-table-job.ts'
import { applyBatches } from '../src/lsm/engine/apply-batches.ts'
import type { CodecName } from '../src/lsm/format/table-options.ts'
import { encodedPutBytes, encodePut, writeBatchHeader } from '../src/lsm/format/write-batch.ts'
import { nodeFileSystem } from '../src/lsm/fs/node-file-system.ts'
import { Arena } from '../src/lsm/memtable/arena.ts'
import { Memtable } from '../src/lsm/memtable/memtable.ts'

const mib = 1024 * 1024
const headerBytes = 12
const unhurried: Pace = { yieldIfDue: () => undefined, waitFor: (waiting) => waiting }
const directory = mkdtempSync(join(tmpdir(), 'petaldb-bench-jobs-'))
let nextNumber = 1
let state = 12345

function random(): number {
  state = (Math.imul(state, 1664525) + 1013904223) >>> 0
  return state
}

/** A memtable of random keys, in batches of a hundred. */
function memtableOf(entries: number, valueBytes: number, firstSequence: number): MemtableSnapshot {
  const arena = new Arena()
  const memtable = new Memtable(arena)
  const value = Buffer.alloc(valueBytes)
  for (let done = 0; done < entries; done += 100) {
    const count = Math.min(100, entries - done)
    const { chunk, bytes, offset } = arena.reserve(24 + headerBytes + count * encodedPutBytes(16, valueBytes))
    let at = writeBatchHeader(bytes, offset + 24, firstSequence + done, count)
    for (let i = 0; i < count; i++) {
      for (let word = 0; word + 8 <= valueBytes; word += 8) value.writeUInt32LE(random(), word)
      const key = Buffer.from(random().toString(16).padStart(8, '0') + random().toString(16).padStart(8, '0'))
      at = encodePut(bytes, at, key, value)
    }
    arena.commit(at)
    applyBatches(memtable, chunk, offset + 24, at, { path: directory })
  }
  return memtable.snapshot()
}

function job(kind: TableJob['kind'], codec: CodecName, parts: Partial<TableJob>): TableJob {
  const firstNumber = nextNumber
  nextNumber += 1000
  return {
    kind,
    directory,
    memtables: [],
    runs: [],
    snapshots: [],
    deeper: [],
    grandparents: [],
    maxGrandparentBytes: Number.POSITIVE_INFINITY,
    endAfter: [],
    firstNumber,
    reservedNumbers: 1000,
    maxFileBytes: 4 * mib,
    partitions: { depth: 0, minBytes: 0, own: new Set() },
    table: { blockBytes: 4096, restartInterval: 16, codec, keyFilterBits: 10, values: undefined },
    ...parts
  }
}

const rows = []
try {
  for (const valueBytes of [1024, 20]) {
    for (const codec of ['none', 'lz4'] as const) {
      const entries = valueBytes === 1024 ? 4000 : 60_000
      const raw = (entries * (16 + valueBytes)) / mib
      const runs = []
      let flushTime = 0
      for (let i = 0; i < 12; i++) {
        const memtable = memtableOf(entries, valueBytes, 1 + i * entries)
        const result = await runTableJob(
          job('flush', codec, { memtables: [memtable], maxFileBytes: 64 * mib }),
          nodeFileSystem,
          unhurried
        )
        // The first ones run before their code is compiled.
        if (i >= 4) flushTime += result.milliseconds
        runs.push(result.tables)
      }
      await runTableJob(job('compaction', codec, { runs: runs.slice(0, 4) }), nodeFileSystem, unhurried)
      const merged = await runTableJob(
        job('compaction', codec, { runs, maxFileBytes: 2 * mib }),
        nodeFileSystem,
        unhurried
      )
      rows.push({
        'value bytes': valueBytes,
        codec,
        'flush MB/s': Math.round((8 * raw * 1.048576) / (flushTime / 1000)),
        'flush µs per entry': ((flushTime * 1000) / (8 * entries)).toFixed(2),
        'merge MB/s': Math.round((12 * raw * 1.048576) / (merged.milliseconds / 1000)),
        'merge µs per entry': ((merged.milliseconds * 1000) / (12 * entries)).toFixed(2),
        tables: merged.tables.length,
        'bytes per raw byte': (merged.writtenBytes / (12 * raw * mib)).toFixed(2)
      })
    }
  }
} finally {
  rmSync(directory, { recursive: true })
}
console.table(rows)
