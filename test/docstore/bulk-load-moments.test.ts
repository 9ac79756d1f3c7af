/** Units of parallel imports with an _id that is stored already or was deleted, and reads during publication. */
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { assertSound, bytesOf, openCounted, tweet, tweetLines, unitLines } from './load-cases.ts'

test('an _id that is already stored is refused and its document kept, wherever it comes in a unit', async () => {
  await using opened = await openCounted()
  const { db } = opened
  // The greatest _id of all, so that each _id of a unit has to be looked up.
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
  test(`a deleted _id can be imported again, its tombstone ${isFlushed ? 'in a table' : 'in memory'}`, async () => {
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

test('reads see nothing of a unit that is being added to the store until the index has it', async () => {
  await using opened = await openCounted()
  const { db, store } = opened
  const beginIngest = store.beginIngest.bind(store)
  const seen: number[] = []
  store.beginIngest = async () => {
    // Its ordinal is above those of the first unit.
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
