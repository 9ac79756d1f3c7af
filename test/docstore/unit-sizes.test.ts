/** Units of an import: threads finish together, and no unit is larger than a segment or smaller than half of one. */
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { BuildProgress } from '../../src/docstore/bulk/build-progress.ts'
import type { LineKind } from '../../src/docstore/bulk/load-unit.ts'
import { UnitSizes } from '../../src/docstore/bulk/unit-sizes.ts'
import { type Database, open } from '../../src/index.ts'
import type { IndexStats } from '../../src/sharded-bloom/document-index.ts'
import { testSeed } from '../support/arbitraries.ts'
import { randomFrom } from '../support/random.ts'
import {
  assertHasFirst,
  assertSound,
  bytesOf,
  smallSegments,
  streamOf,
  tweet,
  tweetLines,
  unitLines
} from './load-cases.ts'
import { scratchPath } from './scratch.ts'

const seed = testSeed()
const random = randomFrom(seed)
const below = (limit: number): number => Math.floor(random() * limit)
const most = 1000

/** Threads that build a line a millisecond each, and the lines of each unit. */
interface Simulated {
  readonly units: readonly number[]
  /** Lines too few for a unit. */
  readonly rest: number
  /** When each thread has built its last unit. */
  readonly endsAt: readonly number[]
}

/** Imports a known number of lines with threads that begin after `delays` milliseconds. */
function simulated(kind: LineKind, lines: number, delays: readonly number[]): Simulated {
  let now = 0
  const progress = new BuildProgress(() => now)
  const sizes = new UnitSizes(kind, most, delays.length, progress.linesLeft)
  sizes.begin(lines)
  const units: number[] = []
  /** For each thread: when it has built its units, and what to call then. */
  const endsAt = [...delays]
  const ended: ((() => void) | undefined)[] = []
  let left = lines
  for (;;) {
    // Collected as soon as the one before was taken, and sent when a thread is idle.
    const unit = Math.min(sizes.nextLines, left)
    if (unit === left && left < sizes.minLines) return { units, rest: left, endsAt }
    const idle = endsAt.indexOf(Math.min(...endsAt))
    now = endsAt[idle]!
    ended[idle]?.()
    ended[idle] = progress.start(unit)
    endsAt[idle] = now + unit
    units.push(unit)
    left -= unit
    sizes.taken(unit)
  }
}

const divided = (kind: LineKind, lines: number, threads: number) =>
  simulated(kind, lines, new Array<number>(threads).fill(0))

test('a known number of lines is divided into units of half a segment to a whole one, in as few rounds as possible', () => {
  for (let run = 0; run < 1000; run++) {
    const delays = Array.from({ length: 1 + below(5) }, () => below(most))
    const lines = below(20 * most)
    const { units, rest } = simulated('line', lines, delays)
    const shown = `seed ${seed}: ${lines} lines, ${delays.length} threads: ${units.join(' ')}`
    assert.is(
      units.reduce((sum, unit) => sum + unit, rest),
      lines,
      shown
    )
    assert.ok(units.every((unit) => unit <= most && unit >= most / 2) && rest < most / 2, shown)
    if (lines < most / 2) continue
    assert.is(rest, 0, shown)
    assert.is(Math.ceil(units.length / delays.length), Math.ceil(lines / (delays.length * most)), shown)
    const inner = units.slice(0, -delays.length)
    assert.ok(Math.max(...inner, 0) - Math.min(...inner, most) <= units.length, shown)
  }
})

test('threads that are not in step finish together, if their last units may be as different as that', () => {
  let together = 0
  for (let run = 0; run < 1000; run++) {
    const delays = Array.from({ length: 2 + below(4) }, () => below(most / 2))
    const lines = delays.length * most + below(20 * most)
    const { units, endsAt } = simulated('line', lines, delays)
    const shown = `seed ${seed}: ${lines} lines, delays ${delays.join(' ')}: ${units.join(' ')}, ends ${endsAt.join(' ')}`
    const last = units.slice(-delays.length)
    if (units.length <= 2 * delays.length || last.some((unit) => unit >= most || unit <= 0.6 * most)) continue
    together++
    assert.ok(Math.max(...endsAt) - Math.min(...endsAt) <= units.length, shown)
  }
  assert.ok(together > 100, `${together} of 1000`)
})

test('a known number of records makes as many units, the first and the last of which are smaller than the others', () => {
  for (let run = 0; run < 500; run++) {
    const threads = 1 + below(5)
    const lines = most / 2 + below(20 * most)
    const { units, rest } = divided('record', lines, threads)
    const shown = `seed ${seed}: ${lines} records, ${threads} threads: ${units.join(' ')}`
    assert.is(rest, 0, shown)
    assert.is(units.length, divided('line', lines, threads).units.length, shown)
    assert.is(
      units.reduce((sum, unit) => sum + unit),
      lines,
      shown
    )
    assert.ok(
      units.every((unit) => unit <= most && unit >= most / 2),
      shown
    )
    const inner = units.slice(1, -1)
    const [first, last] = [units[0]!, units.at(-1)!]
    assert.ok(Math.max(...inner, 0) - Math.min(...inner, most) <= units.length, shown)
    assert.ok(Math.abs(first - last) <= units.length, shown)
    // Equal but for rounding; as small as they may be, or the others are as large as they may be.
    assert.ok(Math.min(...inner, most) >= first - units.length, shown)
    assert.ok(first === most / 2 || Math.min(...inner, most) >= most - units.length, shown)
  }
})

test('units are as large as segments if the number of lines is unknown or exceeded', () => {
  const sizes = new UnitSizes('line', most, 2, () => [])
  sizes.begin(undefined)
  assert.is(sizes.nextLines, most)
  sizes.taken(most)
  assert.is(sizes.nextLines, most)
  sizes.expect(2400)
  assert.is(sizes.nextLines, 600)
  for (let unit = 0; unit < 3; unit++) sizes.taken(600)
  assert.is(sizes.nextLines, most)
  sizes.expect(5000)
  for (let unit = 0; unit < 3; unit++) {
    assert.is(sizes.nextLines, most)
    sizes.taken(most)
  }
  sizes.begin(700)
  assert.is(sizes.nextLines, most)
  sizes.begin(1200)
  assert.is(sizes.nextLines, 600)
  sizes.expect(10)
  assert.is(sizes.nextLines, most / 2)
})

async function segmentsOf(db: Database): Promise<readonly number[]> {
  const { parameters = [] } = (await db.index.stats()) as Partial<IndexStats>
  return parameters.map(({ documents }) => documents)
}

const sources: Readonly<Record<string, (db: Database, count: number) => Promise<unknown>>> = {
  'a list of chunks': (db, count) => db.importLines([...chunksOf(bytesOf(tweetLines(0, count)))], { threads: 2 }),
  'a stream whose size is told': (db, count) => {
    const bytes = bytesOf(tweetLines(0, count))
    return db.importLines(streamOf(chunksOf(bytes)), { threads: 2, sourceBytes: bytes.length })
  },
  'a list of objects': (db, count) => db.insertMany(tweets(count), { threads: 2 }),
  'a stream of bytes': (db, count) => db.importLines(streamOf(chunksOf(bytesOf(tweetLines(0, count)))), { threads: 2 }),
  'a stream of objects': (db, count) => db.insertMany(streamOf(tweets(count)), { threads: 2 })
}

const tweets = (count: number) => Array.from({ length: count }, (_, i) => tweet(i, i))

function* chunksOf(bytes: Uint8Array): Generator<Uint8Array> {
  for (let at = 0; at < bytes.length; at += 10_000) yield bytes.subarray(at, at + 10_000)
}

for (const [name, insert] of Object.entries(sources)) {
  test(`${name}: the last unit is not small`, async () => {
    const count = 5 * unitLines + unitLines / 2 + below(unitLines / 2)
    await using db = await open(scratchPath(), smallSegments)
    await insert(db, count)
    await assertHasFirst(db, count)
    const segments = await segmentsOf(db)
    const shown = `seed ${seed}: ${segments.join(' ')}`
    assert.is(
      segments.reduce((sum, documents) => sum + documents, 0),
      count,
      shown
    )
    if (name.startsWith('a stream of')) {
      assert.equal(segments.slice(0, 5), Array(5).fill(unitLines), shown)
    } else {
      // Both threads have the same amount of work, in three rounds or, if more lines were expected, in four.
      assert.ok(segments.length === 6 || segments.length === 8, shown)
      const equal = name === 'a list of objects' ? segments.slice(1, -1) : segments.slice(0, -2)
      assert.ok(Math.max(...equal) - Math.min(...equal) < unitLines / 10, shown)
      assert.ok(Math.min(...segments) >= unitLines / 2, shown)
    }
    await assertSound(db)
  })
}

test('a wrong sourceBytes only changes how the lines are divided', async () => {
  const count = 4 * unitLines + 100
  const bytes = bytesOf(tweetLines(0, count).trimEnd())
  for (const share of [0, 0.01, 0.5, 0.99, 1.01, 2, 1000]) {
    await using db = await open(scratchPath(), smallSegments)
    const sourceBytes = Math.floor(share * bytes.length)
    const { insertedCount } = await db.importLines(streamOf(chunksOf(bytes)), { threads: 2, sourceBytes })
    assert.is(insertedCount, count)
    await assertHasFirst(db, count)
    await assertSound(db)
  }
})

test.run()
