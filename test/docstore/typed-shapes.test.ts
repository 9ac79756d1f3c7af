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
  type IdArgument,
  type IdOf,
  ObjectId,
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

/** Of documents whose `_id`s are declared, or that are looked up by what another call returned. */
class Repository<T extends { _id: ObjectId; name: string }> {
  readonly #collection: Collection<T>

  constructor(collection: Collection<T>) {
    this.#collection = collection
  }

  async namesOf(ids: readonly ObjectId[], last: IdArgument<T>): Promise<unknown[]> {
    const found = [...(await this.#collection.getMany(ids)), await this.#collection.get(last)]
    return found.map((document) => document?.name)
  }
}

test('get() takes _ids of the declared type: the digits of an ObjectId find nothing, and are refused', async () => {
  await using db = await open<{ _id: ObjectId; name: string }>('requests', { store: 'memory' })
  const _id = new ObjectId()
  const { insertedId } = await db.insertOne({ _id, name: 'Ann' })
  assert.is((await db.get(insertedId))?.name, 'Ann')
  assert.equal(await new Repository(db).namesOf([_id], _id), ['Ann', 'Ann'])
  // @ts-expect-error: not an ObjectId
  assert.is(await db.get(_id.toHexString()), undefined)
  // @ts-expect-error: not a list of ObjectIds
  assert.equal(await db.getMany([_id.toHexString()]), [undefined])
  const users: Collection<User> = db.collection<User>('users')
  await users.insertOne(user)
  // Numbers of all types are equal.
  assert.equal(await users.getMany([1, 1n]), [user, user])
  // @ts-expect-error: not a number
  assert.is(await users.get('1'), undefined)
  const any: Collection = db.collection('users')
  assert.equal(await any.get(1), user)
  const unnamed = db.collection<{ name: string }>('users')
  assert.is((await unnamed.get(1))?.name, 'Ann')
})

/** Type-checked only. */
function refused(_: (named: Collection<{ _id: string; name: string }>, events: Collection<Event>) => void): void {}

interface Event {
  _id: string
  /** As a method of texts is called. */
  at: Date
  length: number
}

test('operators take paths where the type has no field for them', async () => {
  await using db = await open<{ _id: string; name: string }>('requests', { store: 'memory' })
  await db.insertOne({ _id: 'a', name: 'Ann' })
  await db.updateOne({}, { $inc: { 'counts.seen': 1 }, $push: { 'lists.tags': 'x' } })
  assert.equal(await db.get('a'), { _id: 'a', name: 'Ann', counts: { seen: 1 }, lists: { tags: ['x'] } })
})

refused((named) => {
  // @ts-expect-error: no field is a number
  named.updateOne({}, { $inc: { name: 1 } })
  // @ts-expect-error: nor is there another
  named.updateOne({}, { $mul: { age: 2 } })
  // @ts-expect-error: no field is an array
  named.updateOne({}, { $push: { name: 'x' } })
  // @ts-expect-error: nor a set
  named.updateOne({}, { $addToSet: { name: 'x' } })
  // @ts-expect-error: with elements
  named.updateOne({}, { $pull: { name: 'x' } })
  // @ts-expect-error: no field is a date
  named.updateOne({}, { $currentDate: { name: true } })
  // @ts-expect-error: operators take paths
  named.updateOne({}, { $inc: 5 })
})

refused((named, events) => {
  // @ts-expect-error: an _id is no filter
  named.findOne('a')
  // @ts-expect-error: whatever fields are called
  events.findOne('a')
  // @ts-expect-error: nor inside
  events.deleteMany({ $or: ['a'] })
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

test('variables of interface types are taken for documents without a type, projections, variables and stages', async () => {
  await using db = await open('requests', { store: 'memory' })
  const first: User = { _id: 1, name: 'Ann', age: 40 }
  await db.insertOne(first)
  await db.insertMany([first].map((one): User => ({ ...one, _id: 2 })))
  const second: User = { ...first, _id: 2, age: 41 }
  await db.replaceOne({ _id: 2 }, second)
  await db.bulkWrite([{ replaceOne: { filter: { _id: 2 }, replacement: second } }])
  const shown: Shown = { age: 1, _id: 0 }
  const variables: Variables = { least: 41 }
  const schema: Schema = { required: ['age'], properties: { age: { minimum: 41 } } }
  const stages: Stage[] = [{ $match: { age: 41 } }]
  const ages = [{ age: 41 }]
  assert.equal(await db.find({ $jsonSchema: schema }, { projection: shown }).toArray(), ages)
  assert.equal(await db.find({ age: 41 }).project(shown).toArray(), ages)
  assert.is(await db.countDocuments({ $expr: { $gte: ['$age', '$$least'] } }, { let: variables }), 1)
  assert.is((await db.aggregate(stages).toArray()).length, 1)
})

interface Shown {
  age: 1
  _id: 0
}

interface Variables {
  least: number
}

interface Schema {
  required?: string[]
  minimum?: number
  properties?: { [name: string]: Schema }
}

interface Stage {
  $match: { age: number }
}

/** Type-checked only. */
function refusedUntyped(
  _: (any: Collection, some: Collection<{ lang: string; [field: string]: unknown }>) => void
): void {}

refusedUntyped((any, some) => {
  // @ts-expect-error: an _id is no document
  any.insertOne(new ObjectId())
  // @ts-expect-error: nor is a list
  any.insertOne([user])
  // @ts-expect-error: a date
  any.insertOne(new Date())
  // @ts-expect-error: or a map
  any.replaceOne({}, new Map())
  // @ts-expect-error: a projection is an object
  any.find({}, { projection: ['lang'] })
  // @ts-expect-error: and so is a stage
  any.aggregate([[]])
  // @ts-expect-error: what is declared beside an index signature must be there
  some.insertOne({ n: 5 })
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
