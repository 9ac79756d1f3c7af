/**
 * Filters and updates of unions, of types known only where a function is called, and of types with an index signature. The
 * type checker is the test.
 */
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import {
  type BulkWriteError,
  type Collection,
  type Document,
  type Filter,
  type FilterArgument,
  type IdOf,
  open,
  type WithId
} from '../../src/index.ts'

interface User {
  _id: number
  name: string
  age: number
}

const user: User = { _id: 1, name: 'Ann', age: 40 }

type Shape = { kind: 'circle'; radius: number } | { kind: 'rectangle'; width: number; height?: number }

test('filters and updates know the fields of every member of a union', async () => {
  await using db = await open<Shape>('requests', { store: 'memory' })
  await db.insertMany([
    { kind: 'circle', radius: 1 },
    { kind: 'rectangle', width: 2 }
  ])
  assert.is(await db.countDocuments({ kind: { $in: ['circle', 'rectangle'] }, width: { $gt: 1 } }), 1)
  await db.updateMany({ radius: 1 }, { $inc: { radius: 1 }, $set: { kind: 'circle' }, $setOnInsert: { _id: 5 } })
  const radii: number[] = await db.distinct('radius')
  assert.equal(radii, [2])
  const wrong = (): unknown[] => [
    // @ts-expect-error: no field of any
    db.find({ radios: 1 }),
    // @ts-expect-error: no kind of any
    db.find({ kind: 'square' })
  ]
  assert.type(wrong, 'function')
})

/** As in a library: what the documents have beside a name is known where it is called. */
async function rename<T extends { name: string }>(collection: Collection<T>, filter: FilterArgument<T>, name: string) {
  const both: Filter<T> = { $and: [filter, { name: { $ne: name } }] }
  await collection.updateMany(both, { $set: { name }, $inc: { renamed: 1 } })
  const { upsertedId } = await collection.updateOne({ name }, { $unset: { other: '' } })
  const id: IdOf<T> | null = upsertedId
  const found: WithId<T> | null = await collection.findOne({ name, _id: 1 })
  return [id, found?.name, await collection.distinct('name')]
}

test('a function for documents of many types can use the fields that they share', async () => {
  await using db = await open<User>('requests', { store: 'memory' })
  await db.insertOne(user)
  assert.equal(await rename(db, { age: 40 }, 'Bob'), [null, 'Bob', ['Bob']])
})

interface Query {
  name?: string
  age?: { $gt: number }
}

test('variables of interface types and filters of any documents are taken for filters', async () => {
  await using db = await open<User>('requests', { store: 'memory' })
  await db.insertOne(user)
  const query: Query = { age: { $gt: 5 } }
  const unnamed: FilterArgument<User> = query
  const document: Document = { name: 'Ann' }
  const anyFilter: Filter = { name: 'Ann', ...query }
  for (const filter of [query, unnamed, document, anyFilter, { $or: [query] }]) {
    assert.is(await db.countDocuments(filter), 1)
  }
  const wider: Collection<{ name: string }> = db
  assert.is((await wider.findOne({ name: 'Ann' }))?.name, 'Ann')
})

test('documents with an index signature, and those without a type, take any field', async () => {
  await using db = await open<{ lang: string; [field: string]: unknown }>('requests', { store: 'memory' })
  await db.insertOne({ lang: 'de', n: 5 })
  assert.is(await db.countDocuments({ n: { $gt: 3 }, lang: 'de' }), 1)
  await db.collection('any').updateOne({ x: 1 }, { $inc: { n: 1 }, $push: { y: { $each: [1] } } }, { upsert: true })
  const { result }: Pick<BulkWriteError, 'result'> = {
    result: await db.bulkWrite([{ deleteOne: { filter: { n: 5 } } }])
  }
  assert.is(result.deletedCount, 1)
})

test.run()
