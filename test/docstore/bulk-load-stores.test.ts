/** Where threads cannot help, an import with threads does the same as one without. */
import { setTimeout as sleep } from 'node:timers/promises'
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { type Database, type OpenOptions, open } from '../../src/index.ts'
import {
  assertSound,
  bytesOf,
  openCounted,
  questions,
  smallSegments,
  streamOf,
  tweetLines,
  unitLines
} from './load-cases.ts'
import { rejects, scratchPath } from './scratch.ts'

const lines = bytesOf(
  `${tweetLines(0, 3 * unitLines)}{"_id":7}\nno document\n${tweetLines(3 * unitLines, 6 * unitLines)}{"_id":-1,"lang":"de"}`
)

/** The outcome as texts, because comparing them is fast even if thousands of documents differ. */
async function importInto(db: Database, threads: number): Promise<Record<string, string>> {
  const skipped: [number, string][] = []
  const result = await db.importLines([lines.slice()], {
    threads,
    onSkipped: ({ line, message }) => skipped.push([line, message])
  })
  const told: Record<string, string> = {
    result: JSON.stringify(result),
    skipped: JSON.stringify(skipped.sort(([a], [b]) => a - b))
  }
  for (const filter of questions)
    told[JSON.stringify(filter)] = JSON.stringify(await db.find(filter, { sort: { _id: 1 } }).toArray())
  return told
}

async function assertSame(db: Database, plain: Database): Promise<void> {
  const [told, expected] = [await importInto(db, 2), await importInto(plain, 0)]
  const different = Object.keys(expected).filter((what) => told[what] !== expected[what])
  assert.equal(different, [])
}

const kinds: Readonly<Record<string, OpenOptions>> = {
  'store: level': { store: 'level', ...smallSegments },
  'store: memory': { store: 'memory', ...smallSegments },
  'ids: reversible': { ids: { codec: 'reversible', from: -100, to: 100_000 }, ...smallSegments },
  'index: none': { index: { kind: 'none' } },
  'index: embedded': { index: { kind: 'embedded' } },
  'hash: farmhash': { index: { hash: 'farmhash', segmentBits: unitLines } }
}

for (const [name, options] of Object.entries(kinds)) {
  test(`${name}: threads make no difference`, async () => {
    const location = scratchPath()
    const db = await open(location, options)
    await using plain = await open(scratchPath(), options)
    await assertSame(db, plain)
    await assertSound(db)
    await db.close()
    if (options.store === 'memory') return
    await using again = await open(location, options)
    await assertSound(again)
  })
}

test('declared indexes: threads make no difference', async () => {
  await using opened = await openCounted()
  await using plain = await openCounted()
  for (const { db } of [opened, plain]) await db.createIndex({ 'user.followers': 1, lang: 1 })
  await assertSame(opened.db, plain.db)
  assert.is(opened.ingestedTables, 0)
  const hint = { 'user.followers': 1, lang: 1 } as const
  const filter = { 'user.followers': { $gte: 0 } }
  assert.is((await opened.db.find(filter, { hint }).toArray()).length, 6 * unitLines)
  await assertSound(opened.db)
})

test('writes to another collection during an import are kept', async () => {
  const opened = await openCounted()
  const { db } = opened
  const beside = db.collection('beside')
  let isImporting = true
  const importing = db.importLines(streamOf([bytesOf(tweetLines(0, 12 * unitLines))]), { threads: 2 }).finally(() => {
    isImporting = false
  })
  let count = 0
  for (; isImporting; count++) {
    await beside.insertOne({ _id: count })
    if (count % 3 === 0) await beside.deleteOne({ _id: count })
    await sleep(1)
  }
  await importing
  assert.is(opened.ingestedTables, 12 * 3)
  await opened[Symbol.asyncDispose]()
  await using again = await openCounted(opened.location)
  assert.is(await again.db.collection('beside').countDocuments(), count - Math.ceil(count / 3))
  assert.is(await again.db.countDocuments(), 12 * unitLines)
  await assertSound(again.db)
})

test('an import with threads uses the segment size stored in the index', async () => {
  const location = scratchPath()
  const first = await openCounted(location)
  await first.db.importLines([bytesOf(tweetLines(0, 100))])
  await first[Symbol.asyncDispose]()
  await using opened = await openCounted(location, { index: {} })
  await opened.db.importLines(streamOf([bytesOf(tweetLines(100, 6 * unitLines))]), { threads: 2 })
  assert.is(opened.ingestedTables, 5 * 3)
  assert.is((await opened.db.index.stats()).segments, 6)
  await assertSound(opened.db)
})

test('invalid numbers of threads or bytes are refused', async () => {
  await using db = await open('unused', { store: 'memory' })
  for (const threads of [-1, 1.5, 'x', 65, Number.NaN, null] as unknown as number[]) {
    const { details } = await rejects(db.importLines([bytesOf('{"_id":1}\n')], { threads }), 'BadValue')
    assert.is(details.option, 'threads')
  }
  for (const sourceBytes of [-1, 1.5, 'x', Number.NaN, null] as unknown as number[]) {
    const { details } = await rejects(db.importLines([bytesOf('{"_id":1}\n')], { sourceBytes }), 'BadValue')
    assert.is(details.option, 'sourceBytes')
  }
  assert.is(await db.countDocuments(), 0)
})

test('most of the index data of units is never merged', async () => {
  const lines = 32_768
  const opened = await openCounted(scratchPath(), { index: { segmentBits: lines } })
  const { db, store } = opened
  const count = 8 * lines
  const chunks = function* (): Generator<Uint8Array> {
    for (let from = 0; from < count; from += 1000) yield bytesOf(tweetLines(from, Math.min(count, from + 1000)))
  }
  await db.importLines(chunks(), { threads: 2 })
  const merged = store.stats().levels.reduce((sum, { mergeReadBytes }) => sum + mergeReadBytes, 0)
  const { bytes } = await db.index.stats()
  assert.ok(merged < bytes.total, `${merged} bytes were merged, the index has ${bytes.total}`)
  await assertSound(db)
  await opened[Symbol.asyncDispose]()
})

test.run()
