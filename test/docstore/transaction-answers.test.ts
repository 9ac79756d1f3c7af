/**
 * Reads of a transaction that has changed many documents of a collection with several segments, columns, private rows and
 * declared indexes: each returns what it returns of a twin in which the same was changed without a transaction.
 */
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { type Database, type Document, type FindOptions, open, type TransactionCollection } from '../../src/index.ts'
import { testSeed } from '../support/arbitraries.ts'
import { describe } from '../support/describe.ts'
import { randomFrom } from '../support/random.ts'
import { AsyncLevel } from './odd-stores.ts'
import { scratchPath } from './scratch.ts'

const random = randomFrom(testSeed())
const below = (limit: number): number => Math.floor(random() * limit)
const oneOf = <T>(list: readonly T[]): T => list[below(list.length)]!

const count = 1600
const kinds = ['a', 'b', 'c', 'rare', 'none']

/** A transaction, or a database. */
interface Side {
  collection(name: string): unknown
}
const documentsOf = (side: Side): TransactionCollection => side.collection('documents') as TransactionCollection

let version = 0

function newDocument(): Document {
  const kind = random() < 0.01 ? 'rare' : oneOf(kinds.slice(0, 3))
  const tags = Array.from({ length: below(3) }, () => oneOf(kinds))
  const some: Document = { kind, tags, n: below(5000), at: new Date(below(1e9)), text: `word ${below(900)}` }
  if (random() < 0.1) delete some.at
  return { ...some, version: ++version }
}

/** Identifies the documents: each change gives another version. */
function versionsOf(found: readonly Document[]): string {
  return found.map(({ _id, version }) => `${_id}:${version}`).join(' ')
}

type Change = (collection: TransactionCollection) => Promise<unknown>

/** By `_id`, so that both sides make them in the same order. */
function someChange(): Change {
  const _id = below(count)
  const given = newDocument()
  switch (below(5)) {
    case 0:
      return (collection) => collection.deleteOne({ _id })
    case 1:
      return (collection) => collection.replaceOne({ _id }, given, { upsert: true })
    case 2:
      return (collection) => collection.updateOne({ _id }, { $inc: { n: 1 }, $set: { version: given.version } })
    case 3: {
      const range = { _id: { $gte: _id, $lt: _id + below(100) }, kind: { $in: ['a', 'rare'] } }
      return (collection) => collection.updateMany(range, { $set: { kind: given.kind, version: given.version } })
    }
    default:
      return (collection) => collection.updateOne({ _id: 2 * count + _id }, { $set: given }, { upsert: true })
  }
}

function someFilter(): Document {
  const n = below(5000)
  return oneOf<Document>([
    {},
    { kind: oneOf(kinds) },
    { kind: { $ne: oneOf(kinds) } },
    { kind: oneOf(kinds), n: { $gte: n } },
    { n: { $gte: n, $lt: n + 500 } },
    { tags: oneOf(kinds), at: { $exists: true } },
    { text: `word ${below(900)}` },
    { text: /9 ?9$/ },
    { at: { $lt: new Date(below(1e9)) } },
    { _id: { $in: Array.from({ length: 50 }, () => below(3 * count)) } },
    { _id: { $gte: below(count), $lt: below(3 * count) } },
    { $or: [{ kind: 'rare' }, { n: { $lt: 50 } }, { text: { $regex: '^word 1' } }] },
    { $expr: { $gt: ['$n', { $add: ['$version', n - 2500] }] } }
  ])
}

const sorts: readonly Record<string, 1 | -1>[] = [
  { at: 1, _id: 1 },
  { at: -1, _id: 1 },
  { n: 1, _id: 1 },
  { n: -1, _id: -1 },
  { kind: 1, n: -1, _id: 1 },
  { text: 1, _id: 1 },
  { _id: 1 },
  { _id: -1 }
]

/** @param isOrdered whether both sides have the same order of arrival */
function someOptions(isOrdered: boolean): FindOptions {
  const page: FindOptions = random() < 0.9 ? { skip: oneOf([0, 0, 3, 300]), limit: oneOf([1, 10, 100]) } : {}
  const hint = oneOf<FindOptions>([{}, {}, { hint: 'scan' }, { hint: 'index' }])
  if (!isOrdered || random() < 0.7) return { ...page, ...hint, sort: oneOf(sorts) }
  return oneOf<FindOptions>([{ ...page, ...hint }, page, { ...page, sort: { $natural: -1 } }])
}

/** @param declared whether to name declared indexes */
async function compareReads(tx: Side, twin: Side, isOrdered: boolean, declared: boolean): Promise<void> {
  for (let read = 0; read < 10; read++) {
    const filter = someFilter()
    const { sort, ...options } = someOptions(isOrdered)
    const named = declared && random() < 0.3 ? { ...options, hint: oneOf(['byKind', 'byN']) } : options
    const asked = { sort: sort ?? (declared ? { version: 1 } : undefined) }
    const shown = describe({ filter, ...named, ...asked })
    const find = (side: Side, given: FindOptions): Promise<Document[]> =>
      documentsOf(side)
        .find(filter, { ...given, ...(asked.sort && { sort: asked.sort }) } as FindOptions)
        .toArray()
    assert.is(versionsOf(await find(tx, named)), versionsOf(await find(twin, { ...options, hint: 'scan' })), shown)
    const counted = await documentsOf(tx).countDocuments(filter, named)
    assert.is(counted, await documentsOf(twin).countDocuments(filter, { ...options, hint: 'scan' }), shown)
  }
}

/** @param prepare called once the documents are there */
async function compare(
  db: Database,
  { ids = 'table', declared = false }: { ids?: 'table' | 'reversible'; declared?: boolean } = {},
  prepare: (db: Database) => Promise<Database> = async () => db
): Promise<void> {
  const twin = await open('unused', { store: 'memory', ids })
  const start = Array.from({ length: count }, (_, _id) => ({ _id, ...newDocument() }))
  for (const side of [db, twin]) await side.collection('documents', { ids }).insertMany(start)
  if (declared) {
    await db.collection('documents').createIndex({ kind: 1, n: -1 }, { name: 'byKind' })
    await db.collection('documents').createIndex({ n: 1 }, { name: 'byN' })
  }
  const current = await prepare(db)
  await current.withTransaction(async (tx) => {
    for (const changes of [1, 20, 60]) {
      for (let i = 0; i < changes; i++) {
        const change = someChange()
        for (const side of [tx, twin]) await change(documentsOf(side))
      }
      await compareReads(tx, twin, ids === 'table', declared)
    }
  })
  await compareReads(current, twin, ids === 'table', declared)
  await current.close()
  await twin.close()
}

const index = { segmentBits: 512 }

test('on the LSM store', async () => {
  await compare(await open(scratchPath(), { index }))
})

test('with declared indexes', async () => {
  await compare(await open(scratchPath(), { index }), { declared: true })
})

test('with fingerprints, on LevelDB', async () => {
  await compare(await open(scratchPath(), { index: { ...index, tail: 'fingerprint' }, store: 'level' }))
})

test('with filters in tables', async () => {
  await compare(await open(scratchPath(), { index: 'embedded' }), {}, async (db) => {
    await db.compact()
    return db
  })
})

test('without an index', async () => {
  await compare(await open('unused', { index: 'none', store: 'memory' }), { declared: true })
})

test('on a store that has no synchronous reads', async () => {
  await compare(await open(new AsyncLevel(), { index }), { declared: true })
})

test('with computed ids, some of them in segments, some recent', async () => {
  await compare(await open(scratchPath(), { index, ids: 'reversible' }), { ids: 'reversible' })
})

test('with rebuilt segments, opened again', async () => {
  const location = scratchPath()
  await compare(await open(location, { index }), {}, async (db) => {
    await db.collection('documents').index.rebuild()
    await db.close()
    return open(location)
  })
})

test.run()
