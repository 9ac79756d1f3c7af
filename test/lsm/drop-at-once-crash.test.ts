/** Crashes and failures at every call of clears that drop tables at once, and of the writes around them. */
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { LsmLevel, MemoryFileSystem, type StoreOptions } from '../../src/lsm/index.ts'
import { createRandom, type Random } from '../bloom/random.ts'
import { testSeed } from '../support/arbitraries.ts'
import { FaultyFileSystem } from '../support/faulty-file-system.ts'
import { fingerprint } from '../support/lsm-crash-check.ts'
import { nextTurn } from '../support/lsm-crash-points.ts'

const location = '/db'
/** Traces whose clear drops tables. */
const dropping = 4
const maxTraces = 100
/** Checked of each trace. */
const maxStates = 160

const cleared = { gte: '!a!', lt: '!a"' }
const oldKeys = Array.from({ length: 20 }, (_, n) => `!a!k${n + 10}`)

/** What must hold after a crash. Writes are counted; each has a key of its own, and may put a key of the range, too. */
interface Bounds {
  readonly durable: number
  /** Writes that were called. */
  readonly begun: number
  /** Writes that were acknowledged when clear() was called; undefined before that. */
  readonly beforeClear: number | undefined
  /** Whether tables were dropped: then there is no way back. */
  readonly isDropped: boolean
}

interface CrashPoint extends Bounds {
  readonly disk: MemoryFileSystem
  readonly moment: string
}

const keyOf = (write: number): string => `!w!${String(write).padStart(4, '0')}`

class Trace {
  readonly #random: Random
  readonly #disk = new MemoryFileSystem()
  readonly #options: StoreOptions
  readonly #db: LsmLevel<string, string>
  readonly points: CrashPoint[] = []
  /** The key of the range that each write puts. */
  readonly #puts: (string | undefined)[] = []
  #bounds: Bounds = { durable: 0, begun: 0, beforeClear: undefined, isDropped: false }
  #isRecording = false
  droppedTables = 0

  constructor(random: Random) {
    this.#random = random
    this.#options = {
      blockSize: 200,
      partitionDepth: random.below(2),
      writeBufferSize: random.below(2) === 0 ? 700 : 1 << 20,
      level0CompactionTrigger: 2 + random.below(3)
    }
    const fileSystem = new FaultyFileSystem(this.#disk, {
      before: ({ operation, path }) => this.#crash(`before ${operation} of ${path}`),
      after: ({ operation, path }) => this.#crash(`after ${operation} of ${path}`)
    })
    this.#db = new LsmLevel(location, { ...this.#options, fileSystem })
  }

  async run(): Promise<void> {
    const random = this.#random
    const db = this.#db
    await db.open()
    for (let pieces = 1 + random.below(3); pieces > 0; pieces--) {
      await db.batch(oldKeys.map((key) => ({ type: 'put', key, value: 'old' })))
      await db.flush()
      if (random.below(3) === 0) await db.compactRange('!a!', '!a"')
    }
    // Around the range, but without a key in it.
    if (random.below(2) === 0) await db.batch().put('!Z', 'around').put('!z', 'around').write()
    if (random.below(2) === 0) await db.flush()
    this.#isRecording = true
    for (let count = random.below(6); count > 0; count--) await this.#write(random.below(3) === 0)
    await this.#clear()
    for (let count = random.below(4); count > 0; count--) await this.#write(random.below(3) === 0, this.#someKey())
    await db.flush()
    this.#bounds = { ...this.#bounds, durable: this.#bounds.begun }
    await db.compactRange('', '~')
    this.#crash('at the end')
    this.droppedTables = db.stats().writes.droppedTables
    await db.close()
  }

  async #clear(): Promise<void> {
    const random = this.#random
    const db = this.#db
    const before = db.stats().writes.droppedTables
    this.#bounds = { ...this.#bounds, beforeClear: this.#bounds.begun }
    const writes: Promise<void>[] = []
    // Not visible yet: it is kept.
    if (random.below(3) === 0) writes.push(this.#write(random.below(2) === 0, this.#someKey()))
    const done = db.clear(cleared)
    for (let count = random.below(5); count > 0; count--) {
      const dice = random.below(4)
      if (dice === 0) writes.push(db.flush())
      else if (dice < 3) writes.push(this.#write(random.below(3) === 0, this.#someKey()))
      for (let turn = random.below(3); turn > 0; turn--) await nextTurn()
    }
    await done
    this.#bounds = { ...this.#bounds, isDropped: db.stats().writes.droppedTables > before }
    this.#crash('after the clear')
    await Promise.all(writes)
  }

  #someKey(): string | undefined {
    return this.#random.below(2) === 0 ? undefined : oldKeys[this.#random.below(oldKeys.length)]
  }

  async #write(sync: boolean, key?: string): Promise<void> {
    const number = this.#bounds.begun
    this.#puts.push(key)
    this.#bounds = { ...this.#bounds, begun: number + 1 }
    const batch = this.#db.batch().put(keyOf(number), 'written')
    if (key !== undefined) batch.put(key, `new ${number}`)
    await batch.write({ sync })
    if (sync) this.#bounds = { ...this.#bounds, durable: Math.max(this.#bounds.durable, number + 1) }
  }

  #crash(moment: string): void {
    if (this.#isRecording) this.points.push({ ...this.#bounds, disk: this.#disk.snapshot(), moment })
  }

  /** The content of the range after a prefix of the writes. */
  #rangeAfter(prefix: number, isCleared: boolean): [string, string][] {
    const content = new Map(isCleared ? [] : oldKeys.map((key) => [key, 'old']))
    for (const [number, key] of this.#puts.slice(0, prefix).entries()) {
      if (key !== undefined) content.set(key, `new ${number}`)
    }
    return [...content].sort(([a], [b]) => (a < b ? -1 : 1))
  }

  async check(disk: MemoryFileSystem, { durable, begun, beforeClear = Infinity, isDropped }: Bounds): Promise<void> {
    const db = new LsmLevel<string, string>(location, { ...this.#options, fileSystem: disk })
    await db.open()
    const writes = await db.keys({ gte: '!w!', lt: '!w"' }).all()
    const { length: prefix } = writes
    assert.equal(
      writes,
      writes.map((_, number) => keyOf(number)),
      'a prefix of the writes'
    )
    assert.ok(prefix >= durable && prefix <= begun, `${prefix} of ${begun} writes, ${durable} of them durable`)
    const found = await db.iterator(cleared).all()
    const states = isDropped ? [true] : prefix >= beforeClear ? [true, false] : [false]
    const isExpected = states.some(
      (isCleared) => JSON.stringify(this.#rangeAfter(prefix, isCleared)) === JSON.stringify(found)
    )
    assert.ok(isExpected, `after ${prefix} writes, ${JSON.stringify(found)} is not expected`)
    assert.equal((await db.verify()).problems, [])
    await db.close()
  }
}

test('a crash at any call of a clear at once leaves all of the range or nothing, and a prefix of the writes that includes earlier ones', async () => {
  const seed = testSeed()
  let traces = 0
  let states = 0
  for (let dropped = 0; dropped < dropping && traces < maxTraces; traces++) {
    const generator = createRandom(seed + traces)
    const trace = new Trace(generator)
    await trace.run()
    if (trace.droppedTables > 0) dropped++
    states += await checkAll(trace, `seed ${seed + traces}`, generator)
  }
  console.log(`${dropping} of ${traces} clears dropped tables, ${states} states`)
  assert.ok(traces < maxTraces)
  assert.ok(states > dropping * 20)
})

for (const isPersistent of [false, true]) {
  const what = isPersistent ? 'all calls from the Nth on fail' : 'the Nth call fails'
  test(`${what} during a clear at once: all of the range is left or nothing, also after a power failure`, async () => {
    let calls = 0
    for (let at = 1; calls === 0; at++) {
      const disk = new MemoryFileSystem()
      const fileSystem = new FaultyFileSystem(disk)
      const db = new LsmLevel<string, string>(location, { autoCompaction: false, fileSystem })
      await db.open()
      for (const value of ['older', 'old']) {
        await db.batch(oldKeys.map((key) => ({ type: 'put', key, value })))
        await db.flush()
      }
      await db.put('a', 'not durable')
      fileSystem.fail({ at, isPersistent, code: 'EIO' })
      const isCleared = await db.clear(cleared).then(
        () => true,
        () => false
      )
      if (fileSystem.matches < at) calls = at
      // Writing goes on, or has ended with an error.
      const isAccepted = await db.put('z', 'later', { sync: true }).then(
        () => true,
        () => false
      )
      const worst = disk.crashStates()[Symbol.iterator]().next().value
      await db.close().catch(() => undefined)
      fileSystem.heal()
      for (const state of [worst ?? disk, disk]) {
        const reopened = new LsmLevel<string, string>(location, { fileSystem: state })
        await reopened.open()
        const left = new Map(await reopened.iterator().all())
        const old = oldKeys.filter((key) => left.get(key) === 'old')
        const where = `call ${at}, ${state.origin}`
        assert.ok(old.length === 0 || old.length === oldKeys.length, where)
        if (isCleared) assert.is(old.length, 0, where)
        if (old.length === 0) assert.is(left.get('a'), 'not durable', where)
        if (isAccepted) assert.is(left.get('z'), 'later', where)
        assert.equal((await reopened.verify()).problems, [], where)
        await reopened.close()
      }
    }
    console.log(`${calls} calls`)
    assert.ok(calls > 4)
  })
}

async function checkAll(trace: Trace, where: string, generator: Random): Promise<number> {
  const random = (): number => generator.below(2 ** 32) / 2 ** 32
  const known = new Set<string>()
  const check = async (state: MemoryFileSystem, { disk, moment, ...bounds }: CrashPoint): Promise<void> => {
    const mark = `${JSON.stringify(bounds)} ${fingerprint(state, location)}`
    if (known.has(mark)) return
    known.add(mark)
    const { origin } = state
    await trace.check(state, bounds).catch((error: Error) => {
      throw new Error(`${where}, ${moment}, ${origin}: ${error.stack}`, { cause: error })
    })
  }
  // The most revealing states of all moments first.
  const sources = trace.points.map((point) => ({ point, states: point.disk.crashStates()[Symbol.iterator]() }))
  for (let round = 0; round < 3; round++) {
    for (const { point, states } of sources) {
      const { done, value } = states.next()
      if (done !== true) await check(value, point)
      if (round === 1) await check(point.disk.crashClone({ random }), point)
      if (known.size >= maxStates) return known.size
    }
  }
  return known.size
}

test.run()
