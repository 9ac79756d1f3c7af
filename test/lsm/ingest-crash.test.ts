/** Crashes at every call of an ingest, and of the writes around it. */
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { LsmLevel, MemoryFileSystem, type StoreOptions } from '../../src/lsm/index.ts'
import { createRandom } from '../bloom/random.ts'
import { testSeed } from '../support/arbitraries.ts'
import { FaultyFileSystem } from '../support/faulty-file-system.ts'
import { fingerprint } from '../support/lsm-crash-check.ts'
import { type Entries, ingestTables, put, range } from './ingest-helpers.ts'

const options: StoreOptions = { blockSize: 200, partitionDepth: 1 }
const location = '/db'
const randomStates = 3

/** What must hold after a crash. Writes are counted; each has a key of its own. */
interface Bounds {
  readonly durable: number
  /** Writes that were called. */
  readonly begun: number
  /** Writes that were acknowledged when install() was called; undefined before that. */
  readonly beforeInstall: number | undefined
  readonly isInstalled: boolean
}

interface CrashPoint extends Bounds {
  readonly disk: MemoryFileSystem
  readonly moment: string
}

const ingested: readonly Entries[] = [
  [...range(0, 30, 'ingested', 2), ['!a!x', 'ingested']],
  [...range(1, 31, 'ingested', 2), ['!b!x', 'ingested']]
]
const ingestedKeys = ingested.flat().map(([key]) => key)

const keyOf = (write: number): string => `w${String(write).padStart(4, '0')}`

/** Crash points of a trace of writes and an ingest. @param hasTables whether the store has tables before the ingest */
async function crashPointsOf(hasTables: boolean): Promise<CrashPoint[]> {
  const disk = new MemoryFileSystem()
  const points: CrashPoint[] = []
  let bounds: Bounds = { durable: 0, begun: 0, beforeInstall: undefined, isInstalled: false }
  const crash = (moment: string): void => {
    points.push({ ...bounds, disk: disk.snapshot(), moment })
  }
  const fileSystem = new FaultyFileSystem(disk, {
    before: ({ operation, path }) => crash(`before ${operation} of ${path}`),
    after: ({ operation, path }) => crash(`after ${operation} of ${path}`)
  })
  const db = new LsmLevel<string, string>(location, { ...options, fileSystem })
  await db.open()
  const write = async (sync: boolean): Promise<void> => {
    const number = bounds.begun
    bounds = { ...bounds, begun: number + 1 }
    await db.put(keyOf(number), 'written', { sync })
    if (sync) bounds = { ...bounds, durable: number + 1 }
  }
  for (let i = 0; i < 5; i++) await write(i === 2)
  if (hasTables) await db.flush()
  for (let i = 0; i < 3; i++) await write(i === 0)
  const ingest = await db.beginIngest()
  const tables = ingestTables(ingest, fileSystem)
  for (const entries of ingested) {
    for (const entry of entries) put(tables, entry)
    await tables.flush()
    await write(false)
  }
  const metas = await tables.finish()
  for (let i = 0; i < 2; i++) await write(false)
  bounds = { ...bounds, beforeInstall: bounds.begun }
  const installed = ingest.install(metas)
  await write(false)
  assert.ok(await installed)
  // install() has synced the log.
  bounds = { ...bounds, isInstalled: true, durable: bounds.beforeInstall ?? 0 }
  crash('after the ingest')
  for (let i = 0; i < 3; i++) await write(i === 1)
  await db.flush()
  bounds = { ...bounds, durable: bounds.begun }
  await db.compactRange('', '~')
  crash('after a merge')
  await db.close()
  return points
}

async function checkLeft(disk: MemoryFileSystem, bounds: Bounds): Promise<void> {
  const db = new LsmLevel<string, string>(location, { ...options, fileSystem: disk })
  await db.open()
  const content = new Map(await db.iterator().all())
  const { length: found } = ingestedKeys.filter((key) => content.get(key)?.startsWith('ingested'))
  assert.ok(found === 0 || found === ingestedKeys.length, `${found} of ${ingestedKeys.length} ingested entries`)
  const hasIngest = found > 0
  if (bounds.isInstalled) assert.ok(hasIngest, 'the ingest was acknowledged')
  const writes = [...content.keys()].filter((key) => key.startsWith('w'))
  assert.equal(
    writes,
    writes.map((_, number) => keyOf(number)),
    'a prefix of the writes'
  )
  const atLeast = hasIngest
    ? Math.max(bounds.durable, bounds.beforeInstall ?? Number.POSITIVE_INFINITY)
    : bounds.durable
  assert.ok(
    writes.length >= atLeast && writes.length <= bounds.begun,
    `${writes.length} writes, ${JSON.stringify(bounds)}`
  )
  assert.equal((await db.verify()).problems, [])
  await db.close()
}

for (const hasTables of [false, true]) {
  const where = hasTables ? 'a store with tables' : 'a store without tables'
  test(`${where}: a crash at any call of an ingest leaves all of it and all earlier writes, or nothing of it`, async () => {
    const seed = testSeed()
    const generator = createRandom(seed)
    const random = (): number => generator.below(2 ** 32) / 2 ** 32
    const points = await crashPointsOf(hasTables)
    const known = new Set<string>()
    for (const { disk, moment, ...bounds } of points) {
      const states = [disk.snapshot(), ...disk.crashStates()]
      for (let i = 0; i < randomStates; i++) states.push(disk.crashClone({ random }))
      for (const state of states) {
        const mark = `${JSON.stringify(bounds)} ${fingerprint(state, location)}`
        if (known.has(mark)) continue
        known.add(mark)
        const { origin } = state
        await checkLeft(state, bounds).catch((error: Error) => {
          throw new Error(`seed ${seed}, ${moment}, ${origin}: ${error.stack}`, { cause: error })
        })
      }
    }
    console.log(`${points.length} calls, ${known.size} states`)
    assert.ok(known.size > 500)
  })
}

test.run()
