/**
 * Random transactions against a twin database, to which the same calls are made without one: each call returns the same,
 * others see nothing before the commit, and afterwards the two databases hold the same documents, or, when the
 * transaction was rolled back, what they held before.
 */
import { MemoryLevel } from 'memory-level'
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import {
  type BulkWriteOperation,
  type Database,
  type Document,
  type IdsOption,
  open,
  PetalError,
  type TransactionCollection
} from '../../src/index.ts'
import { testSeed } from '../support/arbitraries.ts'
import { describe } from '../support/describe.ts'
import { randomFrom } from '../support/random.ts'
import { AsyncLevel } from './odd-stores.ts'
import { scratchPath } from './scratch.ts'

const random = randomFrom(testSeed())
const below = (limit: number): number => Math.floor(random() * limit)
const oneOf = <T>(list: readonly T[]): T => list[below(list.length)]!

const names = ['first', 'second'] as const
const kinds = ['a', 'b', 'c', 'd']
const greatestId = 60

/** What a transaction and a database have in common. */
interface Side {
  collection(name: string): unknown
}
type Call = (collection: TransactionCollection) => Promise<unknown>

/** Grows, so that no update leaves a document as it was: such an update moves it in the twin, but not in a transaction. */
let version = 0

function collectionOf(side: Side, name: string): TransactionCollection {
  return side.collection(name) as TransactionCollection
}

function newDocument(): Document {
  const tags = Array.from({ length: below(3) }, () => oneOf(kinds))
  return {
    kind: oneOf(kinds),
    n: below(20),
    tags,
    at: new Date(below(1e6)),
    sub: { x: below(5), y: [{ z: below(3) }] }
  }
}

function someFilter(): Document {
  switch (below(7)) {
    case 0:
      return { _id: below(greatestId) }
    case 1:
      return { _id: { $in: [below(greatestId), below(greatestId), below(greatestId)] } }
    case 2:
      return { kind: oneOf(kinds), n: { $lt: below(20) } }
    case 3:
      return { tags: oneOf(kinds), kind: { $ne: oneOf(kinds) } }
    case 4:
      return { $or: [{ 'sub.x': below(5) }, { 'sub.y.z': below(3), n: { $gte: 10 } }] }
    case 5:
      return { at: { $gt: new Date(below(1e6)) } }
    default:
      return { version: { $exists: random() < 0.5 }, n: below(20) }
  }
}

/** @param isOrdered as for someCall() */
function someOperation(isOrdered: boolean): BulkWriteOperation {
  const filter = someFilter()
  const _id = below(greatestId)
  const first = isOrdered ? filter : { _id }
  const update = { $set: { version: ++version }, $inc: { n: 1 } }
  return oneOf<BulkWriteOperation>([
    { insertOne: { document: { _id: below(8 * greatestId), ...newDocument() } } },
    { updateOne: { filter: first, update } },
    { updateOne: { filter: { _id }, update, upsert: true } },
    { updateMany: { filter, update } },
    { replaceOne: { filter: { _id }, replacement: { ...newDocument(), version } } },
    { deleteOne: { filter: first } },
    { deleteMany: { filter: { ...filter, n: { $lt: 3 } } } }
  ])
}

/** @param isOrdered whether both sides have the same order of arrival, which decides about the first match */
function someCall(isOrdered: boolean): Call {
  const filter = someFilter()
  const id = below(greatestId)
  const first = isOrdered ? filter : { _id: id }
  const given = newDocument()
  const sort = oneOf<Record<string, 1 | -1>>([{ n: 1, _id: 1 }, { at: -1, _id: -1 }, { tags: 1, _id: 1 }, { _id: -1 }])
  version++
  const spec: Document = oneOf<Document>([
    { $inc: { n: 1 }, $set: { version } },
    { $set: { kind: oneOf(kinds), version }, $push: { tags: 'new' } },
    { $set: { version }, $unset: { at: true }, $rename: { kind: 'was' } }
  ])
  const fields = oneOf([undefined, { n: 1, 'sub.y': 1 }, { tags: 0 }])
  const options = { sort, skip: below(3), limit: below(8), ...(fields && { projection: fields }) }
  const returnDocument = oneOf(['before', 'after'] as const)
  const upsert = random() < 0.3
  switch (below(15)) {
    case 0:
    case 1: {
      const document = { _id: below(4 * greatestId), ...given }
      return (collection) => collection.insertOne({ ...document })
    }
    case 2:
      return (collection) => collection.updateOne(first, spec)
    case 3:
      return (collection) => collection.updateMany(filter, spec)
    case 4:
      return (collection) => collection.updateOne({ _id: id }, spec, { upsert })
    case 13:
      return (collection) => collection.updateOne(filter, spec, { sort })
    case 14: {
      const operations = Array.from({ length: 1 + below(4) }, () => someOperation(isOrdered))
      const ordered = random() < 0.5
      return (collection) => collection.bulkWrite(operations, { ordered })
    }
    case 5:
      return (collection) => collection.updateMany(filter, [{ $set: { version, n: { $add: ['$n', 1] } } }])
    case 6:
      return (collection) => collection.replaceOne({ _id: id }, { ...given, version }, { upsert })
    case 7:
      return (collection) => collection.deleteOne(first)
    case 8:
      return (collection) => collection.deleteMany({ ...filter, n: { $lt: 5 } })
    case 9:
      return (collection) => collection.findOneAndUpdate(filter, spec, { sort, returnDocument })
    case 10:
      return (collection) => collection.findOneAndDelete(filter, { sort, projection: { n: 1 } })
    case 11:
      return async (collection) => [await collection.get(id), await collection.countDocuments(filter)]
    default:
      return (collection) => collection.find(filter, options).toArray()
  }
}

async function answerOf(side: Side, name: string, call: Call): Promise<{ shown: string; error?: PetalError }> {
  try {
    return { shown: describe(await call(collectionOf(side, name))) }
  } catch (error) {
    if (!(error instanceof PetalError)) throw error
    return { shown: error.codeName, error }
  }
}

async function contents(side: Side): Promise<Document[][]> {
  return Promise.all(names.map((name) => collectionOf(side, name).find().toArray()))
}

async function fill(side: Side, lists: readonly Document[][]): Promise<void> {
  for (const [i, name] of names.entries()) {
    await collectionOf(side, name).deleteMany({})
    await collectionOf(side, name).insertMany(lists[i]!)
  }
}

async function assertIndexAgrees(db: Database): Promise<void> {
  for (const name of names) {
    const collection = db.collection(name)
    for (let i = 0; i < 5; i++) {
      const filter = someFilter()
      const scanned = await collection.find(filter, { hint: 'scan' }).toArray()
      assert.is(describe(await collection.find(filter).toArray()), describe(scanned), describe(filter))
      assert.is(await collection.countDocuments(filter), scanned.length, describe(filter))
    }
    assert.is(await collection.estimatedDocumentCount(), (await collection.find().toArray()).length)
  }
}

/** Reports one difference rather than all documents. */
function assertSame(found: readonly Document[][], expected: readonly Document[][]): void {
  for (const [i, name] of names.entries()) {
    const [some, others] = [found[i]!.map((each) => describe(each)), expected[i]!.map((each) => describe(each))]
    assert.is(some.length, others.length, name)
    for (const [j, shown] of some.entries()) assert.is(shown, others[j], `${name}, document ${j}`)
  }
}

class Stop extends Error {}

/** @param reopen undefined for a store that is gone when it is closed */
async function compare(db: Database, rounds: number, reopen?: () => Promise<Database>, ids: IdsOption = 'table') {
  const twin = await open('unused', { store: 'memory', ids })
  // The order of computed ids is different in every collection, and updates by a declared index follow its order.
  const isOrdered = ids === 'table' && names.every((name) => db.collection(name).listIndexes().length === 0)
  const inOrder = (lists: Document[][]): Document[][] =>
    isOrdered ? lists : lists.map((list) => list.sort((a, b) => Number(a._id) - Number(b._id)))
  const start = names.map(() => Array.from({ length: 40 }, (_, _id) => ({ _id, ...newDocument() })))
  await fill(db, start)
  await fill(twin, start)
  const seen = { committed: 0, rolledBack: 0, failed: 0 }
  let current = db
  for (let round = 0; round < rounds; round++) {
    const before = await contents(current)
    const shownBefore = describe(before)
    const isToStop = random() < 0.3
    const running = current.withTransaction(async (tx) => {
      for (let left = below(12); left >= 0; left--) {
        const [name, call] = [oneOf(names), someCall(isOrdered)]
        const expected = await answerOf(twin, name, call)
        const { shown, error } = await answerOf(tx, name, call)
        assert.is(shown, expected.shown, `${call}`)
        // An update of several documents that fails at one of them has changed those before it only in the twin.
        if (error !== undefined) throw error
        assert.is(describe(await contents(current)), shownBefore, 'others see nothing before the commit')
      }
      if (isToStop) throw new Stop()
      return contents(tx)
    })
    try {
      const seenInside = await running
      assertSame(await contents(current), seenInside)
      seen.committed++
      assertSame(inOrder(await contents(current)), inOrder(await contents(twin)))
    } catch (error) {
      if (error instanceof Stop) seen.rolledBack++
      else if (error instanceof PetalError) seen.failed++
      else throw error
      assert.is(describe(await contents(current)), shownBefore, 'nothing is left of a transaction that was rolled back')
      await fill(twin, before)
    }
    if (round % 10 !== 9) continue
    await assertIndexAgrees(current)
    if (reopen === undefined || round % 20 !== 19) continue
    await current.close()
    current = await reopen()
    assertSame(inOrder(await contents(current)), inOrder(await contents(twin)))
    await assertIndexAgrees(current)
  }
  // Few fail: in a short run there may be none.
  const hasFailed = seen.failed > 0 || rounds < 100
  assert.ok(seen.committed > rounds / 5 && seen.rolledBack > 0 && hasFailed, JSON.stringify(seen))
  await current.close()
  await twin.close()
}

const options = { index: { segmentBits: 512 } }

test('on the LSM store: a transaction answers as the calls alone do, is seen whole or not at all, and is kept', async () => {
  const location = scratchPath()
  await compare(await open(location, options), 120, () => open(location, options))
})

test('on LevelDB', async () => {
  const location = scratchPath()
  const onLevel = { ...options, store: 'level' } as const
  await compare(await open(location, onLevel), 40, () => open(location, onLevel))
})

test('in memory, with unique indexes that nothing violates', async () => {
  const db = await open('unused', { ...options, store: 'memory' })
  for (const name of names) {
    await db.collection(name).createIndex({ version: 1, _id: 1 }, { unique: true })
    await db.collection(name).createIndex({ n: -1, tags: 1 })
  }
  await compare(db, 60)
})

test('with computed ids', async () => {
  const ids = { codec: 'reversible', from: 0, to: 1000 } as const
  await compare(await open('unused', { ...options, store: 'memory', ids }), 40, undefined, ids)
})

test('on a store that has no synchronous reads', async () => {
  const db = await open(new AsyncLevel(), options)
  for (const name of names) await db.collection(name).createIndex({ version: 1, _id: 1 }, { unique: true })
  await compare(db, 30)
})

test('without an index over all pairs', async () => {
  await compare(await open(new MemoryLevel(), { index: 'none' }), 30)
})

test.run()
