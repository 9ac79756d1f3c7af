/** Units of parallel imports in the moments that matter: what is there already, was there once, or is seen in between. */
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { assertSound, bytesOf, openCounted, tweet, tweetLines, unitLines } from './load-cases.ts'

test('an _id that is stored is refused, and its document stays, wherever in a unit it comes', async () => {
  await using opened = await openCounted()
  const { db } = opened
  // The greatest of all, so that each of a unit has to be looked for.
  await db.insertMany([{ _id: 2 * unitLines + 100, kept: true }, { _id: 1_000_000 }])
  const skipped: number[] = []
  const { insertedCount } = await db.importLines([bytesOf(tweetLines(0, 8 * unitLines))], {
    threads: 2,
    onSkipped: ({ line }) => skipped.push(line)
  })
  assert.equal(skipped, [2 * unitLines + 101])
  assert.is(insertedCount, 8 * unitLines - 1)
  assert.equal(await db.findOne({ _id: 2 * unitLines + 100 }), { _id: 2 * unitLines + 100, kept: true })
  assert.ok(opened.ingestedTables > 0)
  await assertSound(db)
})

for (const isFlushed of [false, true]) {
  test(`an _id that was deleted is there again, its tombstone ${isFlushed ? 'in a table' : 'in memory'} or not`, async () => {
    await using opened = await openCounted()
    const { db, store } = opened
    await db.importLines([bytesOf(tweetLines(0, 2 * unitLines))])
    await db.deleteMany({ _id: { $gte: 300, $lt: 400 } })
    await db.deleteMany({ _id: { $gte: unitLines + 300 } })
    if (isFlushed) await store.flush()
    const again = `${tweetLines(300, 400)}${tweetLines(unitLines + 300, 6 * unitLines)}`
    await db.importLines([bytesOf(again)], { threads: 2 })
    const ids = Array.from({ length: 6 * unitLines }, (_, i) => i)
    const documents = await db.getMany(ids)
    assert.equal(
      documents.map((document) => document?._id),
      ids
    )
    await assertSound(db)
  })
}

test('who reads while a unit comes into the store sees nothing of it until the index has it', async () => {
  await using opened = await openCounted()
  const { db, store } = opened
  const beginIngest = store.beginIngest.bind(store)
  const seen: number[] = []
  store.beginIngest = async () => {
    // Above the first unit, which has its ordinals.
    await db.insertOne(tweet('above', 0))
    const ingest = await beginIngest()
    const install = ingest.install.bind(ingest)
    ingest.install = async (...tables) => {
      const isInstalled = await install(...tables)
      for (const hint of ['scan', 'index'] as const) seen.push((await db.find({}, { hint }).toArray()).length)
      seen.push(await db.countDocuments())
      const found = await db.getMany([5, 'above'])
      seen.push(found.filter((document) => document !== null && document !== undefined).length)
      return isInstalled
    }
    return ingest
  }
  await db.importLines([bytesOf(tweetLines(0, 3 * unitLines))], { threads: 1 })
  assert.equal(seen.slice(0, 4), [1, 1, 1, 1])
  assert.ok(opened.ingestedTables > 0)
  await assertSound(db)
})

test.run()
