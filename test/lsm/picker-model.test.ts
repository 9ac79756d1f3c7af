import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { overlaps } from '../../src/lsm/compaction/key-span.ts'
import { level0Depth, level0Runs } from '../../src/lsm/compaction/level0-runs.ts'
import { partitionName } from '../../src/lsm/compaction/partition.ts'
import type { CompactionLimits, Levels, Merge, Pick } from '../../src/lsm/compaction/pick.ts'
import { pickCompaction } from '../../src/lsm/compaction/picker.ts'
import { compareKeys } from '../../src/lsm/format/entry.ts'
import type { TableMeta } from '../../src/lsm/version/table-meta.ts'
import { randomFrom } from '../support/random.ts'
import { seedOfRun } from '../support/values.ts'

const seed = seedOfRun()

interface Entry {
  readonly key: string
  readonly sequence: number
  readonly isTombstone: boolean
}

interface RunningMerge {
  readonly merge: Merge
  /** The levels when it began: they decide which tombstones it drops. */
  readonly levels: readonly (readonly TableMeta[])[]
}

const entryBytes = 100

/** A store whose tables are lists of entries; a merge is executed when it is installed. */
class ModelStore implements Levels {
  levels: TableMeta[][] = Array.from({ length: 7 }, () => [])
  readonly contents = new Map<number, readonly Entry[]>()
  readonly newest = new Map<string, Entry>()
  readonly running: RunningMerge[] = []
  readonly #limits: CompactionLimits
  readonly #isCut: () => boolean
  #number = 1
  #sequence = 1

  /** @param isCut decides for each border of partitions whether tables end there */
  constructor(limits: CompactionLimits, isCut: () => boolean) {
    this.#limits = limits
    this.#isCut = isCut
  }

  flush(operations: readonly { key: string; isTombstone: boolean }[]): void {
    const entries = new Map<string, Entry>()
    for (const operation of operations) entries.set(operation.key, { ...operation, sequence: this.#sequence++ })
    for (const entry of entries.values()) this.newest.set(entry.key, entry)
    this.#add(0, this.#tables([...entries.values()], this.#limits.level0FileBytes))
  }

  install(pick: Pick, begunWith: readonly (readonly TableMeta[])[]): void {
    const inputs = pick.kind === 'move' ? [{ level: pick.level, tables: pick.tables }] : pick.inputs
    for (const { level, tables } of inputs) {
      for (const table of tables) assert.ok(this.levels[level]?.includes(table), 'an input is where the pick says')
      this.levels[level] = (this.levels[level] ?? []).filter((table) => !tables.includes(table))
    }
    if (pick.kind === 'move') this.#add(pick.toLevel, pick.tables)
    else this.#add(pick.outputLevel, this.#merged(pick, begunWith))
    this.check()
  }

  #merged(merge: Merge, begunWith: readonly (readonly TableMeta[])[]): TableMeta[] {
    const newest = new Map<string, Entry>()
    for (const table of merge.inputs.flatMap((input) => input.tables)) {
      for (const entry of this.contents.get(table.number) ?? []) {
        if ((newest.get(entry.key)?.sequence ?? 0) < entry.sequence) newest.set(entry.key, entry)
      }
    }
    const deeper = merge.outputLevel === 0 ? undefined : begunWith.slice(merge.outputLevel + 1).flat()
    const kept = [...newest.values()].filter((entry) => {
      const key = Buffer.from(entry.key)
      const span = { smallest: key, largest: key }
      return !entry.isTombstone || deeper === undefined || deeper.some((table) => overlaps(table, span))
    })
    const { level0FileBytes, maxFileBytes } = this.#limits
    return this.#tables(kept, merge.outputLevel === 0 ? level0FileBytes : maxFileBytes)
  }

  /** Splits entries into tables by size and at borders of partitions. */
  #tables(entries: Entry[], fileBytes: number): TableMeta[] {
    entries.sort((a, b) => compareKeys(Buffer.from(a.key), Buffer.from(b.key)))
    const groups: Entry[][] = []
    for (const entry of entries) {
      const group = groups.at(-1)
      const last = group?.at(-1)
      const isBorder = last !== undefined && this.#partition(last) !== this.#partition(entry)
      const isEnd = group === undefined || group.length * entryBytes >= fileBytes || (isBorder && this.#isCut())
      if (isEnd) groups.push([entry])
      else group.push(entry)
    }
    return groups.map((group) => {
      const number = this.#number++
      this.contents.set(number, group)
      const keys = group.map((entry) => Buffer.from(entry.key))
      const sequences = group.map((entry) => entry.sequence)
      return {
        number,
        bytes: group.length * entryBytes,
        smallest: keys[0] ?? Buffer.alloc(0),
        largest: keys.at(-1) ?? Buffer.alloc(0),
        smallestSequence: Math.min(...sequences),
        largestSequence: Math.max(...sequences),
        entries: group.length,
        tombstones: group.filter((entry) => entry.isTombstone).length,
        rawBytes: group.length * entryBytes
      }
    })
  }

  #partition(entry: Entry): string {
    return partitionName(Buffer.from(entry.key), this.#limits.partitionDepth)
  }

  /** Replaces the level, as levels are immutable. */
  #add(level: number, added: readonly TableMeta[]): void {
    this.levels[level] = [...(this.levels[level] ?? []), ...added].sort((a, b) =>
      level > 0 ? compareKeys(a.smallest, b.smallest) : b.largestSequence - a.largestSequence || b.number - a.number
    )
  }

  check(): void {
    const seen = new Map<string, Entry>()
    for (const [level, tables] of this.levels.entries()) {
      tables.forEach((table, i) => {
        const next = tables[i + 1]
        if (level > 0 && next !== undefined) assert.ok(compareKeys(table.largest, next.smallest) < 0, `level ${level}`)
        for (const entry of this.contents.get(table.number) ?? []) {
          const newer = seen.get(entry.key)
          // From top to bottom, versions of a key get older.
          assert.ok(newer === undefined || newer.sequence > entry.sequence, `${entry.key} at level ${level}`)
          if (newer === undefined) {
            const expected = this.newest.get(entry.key)
            const isGone = expected?.isTombstone && entry.isTombstone
            assert.ok(isGone || expected?.sequence === entry.sequence, `${entry.key} at level ${level}`)
          }
          seen.set(entry.key, entry)
        }
      })
    }
    for (const [key, entry] of this.newest) assert.ok(entry.isTombstone || seen.has(key), `${key} is lost`)
  }
}

const limitSets: readonly CompactionLimits[] = [
  { level1Bytes: 2000, maxFileBytes: 500, level0FileBytes: Infinity, partitionDepth: 0 },
  { level1Bytes: 3000, maxFileBytes: 300, level0FileBytes: 300, partitionDepth: 1 },
  { level0Trigger: 1, level1Bytes: 100, maxFileBytes: 100, level0FileBytes: 1000, partitionDepth: 2 },
  { level0Trigger: 2, level1Bytes: 100_000, maxFileBytes: 1000, level0FileBytes: Infinity, partitionDepth: 1 },
  { level1Bytes: 500, maxFileBytes: 300, level0FileBytes: 300, partitionDepth: 2, minPartitionSize: 1000 },
  { level0Trigger: 2, level1Bytes: 100, maxFileBytes: 200, level0FileBytes: Infinity, minPartitionSize: 20_000 }
].map((limits) => ({ level0Trigger: 4, partitionDepth: 1, minPartitionSize: 0, ...limits }))

test('random picks, finished in any order, keep levels sorted and newer versions above older ones', () => {
  for (let round = 0; round < 120; round++) {
    const random = randomFrom(seed + round)
    const limits = limitSets[round % limitSets.length] as CompactionLimits
    // Small partitions share tables in every other round; which ones are small changes all the time.
    const cuts = round % (2 * limitSets.length) < limitSets.length ? 1 : random()
    const store = new ModelStore(limits, () => random() < cuts)
    const pointers = new Map<string, Uint8Array>()
    const state = {
      get running() {
        return store.running.map(({ merge }) => merge)
      },
      pointer: (level: number, group: string) => pointers.get(`${level} ${group}`)
    }
    const maxRunning = 1 + (round % 3)
    const keySpace = [200, 3000, 50_000][Math.floor(round / 3) % 3] ?? 200
    let appended = 0
    for (let step = 0; step < 60; step++) {
      const prefix = () => ['', '!a!', '!b!', '!b!!c!', '~'][Math.floor(random() * 5)]
      const isWide = random() < 0.6
      const low = Math.floor(random() * (keySpace - 10))
      const operations = Array.from({ length: 1 + Math.floor(random() * 12) }, () => {
        const place = isWide ? Math.floor(random() * keySpace) : low + Math.floor(random() * 10)
        const key = random() < 0.3 ? `!b!9${String(appended++).padStart(6, '0')}` : prefix() + String(place)
        return { key, isTombstone: random() < 0.25 }
      })
      store.flush(operations)
      store.check()
      startPicks()
      if (random() < 0.7) finishOne()
    }
    let picks = 0
    for (startPicks(); store.running.length > 0; startPicks()) {
      finishOne()
      assert.ok(++picks < 2000, 'compaction comes to an end')
    }
    const depth = level0Depth(store.levels[0] ?? [], limits.partitionDepth)
    assert.ok(depth < 3 * limits.level0Trigger, `${depth} runs are left`)

    function startPicks(): void {
      while (store.running.length < maxRunning) {
        const pick = pickCompaction(store, limits, state)
        if (pick === undefined) return
        if (pick.kind === 'move') store.install(pick, store.levels)
        else store.running.push({ merge: pick, levels: store.levels.map((tables) => [...tables]) })
      }
    }

    function finishOne(): void {
      const [done] = store.running.splice(Math.floor(random() * store.running.length), 1)
      if (done === undefined) return
      const [top] = done.merge.inputs
      const last = top?.tables.at(-1)
      if (top !== undefined && last !== undefined) pointers.set(`${top.level} ${done.merge.group}`, last.largest)
      store.install(done.merge, done.levels)
    }
  }
})

test('tables within a run of level 0 do not overlap, and runs are contiguous in age', () => {
  const random = randomFrom(seed)
  for (let round = 0; round < 200; round++) {
    const tables = Array.from({ length: 1 + Math.floor(random() * 12) }, (_, i) => {
      const from = Math.floor(random() * 90)
      const key = (place: number) => Buffer.from(String(place).padStart(3, '0'))
      const largestSequence = 1000 - i
      return {
        smallest: key(from),
        largest: key(from + Math.floor(random() * 9)),
        largestSequence
      } as unknown as TableMeta
    })
    const runs = level0Runs(tables)
    assert.is(runs.flat().length, tables.length)
    const ages = runs.map((run) => run.map((table) => table.largestSequence))
    for (const [i, run] of runs.entries()) {
      run.forEach((table, at) => {
        const next = run[at + 1]
        if (next !== undefined) assert.ok(compareKeys(table.largest, next.smallest) < 0)
      })
      assert.ok(Math.min(...(ages[i] ?? [])) > Math.max(0, ...(ages[i + 1] ?? [])))
    }
  }
})

test.run()
