/** What index.rebuild() achieves, and that it disturbs no other call. */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { open } from '../../src/index.ts'

const directory = mkdtempSync(join(tmpdir(), 'petaldb-rebuild-'))
test.after(() => rmSync(directory, { recursive: true, force: true }))
let databases = 0
const location = (): string => join(directory, String(databases++))

const documents = (count: number, from = 0) =>
  Array.from({ length: count }, (_, i) => ({
    _id: from + i,
    n: from + i,
    tens: i % 10,
    name: `name ${(from + i) % 97}`
  }))

for (const store of ['lsm', 'level'] as const) {
  test(`rebuild() leaves no dead document, no small segment and nothing to recover, on ${store}`, async () => {
    const path = location()
    let db = await open(path, { store, index: { segmentBits: 1024 } })
    await db.insertMany(documents(6000))
    await db.updateMany({ tens: { $in: [1, 4, 7] } }, { $set: { changed: true } })
    const before = await db.index.stats()
    assert.is(before.dead, 1800)
    const { documents: rebuilt } = await db.index.rebuild()
    assert.is(rebuilt, 6000)
    const after = await db.index.stats()
    assert.is(after.dead, 0)
    assert.is(after.documents, 6000)
    assert.is(after.segments, 6)
    const natural = (await db.find({ tens: { $lt: 3 } }).toArray()).map(({ _id }) => _id)
    await db.close()
    db = await open(path, { store, index: { segmentBits: 1024 } })
    const { recovered, damage, dead } = await db.index.stats()
    assert.equal({ recovered, damage, dead }, { recovered: 0, damage: [], dead: 0 })
    const again = await db.find({ tens: { $lt: 3 } }).toArray()
    assert.equal(
      again.map(({ _id }) => _id),
      natural,
      'natural order'
    )
    assert.is(await db.countDocuments({ changed: true }), 1800)
    assert.is(
      (await db.find({ name: 'name 13', tens: 3 }).toArray()).length,
      documents(6000).filter(({ name, tens }) => name === 'name 13' && tens === 3).length
    )
    await db.close()
  })
}

test('reads and writes during a rebuild are right, and earlier cursors keep their snapshot', async () => {
  await using db = await open(location(), { index: { segmentBits: 512 } })
  await db.insertMany(documents(5000))
  await db.deleteMany({ tens: 5 })
  const cursor = db.find({ tens: { $gte: 2 } })
  const first = await cursor.next()
  assert.is(first?._id, 2)
  const rebuilding = db.index.rebuild()
  let isDone = false
  const noteEnd = (): void => {
    isDone = true
  }
  rebuilding.then(noteEnd, noteEnd)
  let next = 5000
  let rounds = 0
  const expected = new Map(documents(5000).flatMap((each) => (each.tens === 5 ? [] : [[each._id, each]])))
  const atStart = [...expected.values()].filter(({ tens }) => tens >= 2).length
  while (!isDone || rounds < 5) {
    const added = documents(50, next)
    await db.insertMany(added)
    for (const each of added) expected.set(each._id, each)
    next += 50
    const gone = 40 + rounds * 7
    await db.deleteMany({ n: gone })
    expected.delete(gone)
    const of = rounds++ % 10
    const count = [...expected.values()].filter(({ tens }) => tens === of).length
    assert.is((await db.find({ tens: of }).toArray()).length, count)
    assert.is(await db.countDocuments({ tens: { $ne: of } }), expected.size - count)
  }
  await rebuilding
  assert.is((await cursor.toArray()).length, atStart - 1)
  assert.is(await db.countDocuments({}), expected.size)
  await db.index.rebuild()
  assert.is((await db.index.stats()).dead, 0)
  assert.is(
    (await db.find({ tens: { $not: { $gt: 3 } } }).toArray()).length,
    [...expected.values()].filter(({ tens }) => tens <= 3).length
  )
})

test('a rebuild that is aborted, or whose database closes, changes nothing', async () => {
  const path = location()
  {
    await using db = await open(path, { index: { segmentBits: 512 } })
    await db.insertMany(documents(4000))
    await db.deleteMany({ tens: 1 })
    const controller = new AbortController()
    const aborted = db.index.rebuild({ signal: controller.signal, onProgress: () => controller.abort() })
    await assertRejected(aborted, 'Aborted')
    assert.is((await db.index.stats()).dead, 400)
    let ended: Promise<unknown> | undefined
    await new Promise<void>((resolve) => {
      ended = assertRejected(db.index.rebuild({ onProgress: () => resolve() }), 'DatabaseNotOpen')
    })
    await Promise.all([db.close(), ended])
  }
  await using db = await open(path, { index: { segmentBits: 512 } })
  const { dead, recovered } = await db.index.stats()
  assert.equal({ dead, recovered }, { dead: 400, recovered: 0 })
  assert.is(await db.countDocuments({ tens: { $exists: true } }), 3600)
})

test('an error thrown by onProgress ends a rebuild, is passed on unchanged, and nothing changes', async () => {
  const db = await open(location(), { index: { segmentBits: 1024 } })
  await db.insertMany(documents(5000))
  await db.deleteMany({ tens: 3 })
  const figures = async () => {
    const { documents, dead, segments } = await db.index.stats()
    return { documents, dead, segments }
  }
  const before = await figures()
  const found = await db.find({ tens: 4 }).toArray()
  for (const code of [undefined, 'LEVEL_CORRUPTION', 'EEXIST']) {
    const mine = Object.assign(new Error('mine'), { code })
    const onProgress = () => {
      throw mine
    }
    const thrown = await db.index.rebuild({ onProgress }).catch((error: unknown) => error)
    assert.is(thrown, mine)
    assert.equal(await figures(), before)
  }
  assert.equal(await db.find({ tens: 4 }).toArray(), found)
  assert.is((await db.index.rebuild()).documents, 4500)
  assert.equal(await db.find({ tens: 4 }).toArray(), found)
  await db.close()
})

test('a second rebuild at a time, a missing collection and one without an index are refused', async () => {
  await using db = await open(location())
  await assertRejected(db.index.rebuild(), 'NamespaceNotFound')
  await db.insertMany(documents(300))
  const first = db.index.rebuild()
  await assertRejected(db.index.rebuild(), 'IllegalOperation')
  await first
  const plain = db.collection('plain', { index: 'none' })
  await plain.insertOne({ _id: 1 })
  await assertRejected(plain.index.rebuild(), 'IllegalOperation')
})

async function assertRejected(promise: Promise<unknown>, codeName: string): Promise<void> {
  const error = await promise.then(
    () => undefined,
    (reason: unknown) => reason
  )
  assert.is((error as { codeName?: string } | undefined)?.codeName, codeName)
}

test.run()
