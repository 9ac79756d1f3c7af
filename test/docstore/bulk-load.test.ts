/** Random files of lines leave the same state whether they are imported with threads or without. */
import { writeFileSync } from 'node:fs'
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { BadLine, type Database, type Document, type ImportResult } from '../../src/index.ts'
import { testSeed } from '../support/arbitraries.ts'
import { randomFrom } from '../support/random.ts'
import { assertSound, bytesOf, type LoadedDatabase, openCounted, tweetLines, unitLines } from './load-cases.ts'
import { inChunks, type RandomFile, randomFile } from './load-lines.ts'
import { scratchPath } from './scratch.ts'

const seed = testSeed()
const random = randomFrom(seed)
const below = (limit: number): number => Math.floor(random() * limit)
const pick = <T>(list: readonly T[]): T => list[below(list.length)]!
const runs = Number(process.env.PETALDB_RUNS ?? 6)

interface Outcome {
  readonly result: ImportResult | { readonly line: number; readonly message: string }
  readonly skipped: readonly (readonly [line: number, message: string])[]
  readonly told: ImportResult | undefined
}

interface How {
  readonly threads: number
  readonly strict: boolean
  readonly batch: number
  readonly meanBytes: number
  /** From a file, by its path, instead of chunks. */
  readonly isByPath?: boolean
  /** The value of `sourceBytes`, as a share of the real size. */
  readonly toldShare?: number | undefined
}

async function importFile(db: Database, { bytes }: RandomFile, how: How): Promise<Outcome> {
  const skipped: [number, string][] = []
  let told: ImportResult | undefined
  const { threads, strict, batch, meanBytes, isByPath, toldShare } = how
  const options = {
    threads,
    strict,
    batch,
    sourceBytes: toldShare && Math.floor(toldShare * bytes.length),
    onSkipped: ({ line, message }: BadLine) => skipped.push([line, message]),
    onProgress: (progress: ImportResult) => {
      told = progress
    }
  }
  const source = isByPath === true ? scratchPath('lines.ndjson') : inChunks(bytes, random, meanBytes)
  if (typeof source === 'string') writeFileSync(source, bytes)
  const result = await db.importLines(source, options).catch((error: unknown) => {
    if (!(error instanceof BadLine)) throw error
    return { line: error.line, message: error.message }
  })
  // Lines that the database refuses are reported once their batch has been tried, others when they are read.
  return { result, skipped: skipped.sort(([a], [b]) => a - b), told }
}

const filters: readonly Document[] = [
  {},
  { n: 3 },
  { n: { $gte: 5, $lt: 9 } },
  { lang: 'de', tags: 't3' },
  { lang: { $ne: 'de' } },
  { 'user.name': 'u7' },
  { 'list.1.x': null },
  { 'list.1': { $exists: true } },
  { again: { $exists: true } },
  { text: /日本 \d*7$/ },
  { at: { $gte: new Date('2024-01-02T03:04:20Z'), $lt: new Date('2024-01-02T03:04:40Z') } },
  { dates: { $lt: new Date(0) }, n: { $mod: [3, 1] } },
  { 'dates.x': new Date(5) },
  { ref: { $type: 'objectId' }, at: { $exists: true } },
  { big: { $type: 'long' }, n: { $in: [1, 2] } },
  { generated: true, n: 4 },
  { _id: { $gte: 700, $lte: 1700 } },
  { _id: { $type: 'objectId' } }
]

/** Generated ids differ from import to import. */
function comparable({ _id, ...rest }: Document): unknown {
  return rest.generated === true ? rest : { _id, ...rest }
}

async function assertSame(loaded: Database, plain: Database): Promise<void> {
  const [left, right] = [await loaded.find({}).toArray(), await plain.find({}).toArray()]
  assert.is(left.length, right.length)
  // One by one, because reporting the difference of two long lists takes long.
  for (const [i, document] of left.entries()) assert.equal(comparable(document), comparable(right[i]!), `document ${i}`)
  for (const filter of filters) {
    const expected = await plain.countDocuments(filter, { hint: 'scan' })
    const shown = JSON.stringify(filter)
    assert.is(await loaded.countDocuments(filter, { hint: 'scan' }), expected, `scan: ${shown}`)
    assert.is(await loaded.countDocuments(filter), expected, `index: ${shown}`)
  }
  const [a, b] = [await loaded.stats(), await plain.stats()]
  assert.equal([a.documents, a.documentBytes], [b.documents, b.documentBytes])
  for (const { _id } of [left.at(below(left.length)), left.at(-1)] as Document[]) {
    assert.equal((await loaded.get(_id))?._id, _id)
  }
}

/** Complete units, counted from the line after the one that fills the open segment. */
function unitsOf({ lines }: RandomFile, storedBefore: number): number {
  let room = unitLines - (storedBefore % unitLines || (storedBefore > 0 ? unitLines : 0))
  let at = 0
  for (; room > 0 && at < lines.length; at++) if (Buffer.from(lines[at]!).toString().trim() !== '') room--
  return Math.floor(lines.slice(at).filter((line) => line.at(-1) === 0x0a).length / unitLines)
}

async function store(db: Database, documents: number, deleted: number): Promise<void> {
  if (documents > 0)
    await db.insertMany(
      Array.from({ length: documents }, (_, i) => ({ _id: `s${i}`, n: i % 17 })),
      { threads: 0 }
    )
  if (deleted > 0) await db.deleteMany({ _id: { $in: Array.from({ length: deleted }, (_, i) => `s${i * 2}`) } })
}

for (let run = 0; run < runs; run++) {
  const file = randomFile(random, 1000 + below(3000))
  const before = pick([0, 0, 200, unitLines, 700])
  const deleted = !file.isUsual && before > 0 ? pick([0, 60]) : 0
  const how = {
    threads: 1 + below(3),
    strict: random() < 0.25,
    batch: pick([1000, 1000, 50, 300]),
    meanBytes: pick([100, 5000, 65_536, 1_000_000]),
    toldShare: pick([undefined, 1, 1, 0.3, 3]),
    isByPath: random() < 0.5
  }
  const kind = file.isUsual ? 'usual' : 'odd'
  test(`${run}: ${kind} lines, as with no threads (${JSON.stringify({ ...how, before, deleted })})`, async () => {
    const [loaded, plain] = [await openCounted(), await openCounted()]
    for (const { db } of [loaded, plain]) await store(db, before, deleted)
    const outcome = await importFile(loaded.db, file, how)
    const expected = await importFile(plain.db, file, { ...how, isByPath: false, threads: 0 })
    assert.equal(outcome, expected)
    await assertSame(loaded.db, plain.db)
    assert.is(plain.ingestedTables, 0)
    if (file.isUsual) {
      const units = unitsOf(file, before)
      assert.ok(loaded.ingestedTables >= 3 * units, `${loaded.ingestedTables} tables of ${units} units`)
    }
    for (const opened of [loaded, plain]) await opened[Symbol.asyncDispose]()
    const [again, plainAgain] = [await openCounted(loaded.location), await openCounted(plain.location)]
    await assertSame(again.db, plainAgain.db)
    await assertSound(again.db)
    // Deletions may keep units from being loaded.
    if (deleted === 0) await assertGoesOn(again)
    else await again[Symbol.asyncDispose]()
    await plainAgain[Symbol.asyncDispose]()
  })
}

/** A later import is loaded with threads, too, and existing documents stay. */
async function assertGoesOn(opened: LoadedDatabase): Promise<void> {
  const { db, location } = opened
  const documents = await db.countDocuments()
  const lines = tweetLines(2_000_000, 2_000_000 + 4 * unitLines)
  const { insertedCount } = await db.importLines([bytesOf(lines)], { threads: 2 })
  assert.is(insertedCount, 4 * unitLines)
  assert.ok(opened.ingestedTables >= 3)
  await opened[Symbol.asyncDispose]()
  await using last = await openCounted(location)
  assert.is(await last.db.countDocuments(), documents + 4 * unitLines)
  await assertSound(last.db)
}

test('some segments after a unit that could not be used, units are used again', async () => {
  await using opened = await openCounted()
  const lines = [tweetLines(0, unitLines + 7), 'no document\n', tweetLines(unitLines + 7, 12 * unitLines)]
  const { insertedCount, skippedCount } = await opened.db.importLines(lines.map(bytesOf), { threads: 1 })
  assert.equal([insertedCount, skippedCount], [12 * unitLines, 1])
  // Three of twelve segments are inserted the ordinary way: two units that were under way, and one more.
  assert.is(opened.ingestedTables, 9 * 3)
  await assertSound(opened.db)
})

test('a line that is too long is skipped with threads, too', async () => {
  const spaces = ' '.repeat(32 * 1024 * 1024 + 1)
  const lines = [
    tweetLines(0, unitLines),
    `${spaces}\n`,
    tweetLines(unitLines, 5 * unitLines),
    `{"_id":"long",${spaces}"a":1}\n`,
    tweetLines(5 * unitLines, 7 * unitLines)
  ]
  await using opened = await openCounted()
  const skipped: number[] = []
  const { insertedCount } = await opened.db.importLines(lines.map(bytesOf), {
    threads: 2,
    onSkipped: ({ line }) => skipped.push(line)
  })
  assert.equal([insertedCount, skipped], [7 * unitLines, [unitLines + 1, 5 * unitLines + 2]])
})

test.run()
