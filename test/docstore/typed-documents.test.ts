/** Calls as in a TypeScript program. The type checker is the test; running it only shows that the calls work. */
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import {
  type BulkWriteOperation,
  type Collection,
  copyDatabase,
  type Filter,
  type InsertOneResult,
  type MayHaveId,
  open,
  type SortSpec,
  type TuneGround,
  type TuneMeasurement,
  type TunePrediction,
  type TuneResult,
  type UpdateSpec,
  type WithoutId
} from '../../src/index.ts'
import { rejects } from './scratch.ts'

/** An interface, because unlike a type alias it cannot be assigned to a record of unknown values. */
interface Reading {
  _id?: number
  sensor: string
  value: number
}

async function sensors<T extends { readonly sensor: string }>(readings: Collection<T>): Promise<string[]> {
  return readings
    .find()
    .map(({ sensor }) => sensor)
    .toArray()
}

test('documents can be of an interface type in every method that takes or returns them', async () => {
  await using db = await open<Reading>('typed', { store: 'memory' })
  const first: Reading = { _id: 1, sensor: 'a', value: 3 }
  await db.insertOne(first)
  await db.insertMany([{ _id: 2, sensor: 'b', value: 4 } satisfies Reading])
  await db.replaceOne({ _id: 1 }, { ...first, value: 5 } satisfies Reading)
  const before: Reading | null = await db.findOneAndReplace({ _id: 2 }, { sensor: 'c', value: 6 } satisfies Reading)
  assert.is(before?.sensor, 'b')
  const operations: BulkWriteOperation<Reading>[] = [
    { insertOne: { document: { _id: 3, sensor: 'd', value: 7 } } },
    { replaceOne: { filter: { _id: 3 }, replacement: { sensor: 'e', value: 8 } } }
  ]
  await db.bulkWrite(operations)
  const found: Reading | undefined = await db.get(3)
  assert.is(found?.sensor, 'e')
  assert.equal(await sensors(db), ['a', 'c', 'e'])
})

test('updates are operators or a pipeline in every method', async () => {
  await using db = await open<Reading>('typed', { store: 'memory' })
  const stages: UpdateSpec = [{ $set: { value: { $add: ['$value', 1] } } }, { $unset: ['sensor'] }]
  const operations: BulkWriteOperation<Reading>[] = [
    { updateOne: { filter: { _id: 1 }, update: stages, upsert: true } },
    { updateMany: { filter: {}, update: [{ $set: { value: '$$value' } }] } },
    { updateMany: { filter: {}, update: { $inc: { value: 1 } } } }
  ]
  await db.bulkWrite(operations, { let: { value: 4 } })
  await db.updateOne({ _id: 1 }, stages, { let: { unused: 1 } })
  await db.updateMany({}, [{ $set: { value: { $add: ['$value', 1] } } }] as const)
  const after: Reading | null = await db.findOneAndUpdate({}, stages, { returnDocument: 'after' })
  assert.is(after?.value, 8)
})

test('collections of an interface type can be used beside others, and such a database can be copied', async () => {
  await using db = await open('typed', { store: 'memory' })
  const readings = db.collection<Reading>('readings')
  await readings.insertOne({ sensor: 'a', value: 1 })
  assert.equal(await sensors(readings), ['a'])
  await using typed = await open<Reading>('typed', { store: 'memory' })
  await using copy = await open<Reading>('copy', { store: 'memory' })
  await typed.insertOne({ sensor: 'b', value: 1 })
  assert.is((await copyDatabase(typed, copy)).documents, 1)
})

test('a sort is type-checked: paths with their directions, in every form', async () => {
  await using db = await open<Reading>('typed', { store: 'memory' })
  await db.insertMany([1, 2, 3].map((_id) => ({ _id, sensor: 'a', value: -_id })))
  const specs: readonly SortSpec[] = [
    'value',
    { value: 1 },
    { value: 'asc', sensor: 'descending' },
    [['value', 1]],
    ['value', 1],
    ['value', 'sensor'],
    new Map([['value', 1 as const]])
  ]
  for (const sort of specs) assert.is((await db.findOne({}, { sort }))?._id, 3)
  assert.is(await db.createIndex(['value', 'sensor']), 'value_1_sensor_1')
  assert.is((await db.find().sort('value', 'desc').next())?._id, 1)
  const wrong = [
    // @ts-expect-error: no direction
    () => db.findOne({}, { sort: { value: 'down' } }),
    // @ts-expect-error: no path
    () => db.findOneAndDelete({}, { sort: 5 }),
    // @ts-expect-error: nor here
    () => db.find().sort({ value: true }).next(),
    // @ts-expect-error: a pair has two elements
    () => db.findOne({}, { sort: [['value', 1, 2]] })
  ]
  for (const call of wrong) await rejects(call(), 'BadValue')
})

test('filters and updates know the fields of a collection, and take any dotted path as well', async () => {
  await using db = await open<Reading>('typed', { store: 'memory' })
  await db.insertMany([
    { _id: 1, sensor: 'a', value: 3 },
    { _id: 2, sensor: 'b', value: 4 }
  ])
  const known: Filter<Reading> = { $or: [{ sensor: 'a' }, { value: { $gt: 3 } }], $nor: [{ 'not.known': 1 }] }
  assert.is(await db.countDocuments(known), 2)
  // A filter made for any documents can be used.
  const any: Filter = { sensor: 'a' }
  const written: Record<string, unknown> = { sensor: { $in: ['a'] } }
  for (const filter of [any, written]) assert.is(await db.countDocuments(filter), 1)
  await db.updateOne({ sensor: 'a' }, { $inc: { value: 1 }, $set: { 'not.known': 2 }, $unset: { other: '' } })
  const update: UpdateSpec = { $set: { sensor: 'c' } }
  await db.updateOne(any, update)
  assert.equal(await db.get(1), { _id: 1, sensor: 'c', value: 4, not: { known: 2 } })
  // @ts-expect-error -- operators that combine filters take lists of them
  await rejects(db.countDocuments({ $and: 5 }), 'BadValue')
  // @ts-expect-error -- an update operator takes paths
  await rejects(db.updateOne({}, { $set: 5 }), 'FailedToParse')
})

test('events of a change stream know the documents and the type of their _id', async () => {
  await using db = await open<Reading>('typed', { store: 'memory' })
  const untyped = db.collection<Wanted>('untyped')
  await using changes = db.watch([], { fullDocument: 'updateLookup', fullDocumentBeforeChange: 'whenAvailable' })
  await using others = untyped.watch()
  await db.insertOne({ _id: 1, sensor: 'a', value: 3 })
  await db.updateOne({ _id: 1 }, { $inc: { value: 1 } })
  await db.deleteOne({ _id: 1 })
  await untyped.insertOne({ _id: 'x', lang: 'de' })
  const ids: number[] = []
  for (let change = await changes.tryNext(); change !== null; change = await changes.tryNext()) {
    if ('documentKey' in change) ids.push(change.documentKey._id)
    if (change.operationType === 'insert') ids.push(change.fullDocument._id)
    if (change.operationType === 'update') ids.push(change.fullDocument?._id ?? 0)
    if (change.operationType === 'delete') ids.push(change.fullDocumentBeforeChange?._id ?? 0)
  }
  assert.equal(ids, [1, 1, 1, 1, 1, 1])
  const other = await others.next()
  // An _id that the type does not declare may be anything.
  const id: unknown = other.operationType === 'insert' && other.fullDocument._id
  assert.is(id, 'x')
})

interface Tweet {
  lang: string
  user: { id: number; tags: string[] }
  at?: Date
}

interface Wanted {
  lang?: string
}

/** A field that is known only where the function is called. */
async function countBy<T extends object>(collection: Collection<T>, field: keyof T & string, value: unknown) {
  const filter: Filter<T> = {}
  filter[field] = value as never
  return [await collection.countDocuments(filter), await collection.countDocuments({ [field]: value })]
}

test('filters and updates may be variables of an interface type, and be built step by step', async () => {
  await using db = await open<Tweet>('typed', { store: 'memory' })
  // An _id that the type does not declare.
  await db.insertOne({ _id: 1, lang: 'de', user: { id: 7, tags: ['x'] } })
  await db.insertMany([{ lang: 'en', user: { id: 8, tags: [] }, at: new Date(0) }])
  await db.bulkWrite([
    { insertOne: { document: { _id: 2, lang: 'nl', user: { id: 9, tags: [] } } } },
    { deleteOne: { filter: { _id: 2 } } }
  ])
  const wanted: Wanted = { lang: 'de' }
  const partial: Partial<Tweet> = { lang: 'de' }
  const whole: Tweet = { lang: 'de', user: { id: 7, tags: ['x'] } }
  for (const filter of [wanted, partial, whole]) assert.is(await db.countDocuments(filter), 1)
  const filter: Filter<Tweet> = {}
  filter.lang = { $in: ['de'] }
  filter['user.id'] = 7
  filter.$or = [{ 'user.tags': 'x' }, wanted]
  assert.is((await db.findOne(filter))?._id, 1)
  assert.equal(await countBy(db, 'lang', 'en'), [1, 1])
  const update: UpdateSpec<Tweet> = {}
  update.$set = partial
  update.$push = { 'user.tags': { $each: ['y'] } }
  await db.updateOne(filter, update)
  await db.updateMany({ lang: 'en' }, { $set: partial, $unset: { at: '' } })
  const written: Record<string, unknown> = { $set: { lang: 'fr' } }
  await db.updateMany({}, written)
  assert.equal(await db.distinct('lang'), ['fr'])
})

test('found documents have an _id, and obvious mistakes are refused', async () => {
  await using db = await open<Tweet>('typed', { store: 'memory' })
  await db.insertOne({ _id: 'a', lang: 'de', user: { id: 7, tags: [] } })
  const [found] = await db.find().toArray()
  const id: unknown = found?._id
  assert.is(id, 'a')
  const asGiven: Tweet | null = await db.findOne({ _id: id })
  assert.is(asGiven?.lang, 'de')
  const wrong: readonly [call: () => Promise<unknown>, codeName: Parameters<typeof rejects>[1]][] = [
    // @ts-expect-error: no operator
    [() => db.updateOne({}, { $ste: { lang: 'en' } }), 'FailedToParse'],
    // @ts-expect-error: a document, where replaceOne() is meant
    [() => db.updateOne({}, { lang: 'en' }), 'BadValue'],
    // @ts-expect-error: neither is a list a filter
    [() => db.find([{ lang: 'en' }]).toArray(), 'TypeMismatch'],
    // @ts-expect-error: nor a date
    [() => db.find(new Date()).toArray(), 'TypeMismatch'],
    // @ts-expect-error: a condition is a function
    [() => db.find({ $where: 5 }).toArray(), 'BadValue']
  ]
  for (const [call, codeName] of wrong) await rejects(call(), codeName)
  // @ts-expect-error: languages are texts
  await db.updateOne({}, { $set: { lang: 4 } })
})

type Shape = { kind: 'circle'; radius: number } | { kind: 'rectangle'; width: number; height: number }

test('a replacement has all fields of one type of a union, with or without its _id', async () => {
  await using db = await open<Shape & { _id: number }>('typed', { store: 'memory' })
  const circle = { kind: 'circle', radius: 1 } as const
  await db.insertOne({ _id: 1, ...circle })
  await db.replaceOne({ _id: 1 }, { _id: 1, kind: 'circle', radius: 2 })
  await db.findOneAndReplace({ _id: 1 }, { kind: 'rectangle', width: 2, height: 3 })
  await db.bulkWrite([{ replaceOne: { filter: { _id: 1 }, replacement: circle } }])
  assert.equal(await db.get(1), { _id: 1, ...circle })
  // @ts-expect-error: a circle has a radius
  await db.replaceOne({ _id: 1 }, { kind: 'circle' })
  // @ts-expect-error: and no width
  await db.findOneAndReplace({ _id: 1 }, { kind: 'circle', width: 2, height: 3 })
  // @ts-expect-error: a rectangle has a height
  await db.bulkWrite([{ replaceOne: { filter: { _id: 1 }, replacement: { kind: 'rectangle', width: 2 } } }])
})

async function replaceIn<T extends object>(collection: Collection<T>, whole: T, withoutId: WithoutId<T>) {
  await collection.replaceOne({}, whole)
  await collection.replaceOne({}, withoutId)
}

test('a replacement may be of a type that is only known where a function is called', async () => {
  await using db = await open<Reading>('typed', { store: 'memory' })
  await db.insertOne({ _id: 1, sensor: 'a', value: 1 })
  await replaceIn(db, { _id: 1, sensor: 'b', value: 2 }, { sensor: 'c', value: 3 })
  assert.equal(await db.get(1), { _id: 1, sensor: 'c', value: 3 })
})

/** As in a library that emits declarations: they name the types of the arguments that it passes on. */
function insertInto<T extends object>(collection: Collection<T>): (document: MayHaveId<T>) => Promise<InsertOneResult> {
  return (document) => collection.insertOne(document)
}

function summaryOf({ choices, taken, ground }: TuneResult): [TuneGround, TunePrediction, TuneMeasurement] {
  const { predicted, measured } = choices[taken]!
  return [ground, predicted, measured]
}

test('the types of arguments and results that are passed on have exported names', async () => {
  await using db = await open<Tweet>('typed', { store: 'memory' })
  const insert = insertInto(db)
  for (let id = 0; id < 256; id++) await insert({ _id: id, lang: 'de', user: { id, tags: [] } })
  const [ground, predicted, measured] = summaryOf(await db.index.tune({ dryRun: true }))
  assert.type(ground, 'string')
  assert.ok(predicted.bytesPerDocument > 0 && measured.bytesPerDocument > 0)
})

test.run()
