/**
 * What does the compaction policy cost? Runs the store's picker over tables that exist only as sizes and key ranges:
 * bytes written per byte put, the rate of writers, and the number of runs that readers meet.
 *
 *   node --import tsx bench/compaction-policy.ts [gigabytes …]
 *
 * Keys are of one partition, or of small ones that share tables: then each key is a partition.
 */
import { level0Depth, level0Runs } from '../src/lsm/compaction/level0-runs.ts'
import type { CompactionLimits, Levels, Merge, Pick } from '../src/lsm/compaction/pick.ts'
import { pickCompaction } from '../src/lsm/compaction/picker.ts'
import { compareKeys } from '../src/lsm/format/entry.ts'
import type { TableMeta } from '../src/lsm/version/table-meta.ts'

const mib = 1024 * 1024
const memtableBytes = 4 * mib
const onePartition: CompactionLimits = {
  level0Trigger: 4,
  level1Bytes: 64 * mib,
  maxFileBytes: 2 * mib,
  level0FileBytes: Number.POSITIVE_INFINITY,
  partitionDepth: 0,
  minPartitionSize: 0
}
const smallPartitions: CompactionLimits = { ...onePartition, partitionDepth: 1, minPartitionSize: mib }

/** Bytes per millisecond that writers offer, and that flushes and merges write. */
const offered = 140_000
const flushRate = 300_000
const mergeRate = 220_000
const slowdown = 20
const stop = 36

const keySpace = 2 ** 32 - 1

function keyOf(place: number): Buffer {
  return Buffer.from(`!${Math.floor(place).toString(16).padStart(8, '0')}!`)
}

function placeOf(key: Uint8Array): number {
  return Number.parseInt(Buffer.from(key.subarray(1, -1)).toString(), 16)
}

interface Running {
  readonly merge: Merge | undefined
  left: number
}

class Store implements Levels {
  levels: TableMeta[][] = Array.from({ length: 7 }, () => [])
  #number = 1
  #sequence = 1
  readonly running: Running[] = []
  flushed = 0
  merged = 0

  table(from: number, to: number, bytes: number, smallestSequence: number, largestSequence: number): TableMeta {
    const entries = Math.max(1, Math.round(bytes / 1024))
    const number = this.#number++
    return {
      number,
      bytes,
      smallest: keyOf(from),
      largest: keyOf(to),
      smallestSequence,
      largestSequence,
      entries,
      tombstones: 0,
      rawBytes: bytes
    }
  }

  flush(): void {
    this.#sequence += 4096
    const table = this.table(0, keySpace, memtableBytes, this.#sequence - 4096, this.#sequence - 1)
    this.levels[0] = [table, ...(this.levels[0] ?? [])]
    this.flushed += table.bytes
  }

  install(pick: Pick): void {
    const inputs = pick.kind === 'move' ? [{ level: pick.level, tables: pick.tables }] : pick.inputs
    const gone = new Set(inputs.flatMap((input) => input.tables.map((table) => table.number)))
    this.levels = this.levels.map((tables) => tables.filter((table) => !gone.has(table.number)))
    const level = pick.kind === 'move' ? pick.toLevel : pick.outputLevel
    const added = pick.kind === 'move' ? pick.tables : this.#outputs(pick)
    this.levels[level] = [...(this.levels[level] ?? []), ...added].sort((a, b) =>
      level > 0 ? compareKeys(a.smallest, b.smallest) : b.largestSequence - a.largestSequence || b.number - a.number
    )
  }

  #outputs(merge: Merge): TableMeta[] {
    const tables = merge.inputs.flatMap((input) => input.tables)
    const bytes = tables.reduce((sum, table) => sum + table.bytes, 0)
    const from = Math.min(...tables.map((table) => placeOf(table.smallest)))
    const to = Math.max(...tables.map((table) => placeOf(table.largest)))
    const fileBytes = merge.outputLevel === 0 ? onePartition.level0FileBytes : onePartition.maxFileBytes
    const count = Math.max(1, Math.round(bytes / fileBytes))
    const smallest = Math.min(...tables.map((table) => table.smallestSequence))
    const largest = Math.max(...tables.map((table) => table.largestSequence))
    const width = (to - from) / count
    this.merged += bytes
    return Array.from({ length: count }, (_, i) =>
      this.table(from + i * width + (i === 0 ? 0 : 1), from + (i + 1) * width, bytes / count, smallest, largest)
    )
  }
}

function rateAt(depth: number): number {
  if (depth < slowdown) return offered
  const room = Math.max(0, stop - depth) / (stop - slowdown)
  return depth >= stop ? 0 : Math.min(offered, Math.max(2048, 65_536 * room * room))
}

function simulate(gigabytes: number, limits: CompactionLimits, concurrentMerges: number, rate: number) {
  const store = new Store()
  const state = {
    get running() {
      return store.running.flatMap((job) => (job.merge === undefined ? [] : [job.merge]))
    },
    pointer: () => undefined
  }
  const total = gigabytes * 1024 * mib
  let put = 0
  let filled = 0
  let frozen = 0
  let time = 0
  let depthSum = 0
  let depthMost = 0
  let largestMerge = 0
  let writing = 0
  const step = 2
  for (; put < total || store.running.length > 0; time += step) {
    // Writers
    const depth = level0Depth(store.levels[0] ?? [], limits.partitionDepth)
    if (put < total) {
      writing = time
      const wanted = Math.min(rate, rateAt(depth)) * step
      const room = (2 - frozen) * memtableBytes - filled
      const written = Math.max(0, Math.min(wanted, room, total - put))
      put += written
      filled += written
      depthSum += depth * step
      depthMost = Math.max(depthMost, depth)
    }
    if (filled >= memtableBytes) {
      filled -= memtableBytes
      frozen++
      store.running.push({ merge: undefined, left: memtableBytes / flushRate })
    }
    // The worker: flushes first, then the shortest merge
    let budget = step
    while (budget > 0) {
      const job = store.running.sort(
        (a, b) => Number(a.merge !== undefined) - Number(b.merge !== undefined) || a.left - b.left
      )[0]
      if (job === undefined) break
      const spent = Math.min(budget, job.left)
      job.left -= spent
      budget -= spent
      if (job.left > 1e-9) continue
      store.running.splice(store.running.indexOf(job), 1)
      if (job.merge === undefined) {
        frozen--
        store.flush()
      } else store.install(job.merge)
      schedule()
    }
  }

  function schedule(): void {
    while (state.running.length < concurrentMerges) {
      const pick = pickCompaction(store, limits, state)
      if (pick === undefined) return
      if (pick.kind === 'move') store.install(pick)
      else {
        const bytes = pick.inputs.flatMap((input) => input.tables).reduce((sum, table) => sum + table.bytes, 0)
        largestMerge = Math.max(largestMerge, bytes)
        store.running.push({ merge: pick, left: bytes / mergeRate })
      }
    }
  }
  return {
    gigabytes,
    partitions: limits === onePartition ? 'one' : 'small',
    'merges at a time': concurrentMerges,
    'offered MB/s': rate / 1000,
    'put MB/s': Math.round(put / writing / 1000),
    'written per byte put': ((store.flushed + store.merged) / put).toFixed(2),
    'runs while writing': (depthSum / writing).toFixed(1),
    most: depthMost,
    'runs after': level0Runs(store.levels[0] ?? []).length,
    'largest merge MiB': Math.round(largestMerge / mib),
    levels: store.levels
      .map((tables) => Math.round(tables.reduce((sum, table) => sum + table.bytes, 0) / mib))
      .join(' ')
  }
}

const sizes = process.argv.slice(2).map(Number)
const rows = []
for (const gigabytes of sizes.length > 0 ? sizes : [1, 4]) {
  for (const limits of [onePartition, smallPartitions]) {
    for (const concurrent of [1, 2]) {
      for (const rate of [30_000, offered]) rows.push(simulate(gigabytes, limits, concurrent, rate))
    }
  }
}
console.table(rows)
