/**
 * Filters, updates and results as in a TypeScript program. The type checker is the test: what it refuses is in functions
 * that are not called.
 */
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import {
  type Collection,
  Decimal128,
  type Filter,
  Long,
  ObjectId,
  open,
  type Transaction,
  type UpdateSpec
} from '../../src/index.ts'

type Kind = 'person' | 'robot'

/** Fields of every kind. */
interface User {
  _id: number
  name: string
  age: number
  kind: Kind
  level: 1 | 2 | 3
  at?: Date
  nick: string | null
  tags: string[]
  scores: readonly number[]
  orders: { sku: string; count: number; at?: Date }[]
  home: { city: string; zip?: number }
  owner: ObjectId
  price: Decimal128
  visits: Long
  bytes: Uint8Array
  mixed: string | number
  isActive: boolean
  extra: unknown
  // biome-ignore lint/suspicious/noExplicitAny: documents of programs have such fields
  loose: any
  friend?: User
}

const user: User = {
  _id: 1,
  name: 'Ann',
  age: 40,
  kind: 'person',
  level: 1,
  at: new Date(0),
  nick: null,
  tags: ['a', 'b'],
  scores: [1, 2],
  orders: [{ sku: 'x', count: 2 }],
  home: { city: 'Rome' },
  owner: new ObjectId('0123456789abcdef01234567'),
  price: Decimal128.fromString('1.5'),
  visits: Long.fromInt(7),
  bytes: new Uint8Array([3]),
  mixed: 5,
  isActive: true,
  extra: { a: 1 },
  loose: 'z'
}

/** Type-checked only. */
function refused(_: (users: Collection<User>) => void): void {}

test('a filter takes values and operators of the types of its fields', async () => {
  await using db = await open<User>('requests', { store: 'memory' })
  await db.insertOne(user)
  const { owner, price } = user
  const matching: Filter<User>[] = [
    { name: 'Ann', age: 40, kind: 'person', level: 1, isActive: true, mixed: 5 },
    { name: /^a/i, kind: { $regex: '^p', $options: 'i' } },
    { name: { $in: [/^A/, 'Bob'], $not: /b/, $type: 'string' }, mixed: { $not: { $regex: 'x' } } },
    { age: { $gt: 30, $lte: 40n, $mod: [2, 0], $bitsAllSet: 8, $exists: true, $nin: [1], $type: ['int', 1] } },
    { age: 40n, visits: 7, price: { $gte: 1 } },
    { at: { $gte: new Date(0), $ne: null }, friend: null, nick: { $eq: null } },
    { tags: 'a', scores: { $gt: 1, $size: 2 } },
    { tags: ['a', 'b'], scores: { $elemMatch: { $gt: 1, $lt: 3 } } },
    { tags: { $all: ['a', /b/], $in: ['a', ['b']], $regex: 'a' } },
    { orders: { $elemMatch: { sku: 'x', count: { $gte: 2 }, $or: [{ at: null }] } } },
    { orders: { $all: [{ $elemMatch: { sku: /x/ } }] } },
    { orders: { sku: 'x', count: 2 }, home: { city: 'Rome' } },
    { owner, price: { $in: [price] }, bytes: { $bitsAnySet: [0, 5] } },
    { extra: { $exists: true }, loose: { $in: ['z'] }, $comment: 'any' },
    { 'orders.sku': 'x', 'orders.0.count': { $lt: 5 }, 'not.known': { $exists: false } },
    { $or: [{ age: 5 }, { $nor: [{ name: 'Bob' }] }], $and: [{}], $where: ({ age }) => age === 40 }
  ]
  for (const filter of matching) assert.is(await db.countDocuments(filter), 1, Object.keys(filter).join())
})

refused((users) => {
  // @ts-expect-error: misspelt field
  users.find({ emial: 'x' })
  // @ts-expect-error: also beside others, and inside
  users.find({ name: 'Ann', $or: [{ nmae: 'Ann' }] })
  // @ts-expect-error: type of a value
  users.find({ age: 'old' })
  // @ts-expect-error: one of few values
  users.find({ kind: 'persn' })
  // @ts-expect-error: of few numbers
  users.find({ level: 4 })
  // @ts-expect-error: misspelt operator
  users.find({ age: { $gtt: 5 } })
  // @ts-expect-error: misspelt operator of strings
  users.find({ name: { $regx: 'A' } })
  // @ts-expect-error: operand of a range
  users.find({ age: { $gt: 'x' } })
  // @ts-expect-error: list of operands
  users.find({ age: { $in: 5 } })
  // @ts-expect-error: operands in it
  users.find({ age: { $in: ['x'] } })
  // @ts-expect-error: operators of strings
  users.find({ age: { $regex: 'x' } })
  // @ts-expect-error: and of numbers
  users.find({ name: { $mod: [2, 0] } })
  // @ts-expect-error: arguments of theirs
  users.find({ age: { $mod: [2] } })
  // @ts-expect-error: operators of arrays
  users.find({ age: { $size: 2 } })
  // @ts-expect-error: regular expressions find strings
  users.find({ age: /4/ })
  // @ts-expect-error: and cannot be compared
  users.find({ name: { $gt: /4/ } })
  // @ts-expect-error: type of elements
  users.find({ tags: 5 })
  // @ts-expect-error: of all of them
  users.find({ tags: { $all: [5] } })
  // @ts-expect-error: fields of elements
  users.find({ orders: { $elemMatch: { skuu: 'x' } } })
  // @ts-expect-error: a time is a Date
  users.find({ at: { $gt: 5 } })
  // @ts-expect-error: misspelt type
  users.find({ age: { $type: 'strnig' } })
  // @ts-expect-error: negated operators
  users.find({ age: { $not: { $gtt: 5 } } })
  // @ts-expect-error: misspelt operator around fields
  users.find({ $orr: [] })
  // @ts-expect-error: type of the _id
  users.deleteOne({ _id: '1' })
  // @ts-expect-error: an id is no filter
  users.find(new ObjectId())
})

test('an update takes fields that its operators can change', async () => {
  await using db = await open<User>('requests', { store: 'memory' })
  await db.insertOne(user)
  const updates: UpdateSpec<User>[] = [
    { $set: { name: 'Bob', nick: 'b', extra: 5, 'home.city': 'Bari' }, $setOnInsert: { _id: 7 } },
    { $inc: { age: 1, visits: Long.fromInt(1), 'home.zip': 5 }, $mul: { price: 2, mixed: 2 } },
    { $min: { age: 50, at: new Date(0) }, $max: { level: 2, name: 'Cy' } },
    { $push: { tags: 'c', scores: { $each: [3], $position: 0, $slice: -3, $sort: -1 }, 'a.b': 1 } },
    { $push: { orders: { $each: [{ sku: 'y', count: 1 }], $sort: { count: 1 } } } },
    { $addToSet: { tags: { $each: ['d', 'a'] }, scores: 9, orders: { sku: 'z', count: 3 } } },
    { $pop: { tags: 1, scores: -1 }, $pull: { orders: { sku: 'y', count: { $lt: 2 } } } },
    { $pull: { tags: { $in: ['a', /b/] }, scores: { $gte: 9 } } },
    { $pull: { tags: /c/ }, $pullAll: { scores: [1, 2] } },
    { $currentDate: { at: true, 'home.since': { $type: 'timestamp' } }, $bit: { age: { and: 63 } } },
    { $unset: { nick: '', 'home.zip': 1 }, $rename: { loose: 'tight' } }
  ]
  for (const update of updates) assert.is((await db.updateOne({ _id: 1 }, update)).modifiedCount, 1)
  const { name, age, tags, scores, orders } = (await db.get(1)) ?? user
  assert.equal([name, age, tags, scores], ['Cy', 41, [], []])
  assert.equal(
    orders.map(({ sku }) => sku),
    ['x', 'z']
  )
})

refused((users) => {
  // @ts-expect-error: misspelt field
  users.updateOne({}, { $set: { nmae: 'Bob' } })
  // @ts-expect-error: type of a value
  users.updateOne({}, { $set: { name: 5 } })
  // @ts-expect-error: of a value for an insert
  users.updateOne({}, { $setOnInsert: { age: 'x' } })
  // @ts-expect-error: only numbers increase
  users.updateOne({}, { $inc: { name: 1 } })
  // @ts-expect-error: by numbers
  users.updateOne({}, { $inc: { age: '1' } })
  // @ts-expect-error: and are multiplied
  users.updateOne({}, { $mul: { at: 2 } })
  // @ts-expect-error: type of what a field is compared with
  users.updateOne({}, { $max: { age: 'x' } })
  // @ts-expect-error: only arrays take elements
  users.updateOne({}, { $push: { name: 'x' } })
  // @ts-expect-error: of their type
  users.updateOne({}, { $push: { tags: 5 } })
  // @ts-expect-error: each of them
  users.updateOne({}, { $addToSet: { tags: { $each: [5] } } })
  // @ts-expect-error: misspelt modifier
  users.updateOne({}, { $push: { tags: { $each: ['x'], $postion: 0 } } })
  // @ts-expect-error: all fields of an element
  users.updateOne({}, { $push: { orders: { sku: 'x' } } })
  // @ts-expect-error: either end
  users.updateOne({}, { $pop: { tags: 2 } })
  // @ts-expect-error: fields of elements
  users.updateOne({}, { $pull: { orders: { skuu: 'x' } } })
  // @ts-expect-error: types of elements
  users.updateMany({}, { $pullAll: { tags: [5] } })
  // @ts-expect-error: only dates become the current one
  users.findOneAndUpdate({}, { $currentDate: { age: true } })
  // @ts-expect-error: bits are those of numbers
  users.updateOne({}, { $bit: { name: { and: 5 } } })
  // @ts-expect-error: a new name is a text
  users.updateOne({}, { $rename: { name: 5 } })
  // @ts-expect-error: in bulk, too
  users.bulkWrite([{ updateOne: { filter: { nmae: 'x' }, update: { $set: { age: 5 } } } }])
})

test('$unset and $rename take fields that the type does not declare any more', async () => {
  await using db = await open<User>('requests', { store: 'memory' })
  await db.insertOne({ ...user, ...{ surname: 'A', given: 'B' } })
  await db.updateOne({}, { $unset: { surname: '' }, $rename: { given: 'name' } })
  assert.is((await db.get(1))?.name, 'B')
})

test('results have the type of the _id, and distinct values that of the field', async () => {
  await using db = await open<User>('requests', { store: 'memory' })
  const { insertedId }: { insertedId: number } = await db.insertOne(user)
  const { insertedIds } = await db.insertMany([{ ...user, _id: 2 }])
  const ids: (number | undefined)[] = [insertedId, insertedIds[0]]
  const { upsertedId } = await db.replaceOne({ _id: 3 }, { ...user, _id: 3 }, { upsert: true })
  const upserted: number | null = upsertedId
  const bulk = await db.bulkWrite([{ insertOne: { document: { ...user, _id: 4 } } }])
  const bulkId: number | undefined = bulk.insertedIds[0]
  assert.equal([...ids, upserted, bulkId], [1, 2, 3, 4])
  const names: string[] = await db.distinct('name')
  const tags: string[] = await db.distinct('tags')
  const found: number[] = await db.distinct('_id', { age: 40 })
  const times: Date[] = await db.distinct('at')
  assert.equal([names, tags, found, times], [['Ann'], ['a', 'b'], [1, 2, 3, 4], [new Date(0)]])
  const untyped = db.collection('untyped')
  const { insertedId: any }: { insertedId: unknown } = await untyped.insertOne({ a: 5 })
  assert.instance(any, ObjectId)
  const values: unknown[] = await untyped.distinct('a')
  assert.equal(values, [5])
})

test('distinct values below fields have their type where it is declared', async () => {
  await using db = await open<User>('requests', { store: 'memory' })
  await db.insertOne({ ...user, friend: { ...user, _id: 2, friend: { ...user, orders: [{ sku: 'y', count: 1 }] } } })
  const cities: string[] = await db.distinct('home.city')
  const zips: number[] = await db.distinct('home.zip')
  const skus: string[] = await db.distinct('orders.sku')
  const times: Date[] = await db.distinct('friend.orders.at')
  const deep: string[] = await db.distinct('friend.friend.orders.sku')
  const tags: string[] = await db.distinct('friend.tags')
  assert.equal([cities, zips, skus, times, deep, tags], [['Rome'], [], ['x'], [], ['y'], ['a', 'b']])
  const path: string = 'home.city'
  const some: unknown[] = await db.distinct(path)
  assert.equal(some, cities)
  const shapes = db.collection<{ of: { kind: 'circle'; radius: number } | { kind: 'line' } | null }>('shapes')
  await shapes.insertMany([{ of: { kind: 'circle', radius: 1 } }, { of: { kind: 'line' } }, { of: null }])
  const kinds: ('circle' | 'line')[] = await shapes.distinct('of.kind')
  const radii: number[] = await shapes.distinct('of.radius')
  assert.equal([kinds, radii], [['circle', 'line'], [1]])
})

refused(async (users) => {
  // @ts-expect-error: texts
  const cities: number[] = await users.distinct('home.city')
  // @ts-expect-error: not known
  const streets: string[] = await users.distinct('home.street')
  // @ts-expect-error: a position, or a field of elements
  const first: string[] = await users.distinct('orders.0.sku')
  // @ts-expect-error: not a method of arrays
  const at: (() => unknown)[] = await users.distinct('orders.at')
  // @ts-expect-error: not known
  const below: string[] = await users.distinct('extra.a')
  // @ts-expect-error: methods are no fields
  const lengths: number[] = await users.distinct('name.length')
  return [cities, streets, first, at, below, lengths]
})

test('in a transaction documents, ids and results have the same types', async () => {
  await using db = await open<User>('requests', { store: 'memory' })
  const found: [number, string | undefined, number[]] = await db.withTransaction(async (tx) => {
    const { insertedId }: { insertedId: number } = await tx.insertOne(user)
    await tx.updateOne({ age: { $gt: 30 }, 'home.city': 'Rome' }, { $inc: { age: 1 }, $push: { tags: 'c' } })
    const users = await tx.find({ kind: 'person' }).sort({ age: 1 }).toArray()
    const got = await tx.collection<User>('default').get(insertedId)
    return [insertedId, got?.name, users.map(({ age }) => age)]
  })
  assert.equal(found, [1, 'Ann', [41]])
})

refused(async (users) => {
  const tx = users as unknown as Transaction<User>
  // @ts-expect-error: no such field
  await tx.insertOne({ ...user, nmae: 'x' })
  // @ts-expect-error: a number
  await tx.updateOne({ age: 'old' }, { $set: { age: 5 } })
  // @ts-expect-error: nothing to increment
  await tx.collection<User>('users').updateMany({}, { $inc: { name: 1 } })
  // @ts-expect-error: ids are numbers
  await tx.get('1')
})

refused(async (users) => {
  // @ts-expect-error: numbers, not texts
  const ids: string[] = await users.distinct('_id')
  const { insertedId } = await users.insertOne(user)
  // @ts-expect-error: a number
  insertedId.toHexString()
  return ids
})

test.run()
