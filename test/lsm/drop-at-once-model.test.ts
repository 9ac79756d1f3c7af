/** Random histories of clears beside writes, flushes, merges and ingests that go on meanwhile, compared with a map. */
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { LsmLevel, MemoryFileSystem, type StoreOptions } from '../../src/lsm/index.ts'
import type { Random } from '../bloom/random.ts'
import { testSeed } from '../support/arbitraries.ts'
import { playHistories } from '../support/histories.ts'
import { nextTurn } from '../support/lsm-crash-points.ts'
import { type Entries, ingestAll } from './ingest-helpers.ts'

const histories = 8
const steps = 80

type Store = LsmLevel<string, string>

const spaces = ['!a!', '!b!', '!c!']
const keys = spaces.flatMap((space) => Array.from({ length: 30 }, (_, n) => `${space}k${n + 10}`))

interface Bounds {
  readonly gte: string
  readonly lt: string
}

const isIn = ({ gte, lt }: Bounds, key: string): boolean => key >= gte && key < lt

/** Values that a clear has not deleted yet: until it ends, reads may still find them. */
type Ghosts = Map<string, string>

interface RunningIngest {
  readonly entries: Entries
  /** The ranges of clears that began meanwhile: each deletes all of its entries in the range, or none. */
  readonly cleared: Bounds[]
  readonly done: Promise<boolean>
}

interface Setting extends StoreOptions {
  /** Maximum length of values. */
  readonly valueBytes?: number
}

class Player {
  readonly #random: Random
  readonly #fileSystem = new MemoryFileSystem()
  readonly #db: Store
  readonly #model = new Map<string, string>()
  readonly #writes: Promise<unknown>[] = []
  /** Flushes and merges. */
  readonly #work: Promise<unknown>[] = []
  readonly #clears = new Map<Promise<unknown>, Ghosts>()
  readonly #ingests = new Set<RunningIngest>()
  #serial = 0
  dropped = 0
  overlapping = 0
  ingested = 0

  readonly #valueBytes: number

  constructor(random: Random, { valueBytes = 80, ...options }: Setting) {
    this.#random = random
    this.#valueBytes = valueBytes
    this.#db = new LsmLevel('/db', { blockSize: 200, ...options, fileSystem: this.#fileSystem })
  }

  async play(): Promise<void> {
    await this.#db.open()
    for (let step = 0; step < steps; step++) await this.#step()
    await this.#reopen()
    await this.#db.close()
  }

  async #step(): Promise<void> {
    const random = this.#random
    const dice = random.below(32)
    if (dice < 10) this.#write()
    else if (dice < 13) this.#work.push(this.#db.flush())
    else if (dice < 15) this.#work.push(this.#db.compactRange('', '~'))
    else if (dice < 18) this.#ingest()
    else if (dice < 24) await this.#clear()
    else if (dice < 26) await this.#read()
    else if (dice < 27) await this.#reopen()
    else for (let turn = random.below(8); turn > 0; turn--) await nextTurn()
  }

  #write(): void {
    const random = this.#random
    const taken = new Set([...this.#ingests].flatMap(({ entries }) => entries.map(([key]) => key)))
    const free = [...keys, ...this.#model.keys()].filter((key) => !taken.has(key))
    const space = random.below(3) === 0 ? spaces[random.below(spaces.length)]! : ''
    const some = free.filter((key) => key.startsWith(space) && random.below(12) === 0)
    if (some.length === 0) return
    const operations = some.map((key) => {
      for (const ghosts of this.#clears.values()) ghosts.delete(key)
      if (random.below(5) === 0) {
        this.#model.delete(key)
        return { type: 'del', key } as const
      }
      const value = this.#value()
      this.#model.set(key, value)
      return { type: 'put', key, value } as const
    })
    this.#writes.push(this.#db.batch(operations, { sync: random.below(4) === 0 }))
  }

  #value(): string {
    return `value ${++this.#serial} ${'x'.repeat(this.#random.below(this.#valueBytes))}`
  }

  /** Ingests keys that were never there before. */
  #ingest(): void {
    const random = this.#random
    const lists = Array.from({ length: 1 + random.below(2) }, (): Entries => {
      const space = spaces[random.below(spaces.length)]!
      return Array.from(
        { length: 1 + random.below(4) },
        () => [`${space}k${10 + random.below(30)}i${++this.#serial}`, this.#value()] as const
      )
    })
    const done = ingestAll(this.#db, this.#fileSystem, lists)
    const ingest: RunningIngest = { entries: lists.flat(), cleared: [], done }
    this.#ingests.add(ingest)
  }

  async #clear(): Promise<void> {
    const random = this.#random
    // Whether waiting writes are visible is not defined.
    await Promise.all(this.#writes.splice(0))
    const space = spaces[random.below(spaces.length)]!
    const [from = 0, to = 0] = [random.below(40), random.below(40)].sort((a, b) => a - b)
    const some = { gte: `${space}k${10 + from}`, lt: `${space}k${11 + to}` }
    const whole = { gte: space, lt: `${space.slice(0, -1)}"` }
    const bounds = random.below(3) === 0 ? some : random.below(8) === 0 ? { gte: '', lt: '~' } : whole
    const ghosts: Ghosts = new Map()
    for (const [key, value] of this.#model) {
      if (!isIn(bounds, key)) continue
      ghosts.set(key, value)
      this.#model.delete(key)
    }
    if (this.#clears.size > 0) this.overlapping++
    const cleared = this.#db.clear(bounds)
    this.#clears.set(cleared, ghosts)
    cleared.then(() => this.#clears.delete(cleared)).catch(() => undefined)
    for (const ingest of this.#ingests) ingest.cleared.push(bounds)
  }

  /** A snapshot shows what is there, and what running clears have not deleted yet; it does not change. */
  async #read(): Promise<void> {
    await Promise.all(this.#writes.splice(0))
    const ghosts = [...this.#clears.values()].map((each) => new Map(each))
    const model = new Map(this.#model)
    const ingesting = new Set([...this.#ingests].flatMap(({ entries }) => entries.map(([key]) => key)))
    const snapshot = this.#db.snapshot()
    const first = await this.#db.iterator({ snapshot }).all()
    for (let turn = this.#random.below(20); turn > 0; turn--) await nextTurn()
    assert.equal(await this.#db.iterator({ snapshot }).all(), first)
    assert.equal(await this.#db.iterator({ snapshot, reverse: true }).all(), [...first].reverse())
    await snapshot.close()
    const found = new Map(first)
    for (const [key, value] of model) assert.is(found.get(key), value, key)
    for (const [key, value] of first) {
      if (model.has(key) || ingesting.has(key)) continue
      assert.ok(
        ghosts.some((each) => each.get(key) === value),
        `${key}: ${value}`
      )
    }
  }

  async #settle(): Promise<void> {
    await Promise.all([...this.#writes.splice(0), ...this.#work.splice(0), ...this.#clears.keys()])
    for (const { entries, cleared, done } of this.#ingests) {
      if (!(await done)) continue
      this.ingested++
      const found = await this.#db.getMany(entries.map(([key]) => key))
      for (const bounds of cleared) {
        const inside = entries.flatMap(([key], i) => (isIn(bounds, key) ? [found[i] !== undefined] : []))
        if (cleared.length === 1) assert.is(new Set(inside).size <= 1, true, 'all of an ingest is cleared, or none')
      }
      for (const [i, [key, value]] of entries.entries()) {
        if (found[i] === undefined) assert.ok(cleared.some((bounds) => isIn(bounds, key)))
        else this.#model.set(key, value)
      }
    }
    this.#ingests.clear()
  }

  async #reopen(): Promise<void> {
    await this.#settle()
    await this.#check('settled')
    this.dropped += this.#db.stats().writes.droppedTables
    await this.#db.close()
    await this.#db.open()
    await this.#check('reopened')
    if (this.#random.below(2) === 0) return
    await this.#db.compactRange('', '~')
    await this.#check('merged')
  }

  async #check(when: string): Promise<void> {
    assert.equal(await this.#db.iterator().all(), [...this.#model].sort(compare), when)
    assert.equal((await this.#db.verify()).problems, [], when)
  }
}

function compare([a]: readonly [string, string], [b]: readonly [string, string]): number {
  return a < b ? -1 : 1
}

const settings: Record<string, Setting> = {
  'a table for each space': { partitionDepth: 1, writeBufferSize: 4000 },
  'tables of all spaces': { writeBufferSize: 4000 },
  'a table for each large space': { partitionDepth: 1, minPartitionSize: 2000, writeBufferSize: 4000 },
  'small tables, in many levels': {
    partitionDepth: 1,
    writeBufferSize: 1500,
    maxFileSize: 1000,
    level1Bytes: 4000,
    level0CompactionTrigger: 2
  },
  'tables that clears wait for': { partitionDepth: 1, writeBufferSize: 50_000, valueBytes: 20_000, compression: false },
  'no merges but by hand': { partitionDepth: 1, writeBufferSize: 2000, autoCompaction: false, level0StopTrigger: 1000 }
}

const seed = testSeed()
const totals = { dropped: 0, overlapping: 0, ingested: 0 }
for (const [name, options] of Object.entries(settings)) {
  test(`${name}: a clear deletes what was visible, and nothing that came later`, async () => {
    const playerFor = (random: Random): Player => new Player(random, options)
    await playHistories(histories, seed, playerFor, (player) => {
      totals.dropped += player.dropped
      totals.overlapping += player.overlapping
      totals.ingested += player.ingested
    })
  })
}

test('clears have dropped tables, and others went on at the same time', () => {
  console.log(JSON.stringify(totals))
  assert.ok(totals.dropped > 50 && totals.overlapping > 50 && totals.ingested > 20)
})

test.run()
