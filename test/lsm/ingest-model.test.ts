/** Random histories with ingests, compared with a map. */
import type { AbstractSnapshot } from 'abstract-level'
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { LsmLevel, MemoryFileSystem, type StoreOptions } from '../../src/lsm/index.ts'
import type { Random } from '../bloom/random.ts'
import { testSeed } from '../support/arbitraries.ts'
import { playHistories } from '../support/histories.ts'
import { ingestTables, put } from './ingest-helpers.ts'

const histories = 60
const steps = 60

/** A few entries fill a memtable, and a few tables start a merge. */
const small: StoreOptions = {
  writeBufferSize: 1500,
  maxFileSize: 1000,
  level1Bytes: 4000,
  blockSize: 200,
  level0CompactionTrigger: 2
}

type Model = ReadonlyMap<string, string>
type Store = LsmLevel<string, string>

const keys = ['', '!a!', '!b!'].flatMap((space) => Array.from({ length: 40 }, (_, n) => `${space}k${n + 10}`))

const contentOf = (model: Model): [string, string][] => [...model].sort(([a], [b]) => (a < b ? -1 : 1))

/** An iterator or snapshot that shows the state at its creation. */
interface Held {
  readonly expected: [string, string][]
  readonly read: () => Promise<[string, string][]>
  readonly release: () => Promise<void>
}

class Player {
  readonly #random: Random
  readonly #fileSystem = new MemoryFileSystem()
  readonly #db: Store
  readonly #model = new Map<string, string>()
  readonly #held: Held[] = []
  #values = 0
  ingests = 0

  constructor(random: Random, options: StoreOptions) {
    this.#random = random
    this.#db = new LsmLevel('/db', { ...small, ...options, fileSystem: this.#fileSystem })
  }

  async play(): Promise<void> {
    await this.#db.open()
    for (let step = 0; step < steps; step++) await this.#step()
    await this.#releaseAll()
    await this.#check()
    await this.#db.close()
  }

  async #step(): Promise<void> {
    const random = this.#random
    const kind = random.below(24)
    if (kind < 8) await this.#write(this.#some(8), random.below(4) === 0)
    else if (kind < 10) await this.#db.flush()
    else if (kind < 12) await this.#db.compactRange('', '~')
    else if (kind < 17) await this.#ingest()
    else if (kind < 19) this.#hold()
    else if (kind < 20) await this.#releaseAll()
    else if (kind < 21) await this.#reopen()
    else await this.#read()
  }

  #some(most: number, isWanted = (_: string) => true): string[] {
    const wanted = keys.filter(isWanted)
    const count = Math.min(wanted.length, 1 + this.#random.below(most))
    return [...new Set(Array.from({ length: count }, () => wanted[this.#random.below(wanted.length)] ?? ''))]
  }

  #value(): string {
    return `value ${++this.#values} ${'x'.repeat(this.#random.below(100))}`
  }

  async #write(some: readonly string[], isDelete: boolean): Promise<void> {
    const operations = some.map((key) =>
      isDelete ? ({ type: 'del', key } as const) : ({ type: 'put', key, value: this.#value() } as const)
    )
    for (const operation of operations) {
      if (operation.type === 'put') this.#model.set(operation.key, operation.value)
      else this.#model.delete(operation.key)
    }
    await this.#db.batch(operations)
  }

  /** Ingests absent keys by one or two writers of tables; other keys may be written meanwhile. */
  async #ingest(): Promise<void> {
    const random = this.#random
    const db = this.#db
    const ingest = await db.beginIngest()
    const absent = this.#some(30, (key) => !this.#model.has(key))
    const others = this.#some(4, (key) => !absent.includes(key))
    const entries = absent.map((key) => [key, this.#value()] as const)
    const writers = Array.from({ length: 1 + random.below(2) }, () => ingestTables(ingest, this.#fileSystem))
    for (const entry of entries) {
      const tables = writers[random.below(writers.length)]!
      put(tables, entry)
      if (random.below(8) === 0) await tables.flush()
    }
    const metas = (await Promise.all(writers.map((tables) => tables.finish()))).flat()
    if (random.below(2) === 0) await this.#write(others, random.below(3) === 0)
    const before = contentOf(this.#model)
    const isMerged = random.below(3) === 0
    const merged = isMerged ? db.compactRange('', '~') : undefined
    const installed = ingest.install(metas)
    if (random.below(2) === 0) await nextTurn()
    const state = await db.iterator().all()
    const isInstalled = await installed
    await merged
    if (isInstalled) {
      this.ingests++
      for (const [key, value] of entries) this.#model.set(key, value)
    } else {
      await Promise.all(writers.map((tables) => tables.discard()))
    }
    const after = contentOf(this.#model)
    assert.ok([before, after].some((expected) => JSON.stringify(expected) === JSON.stringify(state)))
    assert.equal(await db.iterator().all(), after)
  }

  #hold(): void {
    const db = this.#db
    const expected = contentOf(this.#model)
    if (this.#random.below(2) === 0) {
      const iterator = db.iterator()
      this.#held.push({ expected, read: () => iterator.all(), release: async () => undefined })
      return
    }
    const snapshot: AbstractSnapshot = db.snapshot()
    const read = async (): Promise<[string, string][]> => {
      const found = await db.getMany(keys, { snapshot })
      assert.equal(
        found,
        keys.map((key) => expected.find(([known]) => known === key)?.[1])
      )
      return db.iterator({ snapshot }).all()
    }
    this.#held.push({ expected, read, release: () => snapshot.close() })
  }

  async #releaseAll(): Promise<void> {
    for (const { expected, read, release } of this.#held.splice(0)) {
      assert.equal(await read(), expected)
      await release()
    }
  }

  async #reopen(): Promise<void> {
    await this.#releaseAll()
    await this.#db.close()
    await this.#db.open()
    await this.#check()
  }

  async #read(): Promise<void> {
    const some = this.#some(20)
    const expected = some.map((key) => this.#model.get(key))
    assert.equal(await this.#db.getMany(some), expected)
    assert.equal(
      some.map((key) => this.#db.getSync(key)),
      expected
    )
  }

  async #check(): Promise<void> {
    assert.equal((await this.#db.verify()).problems, [])
    const expected = contentOf(this.#model)
    assert.equal(await this.#db.iterator().all(), expected)
    assert.equal(await this.#db.iterator({ reverse: true }).all(), expected.reverse())
  }
}

function nextTurn(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve))
}

const settings: Record<string, StoreOptions> = {
  'one partition': {},
  'partitions by sublevel': { partitionDepth: 1 },
  'partitions that share tables': { partitionDepth: 1, minPartitionSize: 100_000 },
  'no merges but by hand': { partitionDepth: 1, autoCompaction: false, level0StopTrigger: 1000 }
}

const seed = testSeed()
for (const [name, options] of Object.entries(settings)) {
  test(`${name}: with ingests between writes, the store behaves as a sorted map with frozen snapshots`, async () => {
    let ingests = 0
    const playerFor = (random: Random): Player => new Player(random, options)
    await playHistories(histories, seed, playerFor, (player) => {
      ingests += player.ingests
    })
    assert.ok(ingests > histories, `${ingests} ingests`)
    console.log(`${name}: ${ingests} ingests`)
  })
}

test.run()
