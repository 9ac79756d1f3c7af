/** What concurrent calls see and do while threads build segments of an import. */
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import type { ChangeStream, Document } from '../../src/index.ts'
import { testSeed } from '../support/arbitraries.ts'
import { randomFrom } from '../support/random.ts'
import { assertSound, bytesOf, nextTurn, openCounted, tweet, tweetLines, unitLines } from './load-cases.ts'
import { inChunks } from './load-lines.ts'
import { eventsOf } from './watch-cases.ts'

const random = randomFrom(testSeed())
const below = (limit: number): number => Math.floor(random() * limit)
const units = (count: number): number => count * unitLines
const linesOf = (count: number): AsyncGenerator<Uint8Array> =>
  inChunks(bytesOf(tweetLines(0, units(count))), random, 20_000)

test('reads see complete units in the order of the lines, earlier cursors see none of them', async () => {
  await using opened = await openCounted()
  const { db } = opened
  const total = units(14)
  const filter = { lang: 'de', 'user.followers': { $lt: 700 } }
  const matching = Array.from({ length: total }, (_, i) => tweet(i, i)).flatMap(({ _id, lang, user }) =>
    lang === 'de' && Number((user as Document).followers) < 700 ? [_id as number] : []
  )
  const matchingBelow = (count: number): number => matching.filter((id) => id < count).length
  const cursors: { readonly next: () => Promise<unknown>; readonly rest: () => Promise<number> }[] = []
  let isImporting = true
  const importing = db
    .importLines(linesOf(14), {
      threads: 2,
      onProgress: ({ insertedCount }) => {
        if (insertedCount % units(4) !== 0) return
        for (const hint of ['index', 'scan'] as const) {
          const cursor = db.find(filter, { hint })
          // It sees what is stored when it is first pulled.
          const first = cursor.next()
          const expected = matchingBelow(insertedCount)
          cursors.push({ next: () => first, rest: async () => (await cursor.toArray()).length + 1 - expected })
        }
      }
    })
    .finally(() => {
      isImporting = false
    })
  let before = 0
  const seen = new Set<number>()
  while (isImporting) {
    const found = (await db.find(filter, { hint: random() < 0.5 ? 'scan' : 'index' }).toArray()).map(({ _id }) => _id)
    const counted = await db.countDocuments(filter)
    const after = await db.countDocuments()
    assert.ok(after >= before, `${after} after ${before}`)
    assert.is(after % unitLines, 0)
    assert.equal(found, matching.slice(0, found.length))
    const lawful = []
    for (let count = before; count <= after; count += unitLines) lawful.push(matchingBelow(count))
    assert.ok(lawful.includes(found.length), `${found.length}, not one of ${lawful}`)
    assert.ok(lawful.includes(counted), `${counted}, not one of ${lawful}`)
    before = after
    seen.add(after)
    await nextTurn()
  }
  await importing
  assert.ok(seen.size > 3, `${seen.size}`)
  assert.ok(cursors.length > 2)
  for (const cursor of cursors) {
    assert.is((await cursor.next()) === null, false)
    assert.is(await cursor.rest(), 0)
  }
  assert.is(opened.ingestedTables, 14 * 3)
  await assertSound(db)
})

test('concurrent inserts, updates and deletions are kept, and no line is lost', async () => {
  await using opened = await openCounted()
  const { db } = opened
  const model = new Map<string, number>()
  let changed = 0
  let deleted = 0
  let next = 0
  /** Acknowledged ones: the order of concurrent writes is unknown. */
  const inserted: string[] = []
  const anyId = (): string => inserted[below(Math.max(1, inserted.length))] ?? 'none'
  const writes: readonly (() => Promise<void>)[] = [
    async () => {
      const _id = `o${next++}`
      await db.insertOne({ _id, v: 0, other: true })
      model.set(_id, 0)
      inserted.push(_id)
    },
    async () => {
      const ids = Array.from({ length: 1 + below(300) }, () => `o${next++}`)
      await db.insertMany(ids.map((_id) => ({ _id, v: 0, other: true })))
      for (const id of ids) model.set(id, 0)
      inserted.push(...ids)
    },
    async () => {
      const _id = anyId()
      await db.deleteOne({ _id })
      model.delete(_id)
    },
    async () => {
      const _id = anyId()
      await db.updateOne({ _id }, { $inc: { v: 1 } })
      if (model.has(_id)) model.set(_id, model.get(_id)! + 1)
    },
    async () => {
      const { modifiedCount } = await db.updateMany({ lang: 'de', 'user.followers': below(1000) }, { $inc: { v: 1 } })
      changed += modifiedCount
    },
    async () => {
      const { deletedCount } = await db.deleteMany({ tags: 't3', 'user.followers': below(1000) })
      deleted += deletedCount
    }
  ]
  let isImporting = true
  let mayWrite = false
  const importing = db
    .importLines(linesOf(30), {
      threads: 2,
      batch: 100,
      onProgress: ({ insertedCount }) => {
        // Writes for a while, then pauses, so that units can be published.
        mayWrite = Math.floor(insertedCount / units(4)) % 2 === 1
      }
    })
    .finally(() => {
      isImporting = false
    })
  while (isImporting) {
    if (mayWrite) await Promise.all(Array.from({ length: 1 + below(3) }, () => writes[below(writes.length)]!()))
    await nextTurn()
  }
  assert.equal(await importing, { insertedCount: units(30), skippedCount: 0 })
  assert.ok(opened.ingestedTables > 0)
  assert.ok(model.size > 0)
  const others = await db.find({ other: true }).toArray()
  assert.equal(new Map(others.map(({ _id, v }) => [String(_id), v])), inOrderOf(others, model))
  assert.is(await db.countDocuments({ other: { $exists: false } }), units(30) - deleted)
  const counted = await db.find({ lang: 'de', v: { $gte: 1 } }).toArray()
  const gone = changed - counted.reduce((sum, { v }) => sum + Number(v), 0)
  // Updates of documents that were deleted later.
  assert.ok(gone >= 0 && gone <= deleted, `${gone} of ${changed}, ${deleted} deleted`)
  await assertSound(db)
})

function inOrderOf(documents: readonly Document[], model: ReadonlyMap<string, number>): Map<string, number> {
  assert.is(documents.length, model.size)
  return new Map(documents.map(({ _id }) => [String(_id), model.get(String(_id)) ?? -1]))
}

test('a change stream reports every line after its start once, whenever it starts', async () => {
  await using opened = await openCounted()
  const { db } = opened
  const streams: { readonly stream: ChangeStream; readonly before: number; after: number }[] = []
  let told = 0
  const importing = db.importLines(linesOf(12), {
    threads: 2,
    onProgress: ({ insertedCount }) => {
      told = insertedCount
    }
  })
  // The first one starts in the middle of a load: from then on every line is inserted the ordinary way.
  while (told < units(4)) await nextTurn()
  for (let i = 0; i < 6; i++) {
    const before = await db.countDocuments()
    const stream = db.watch()
    streams.push({ stream, before, after: 0 })
    streams.at(-1)!.after = await db.countDocuments()
    for (let turns = below(8); turns > 0; turns--) await nextTurn()
  }
  await importing
  assert.ok(opened.ingestedTables > 0)
  for (const { stream, before, after } of streams) {
    const ids = (await eventsOf(stream)).map((event) => ('documentKey' in event ? Number(event.documentKey._id) : -1))
    const first = units(12) - ids.length
    assert.ok(first >= before && first <= after, `${before}, ${first}, ${after}`)
    assert.equal(
      ids,
      Array.from({ length: ids.length }, (_, i) => first + i)
    )
    await stream.close()
  }
  await assertSound(db)
})

for (const unique of [false, true]) {
  test(`an index declared while units are waiting contains all of their documents, unique: ${unique}`, async () => {
    await using opened = await openCounted()
    const { db } = opened
    let declaring: Promise<unknown> | undefined
    await db.importLines([bytesOf(tweetLines(0, units(6)))], {
      threads: 3,
      onProgress: ({ insertedCount }) => {
        // Units after this one are built, and will be published at once.
        if (insertedCount >= units(3)) declaring ??= db.createIndex({ text: 1 }, { unique })
      }
    })
    await declaring
    assert.ok(opened.ingestedTables > 0)
    const found = await db.find({ text: { $gte: '' } }, { hint: { text: 1 }, sort: { text: 1 } }).toArray()
    assert.is(found.length, units(6))
    const again = bytesOf(`${JSON.stringify({ ...tweet(3, 3), _id: 'again' })}\n`)
    assert.is((await db.importLines([again], { threads: 2 })).skippedCount, unique ? 1 : 0)
    await assertSound(db)
  })
}

test('an index that is being rebuilt refuses a unit whose ordinals it spans by now', async () => {
  const opened = await openCounted()
  const { db } = opened
  async function* source(): AsyncGenerator<Uint8Array> {
    yield bytesOf(tweetLines(0, units(2)))
    // Ordinals are reserved for the second unit, which is being built; this document gets one above them.
    await db.insertOne({ _id: 'other' })
    await db.index.rebuild()
    yield bytesOf(tweetLines(units(2), units(2) + 10))
  }
  await db.importLines(source(), { threads: 2 })
  await db.insertOne({ _id: 'last' })
  await db.deleteOne({ _id: 'other' })
  await assertSound(db)
  await opened[Symbol.asyncDispose]()
  await using again = await openCounted(opened.location)
  assert.is(await again.db.countDocuments(), units(2) + 11)
  await assertSound(again.db)
})

test('an index can be rebuilt during an import', async () => {
  const opened = await openCounted()
  const { db } = opened
  const rebuilding: Promise<unknown>[] = []
  const importing = db.importLines(linesOf(16), {
    threads: 2,
    onProgress: ({ insertedCount }) => {
      if (insertedCount % units(5) === 0) rebuilding.push(db.index.rebuild().catch(() => undefined))
    }
  })
  assert.is((await importing).insertedCount, units(16))
  await Promise.all(rebuilding)
  assert.ok(rebuilding.length > 0)
  assert.ok(opened.ingestedTables > 0)
  await assertSound(db)
  await opened[Symbol.asyncDispose]()
  await using again = await openCounted(opened.location)
  await assertSound(again.db)
})

test('two concurrent imports store all of their lines, each in its order', async () => {
  await using opened = await openCounted()
  const { db } = opened
  const lines = [tweetLines(0, units(10)), tweetLines(1_000_000, 1_000_000 + units(10))]
  await Promise.all(
    lines.map((text) => db.importLines(inChunks(bytesOf(text), random, 20_000), { threads: 2, batch: 100 }))
  )
  assert.ok(opened.ingestedTables > 0)
  const ids = (await db.find().toArray()).map(({ _id }) => Number(_id))
  assert.equal(
    ids.filter((id) => id < 1_000_000),
    Array.from({ length: units(10) }, (_, i) => i)
  )
  assert.equal(
    ids.filter((id) => id >= 1_000_000),
    Array.from({ length: units(10) }, (_, i) => 1_000_000 + i)
  )
  await assertSound(db)
})

test.run()
