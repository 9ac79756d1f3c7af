/** `index: { tail: 'fingerprint' }`: the same answers in fewer bytes, through the life of a database. */
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { type Database, type OpenOptions, open } from '../../src/index.ts'
import { generateTweets } from '../../src/workload/index.ts'
import { rejects, scratchPath } from './scratch.ts'

const index = { tail: 'fingerprint', segmentBits: 1024 } as const
const tweets = [...generateTweets({ count: 2400, seed: 3 })]
const documents = tweets.map((tweet, _id) => ({ ...tweet, _id }))
const asked = [
  { id_str: tweets[1234]!.id_str },
  { 'user.screen_name': tweets[77]!.user.screen_name },
  { 'user.screen_name': 'nobody' },
  { $or: [{ text: tweets[5]!.text }, { 'user.id': tweets[9]!.user.id }], lang: { $ne: 'xx' } },
  { 'user.screen_name': { $ne: tweets[77]!.user.screen_name }, lang: 'en' }
]

async function assertAnswers(db: Database): Promise<void> {
  for (const filter of asked) {
    const scanned = await db.find(filter, { hint: 'scan' }).toArray()
    assert.equal(await db.find(filter, { hint: 'index' }).toArray(), scanned)
    assert.is(await db.countDocuments(filter), scanned.length)
  }
}

async function tails(db: Database): Promise<readonly string[]> {
  return (await db.index.stats()).parameters.map(({ tail }) => tail)
}

test('an invalid tail is refused before a database is created', async () => {
  for (const tail of ['Bloom', '', null, 1]) {
    await rejects(open('memory', { store: 'memory', index: { tail } } as unknown as OpenOptions), 'InvalidOptions')
  }
})

for (const store of ['lsm', 'level'] as const) {
  test(`answers equal those of a scan, and fingerprints take the place of hashed rows (${store})`, async () => {
    await using db = await open(scratchPath(), { store, index })
    await db.insertMany(documents)
    await db.deleteMany({ _id: { $lt: 900 } })
    await assertAnswers(db)
    assert.ok((await tails(db)).every((tail) => tail === 'fingerprint'))
    const { bytes } = await db.index.stats()
    assert.equal([bytes.hashedRows, bytes.upperLevel], [0, 0])
    assert.ok(bytes.fingerprints > 0)
    assert.equal((await db.verify()).problems, [])
  })
}

for (const ids of ['table', 'reversible'] as const) {
  test(`answers stay right after reopening, read-only or not, rebuilding and merging (ids: '${ids}')`, async () => {
    const location = scratchPath()
    const options: OpenOptions =
      ids === 'table' ? { index } : { index, ids: { codec: 'reversible', from: 0, to: 9999 } }
    {
      await using db = await open(location, options)
      await db.insertMany(documents)
      await db.updateMany({ _id: { $lt: 1200 } }, { $set: { changed: true } })
      await assertAnswers(db)
    }
    {
      await using db = await open(location, { readOnly: true })
      assert.equal((await db.index.stats()).damage, [])
      await assertAnswers(db)
    }
    await using db = await open(location)
    assert.ok((await tails(db)).includes('fingerprint'), 'segments keep their tail without the option')
    await db.updateMany({ _id: { $gte: 1800 } }, { $set: { changed: true } })
    await assertAnswers(db)
    await db.index.rebuild()
    assert.ok(
      (await tails(db)).every((tail) => tail === 'bloom'),
      'and have another when they are built without it'
    )
    await assertAnswers(db)
    assert.equal((await db.verify()).problems, [])
  })
}

test.run()
