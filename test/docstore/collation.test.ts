/**
 * Reads and writes with a collation give what comparing every document by it gives, whatever indexes exist, and explain
 * what is not indexed.
 */
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { type Collation, type Database, type Document, open, PetalError } from '../../src/index.ts'
import { compareValues } from '../../src/model/compare.ts'
import { testSeed } from '../support/arbitraries.ts'
import { randomFrom } from '../support/random.ts'
import { scratchPath } from './scratch.ts'

const random = randomFrom(testSeed())
const below = (limit: number): number => Math.floor(random() * limit)
const withoutCase: Collation = { locale: 'en', strength: 2 }
const names = ['anna', 'Anna', 'ANNA', 'bert', 'Bert', 'carla', 'CARLA', 'zoe', 'Zoe']

function person(i: number): Document {
  const name = names[below(names.length)]!
  return {
    _id: i % 3 === 0 ? `Id ${i}` : `id ${i}`,
    name,
    code: Array.from({ length: 4 }, () => 'abcdXYZ'[below(7)]).join(''),
    at: below(2000),
    tags: [name, names[below(names.length)]],
    ...(i % 7 === 0 && { home: { city: i % 2 === 0 ? 'Ulm' : 'ulm' } })
  }
}

const people = Array.from({ length: 2500 }, (_, i) => person(i))

async function filled(index?: 'none'): Promise<Database> {
  const db = await open(scratchPath(), { index: index ?? { segmentBits: 512, rangeCodes: 'all' } })
  await db.insertMany(people)
  return db
}

const small = (value: unknown): string => String(value).toLowerCase()
const idsOf = (documents: readonly Document[]): unknown[] => documents.map(({ _id }) => _id)

const questions: readonly (readonly [filter: Document, matches: (person: Document) => boolean])[] = [
  [{ name: 'anna' }, ({ name }) => small(name) === 'anna'],
  [{ name: { $ne: 'ANNA' } }, ({ name }) => small(name) !== 'anna'],
  [{ name: { $in: ['BERT', 'zoe', 'nobody', 5] } }, ({ name }) => ['bert', 'zoe'].includes(small(name))],
  [{ name: { $gte: 'BERT', $lt: 'Zoe' } }, ({ name }) => ['bert', 'carla'].includes(small(name))],
  [{ tags: 'CARLA' }, ({ tags }) => (tags as string[]).some((tag) => small(tag) === 'carla')],
  [
    { tags: { $all: ['anna', 'BERT'] } },
    ({ tags }) => ['anna', 'bert'].every((name) => (tags as string[]).some((tag) => small(tag) === name))
  ],
  [{ home: { city: 'ULM' } }, ({ home }) => home !== undefined],
  [{ 'home.city': { $exists: false }, name: 'zoe' }, ({ home, name }) => home === undefined && small(name) === 'zoe'],
  [{ _id: 'ID 2' }, ({ _id }) => _id === 'id 2'],
  [{ _id: { $in: ['ID 3', 'ID 4'] } }, ({ _id }) => _id === 'Id 3' || _id === 'id 4'],
  [{ at: { $lt: 100 }, name: 'Anna' }, ({ at, name }) => Number(at) < 100 && small(name) === 'anna'],
  [{ name: /^a/ }, ({ name }) => String(name).startsWith('a')]
]

test('finds and counts, with declared indexes and without any index', async () => {
  const [db, scanning] = [await filled(), await filled('none')]
  for (const isDeclared of [false, true]) {
    if (isDeclared) await db.createIndex({ name: 1, at: 1 })
    for (const [filter, matches] of questions) {
      const expected = idsOf(people.filter(matches))
      const shown = JSON.stringify(filter)
      assert.ok(expected.length > 0, shown)
      for (const each of [db, scanning]) {
        assert.equal(idsOf(await each.find(filter, { collation: withoutCase }).toArray()), expected, shown)
        assert.equal(idsOf(await each.find(filter).collation(withoutCase).toArray()), expected, shown)
        assert.is(await each.countDocuments(filter, { collation: withoutCase }), expected.length, shown)
      }
    }
  }
  assert.equal(
    idsOf(
      await db
        .find({ name: 'ANNA' }, { collation: withoutCase, hint: { name: 1, at: 1 } })
        .sort({ _id: 1 })
        .toArray()
    ).length,
    people.filter(({ name }) => small(name) === 'anna').length
  )
  await db.close()
  await scanning.close()
})

test('sorts, with and without a limit, by paths that indexes hold in another order', async () => {
  const db = await filled()
  const order = new Intl.Collator('en', { sensitivity: 'accent', numeric: true }).compare
  const collation: Collation = { ...withoutCase, numericOrdering: true }
  const sortings: readonly Record<string, 1 | -1>[] = [
    { name: 1, at: 1 },
    { code: 1, _id: 1 },
    { code: -1, _id: 1 },
    { _id: 1 },
    { _id: -1 },
    { at: -1, name: 1 },
    { 'home.city': 1, _id: 1 }
  ]
  for (const isDeclared of [false, true]) {
    if (isDeclared) await db.createIndex({ name: 1, at: 1 })
    for (const sort of sortings) {
      const at = (document: Document, path: string): unknown =>
        path.split('.').reduce<unknown>((value, key) => (value as Document | undefined)?.[key], document) ?? null
      const expected = [...people].sort((a, b) => {
        for (const [path, direction] of Object.entries(sort)) {
          const difference = compareValues(at(a, path), at(b, path), order)
          if (difference !== 0) return difference * direction
        }
        return 0
      })
      const shown = JSON.stringify(sort)
      assert.equal(idsOf(await db.find({}, { sort, collation }).toArray()), idsOf(expected), shown)
      assert.equal(
        idsOf(await db.find({}, { sort, collation, limit: 20 }).toArray()),
        idsOf(expected.slice(0, 20)),
        shown
      )
    }
  }
  await db.close()
})

test('distinct() returns the first of the values that are equal', async () => {
  const db = await filled()
  const first = new Map<string, unknown>()
  for (const { name } of people) if (!first.has(small(name))) first.set(small(name), name)
  const found = await db.distinct('name', {}, { collation: withoutCase })
  assert.equal(
    found,
    ['anna', 'bert', 'carla', 'zoe'].map((name) => first.get(name))
  )
  assert.is((await db.distinct('name')).length, names.length)
  await db.close()
})

test('writes select their documents by it', async () => {
  const db = await filled()
  const [annas, berts] = ['anna', 'bert'].map((wanted) => people.filter(({ name }) => small(name) === wanted).length)
  const updated = await db.updateMany(
    { name: 'aNNa' },
    { $set: { seen: true }, $addToSet: { tags: 'ANNA' } },
    { collation: withoutCase }
  )
  assert.is(updated.matchedCount, annas)
  assert.is(await db.countDocuments({ seen: true }), annas)
  const tagged = await db.find({ seen: true }).toArray()
  assert.ok(
    tagged.every(({ tags }) => (tags as string[]).length === 2),
    'every one had such a tag'
  )
  const oldest = await db.findOneAndUpdate(
    { name: 'BERT' },
    { $set: { first: 1 } },
    { sort: { _id: 1 }, collation: { locale: 'en', strength: 2, numericOrdering: true } }
  )
  assert.is(oldest?._id, people.find(({ name }) => small(name) === 'bert')?._id)
  const result = await db.bulkWrite([
    { updateOne: { filter: { _id: 'ID 5' }, update: { $set: { x: 1 } }, collation: withoutCase } },
    { replaceOne: { filter: { _id: 'ID 6' }, replacement: { x: 2 }, collation: withoutCase } },
    { deleteMany: { filter: { name: 'BeRT', x: { $exists: false } }, collation: withoutCase } },
    { deleteOne: { filter: { name: 'BeRT' } } }
  ])
  assert.is(result.modifiedCount, 2)
  assert.ok(result.deletedCount >= Number(berts) - 2)
  assert.is((await db.findOne({ _id: 'Id 6' }))?.x, 2)
  assert.is(await db.countDocuments({ name: 'bert', x: { $exists: false } }, { collation: withoutCase }), 0)
  const upserted = await db.updateOne({ name: 'Dora' }, { $set: { at: 1 } }, { upsert: true, collation: withoutCase })
  assert.is(upserted.upsertedCount, 1)
  assert.is(
    (await db.updateOne({ name: 'DORA' }, { $set: { at: 2 } }, { upsert: true, collation: withoutCase })).matchedCount,
    1
  )
  await db.close()
})

test('explain() says that no index supports it, and which documents have to be read', async () => {
  const db = await filled()
  const explanation = await db.find({ 'home.city': 'ULM' }, { collation: withoutCase }).explain()
  const homes = people.filter(({ home }) => home !== undefined).length
  assert.is(explanation.executionStats.totalDocsExamined, homes)
  assert.match(JSON.stringify(explanation), 'a collation at home.city')
  await db.close()
})

test('pipelines filter and sort by it, in leading and later stages', async () => {
  const db = await filled()
  const collation: Collation = { ...withoutCase, numericOrdering: true }
  const annas = people.filter(({ name }) => small(name) === 'anna')
  const order = new Intl.Collator('en', { sensitivity: 'accent', numeric: true }).compare
  const sorted = [...annas].sort((a, b) => order(String(a._id), String(b._id)))
  for (const before of [[], [{ $unwind: { path: '$home', preserveNullAndEmptyArrays: true } }], [{ $set: { x: 1 } }]]) {
    const pipeline = [
      ...before,
      { $match: { name: 'ANNA' } },
      { $sort: { _id: 1 } },
      { $limit: 30 },
      { $project: { name: 1 } }
    ]
    const found = await db.aggregate(pipeline, { collation }).toArray()
    assert.equal(
      found,
      sorted.slice(0, 30).map(({ _id, name }) => ({ _id, name })),
      JSON.stringify(before)
    )
  }
  assert.equal(await db.aggregate([{ $match: { name: 'aNNa' } }, { $count: 'n' }], { collation }).toArray(), [
    { n: annas.length }
  ])
  const [facets] = await db
    .aggregate([{ $facet: { a: [{ $match: { name: 'ANNA' } }, { $count: 'n' }] } }], { collation })
    .toArray()
  assert.equal(facets, { a: [{ n: annas.length }] })
  await db.updateMany({ name: 'ANNA' }, [{ $set: { twice: { $concat: ['$name', '$name'] } } }], { collation })
  assert.is(await db.countDocuments({ twice: 'AnnaANNA' }, { collation }), annas.length)
  const computed = await db.findOne(
    { name: 'ANNA' },
    { collation, projection: { _id: 0, length: { $strLenCP: '$name' } } }
  )
  assert.equal(computed, { length: 4 })
  await db.close()
})

test('expressions that compare by code point are refused, and nothing is written', async () => {
  const db = await open<Document>(scratchPath())
  await db.insertOne({ _id: 1, name: 'Anna' })
  const collation = withoutCase
  const calls: readonly (() => Promise<unknown>)[] = [
    () => db.find({ $expr: { $eq: ['$name', 'anna'] } }, { collation }).toArray(),
    () => db.find({}, { collation, projection: { same: { $cond: [{ $eq: ['$name', 'anna'] }, 1, 2] } } }).toArray(),
    () => db.aggregate([{ $match: { name: 'anna' } }, { $group: { _id: '$name' } }], { collation }).toArray(),
    () => db.aggregate([{ $sortByCount: '$name' }], { collation }).toArray(),
    () => db.aggregate([{ $facet: { a: [{ $group: { _id: '$name' } }] } }], { collation }).toArray(),
    () => db.aggregate([{ $set: { x: { $max: ['$name', 'b'] } } }], { collation }).toArray(),
    () => db.updateMany({}, [{ $set: { name: { $cond: [{ $gt: ['$name', 'a'] }, 'x', 'y'] } } }], { collation }),
    () => db.find({}, { collation: { locale: 'en', strength: 5 } as object as Collation }).toArray()
  ]
  for (const call of calls) {
    try {
      await call()
      assert.unreachable(String(call))
    } catch (error) {
      assert.instance(error, PetalError, `${call}: ${error}`)
      assert.is((error as PetalError).codeName, 'CommandNotSupported', `${call}: ${error}`)
      assert.match((error as PetalError).message, /collation/)
    }
  }
  assert.equal(await db.find().toArray(), [{ _id: 1, name: 'Anna' }])
  await db.close()
})

test.run()
