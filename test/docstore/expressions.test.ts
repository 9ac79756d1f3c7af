/** Expressions in finds: `$expr` in filters, computed fields, and the positional `$` of projections. */
import { MinKey } from 'bson'
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { type Database, type Document, open } from '../../src/index.ts'
import { rejects, scratchPath } from './scratch.ts'

const documents: readonly Document[] = Array.from({ length: 400 }, (_, i) => ({
  _id: i,
  spent: i % 37,
  budget: i % 11,
  user: { name: `u${i % 50}`, langs: i % 3 === 0 ? ['en', 'de'] : ['fr'] },
  marks: [
    { of: 'x', mark: i % 7 },
    { of: 'y', mark: i % 5 }
  ]
}))

async function withDocuments(run: (db: Database) => Promise<void>): Promise<void> {
  for (const open of openings) {
    const db = await open()
    try {
      await db.insertMany(structuredClone(documents))
      await run(db)
    } finally {
      await db.close()
    }
  }
}

const openings = [
  () => open('memory', { store: 'memory', index: { segmentBits: 512 } }),
  () => open(scratchPath(), { index: { segmentBits: 512 } })
]

const overspent = { $expr: { $gt: ['$spent', '$budget'] } }
const isOverspent = (document: Document): boolean => (document.spent as number) > (document.budget as number)
const ids = (found: readonly Document[]): unknown[] => found.map(({ _id }) => _id)

test('$expr compares fields of a document with each other, in every kind of read', () =>
  withDocuments(async (db) => {
    const expected = documents.filter(isOverspent)
    assert.equal(ids(await db.find(overspent).toArray()), ids(expected))
    assert.is(await db.countDocuments(overspent), expected.length)
    assert.equal(await db.findOne(overspent), expected[0])
    assert.equal(
      await db.distinct('spent', overspent),
      [...new Set(expected.map(({ spent }) => spent))].sort((a, b) => Number(a) - Number(b))
    )
    assert.is((await db.paths(overspent)).find(({ path }) => path === 'spent')?.documents, expected.length)
    assert.equal(
      ids(
        await db
          .find({ 'user.name': 'u7', ...overspent })
          .sort({ _id: -1 })
          .limit(2)
          .toArray()
      ),
      ids(expected.filter(({ user }) => (user as Document).name === 'u7').reverse()).slice(0, 2)
    )
    assert.equal(
      ids(await db.find({ $nor: [overspent] }).toArray()),
      ids(documents.filter((each) => !isOverspent(each)))
    )
    assert.equal(
      ids(await db.find({ $or: [overspent, { _id: 0 }] }).toArray()),
      ids(documents.filter((each) => each._id === 0 || isOverspent(each)))
    )
    const { index, executionStats } = await db.find(overspent).explain()
    assert.equal(index.unbounded, ['$expr'])
    assert.is(executionStats.nReturned, expected.length)
  }))

test('comparisons with constants are narrowed down by the index', () =>
  withDocuments(async (db) => {
    const filter = {
      $expr: { $and: [{ $eq: ['$user.name', '$$who'] }, { $lt: ['$spent', 9] }, { $ne: ['$budget', '$spent'] }] }
    }
    const found = await db.find(filter, { let: { who: 'u7' } }).toArray()
    const isWanted = ({ user, spent, budget }: Document): boolean =>
      (user as Document).name === 'u7' && (spent as number) < 9 && spent !== budget
    assert.equal(found, documents.filter(isWanted))
    const { index } = await db.find(filter, { let: { who: 'u7' } }).explain()
    assert.ok(index.candidates <= 8, `${index.candidates} candidates`)
    assert.equal(ids(await db.find({ $expr: { $eq: ['$_id', 5] } }).toArray()), [5])
    assert.is((await db.find({ $expr: { $eq: ['$_id', 5] } }).explain()).index.documentsFetched, 1)
  }))

test('writes take $expr, and run in the order of the calls', () =>
  withDocuments(async (db) => {
    const expected = documents.filter(isOverspent).length
    const updating = db.updateMany(overspent, { $set: { isOver: true } })
    const inserting = db.insertOne({ _id: 'late', spent: 9, budget: 1 })
    const deleting = db.deleteMany({ $expr: { $eq: [{ $mod: ['$spent', 2] }, 1] } })
    assert.is((await updating).modifiedCount, expected)
    await inserting
    assert.is((await deleting).deletedCount, documents.filter(({ spent }) => (spent as number) % 2 === 1).length + 1)
    assert.is(
      await db.countDocuments({ isOver: true }),
      documents.filter((each) => isOverspent(each) && (each.spent as number) % 2 === 0).length
    )
    const changed = await db.findOneAndUpdate(
      { $expr: { $eq: [{ $strLenCP: '$user.name' }, 3] } },
      { $set: { long: true } },
      { returnDocument: 'after' }
    )
    assert.is(changed?.long, true)
    await db.updateOne({ ...overspent, 'marks.of': 'y' }, { $set: { 'marks.$.mark': 99 } })
    assert.is(await db.countDocuments({ marks: { $elemMatch: { of: 'y', mark: 99 } } }), 1)
  }))

test('a malformed expression is refused before a document is read, even without a collection', () =>
  withDocuments(async (db) => {
    for (const collection of [db, db.collection('none')]) {
      const unknown = { $expr: { $there: ['$a', 1] } }
      const calls: (() => Promise<unknown>)[] = [
        () => collection.find(unknown).toArray(),
        () => collection.findOne(unknown),
        () => collection.countDocuments(unknown),
        () => collection.distinct('a', unknown),
        () => collection.paths(unknown),
        () => collection.find(unknown).explain()
      ]
      for (const call of calls)
        assert.match((await rejects(call(), 'InvalidPipelineOperator')).message, /^\$expr: .*\$there/)
      await rejects(collection.find({ $expr: '$$nobody' }).toArray(), 'FailedToParse')
      await rejects(
        collection
          .find({ a: 1 }, { let: { Big: 1 } })
          .toArray()
          .then(() => collection.find({ $expr: '$$Big' }, { let: { Big: 1 } }).toArray()),
        'BadValue'
      )
    }
    await rejects(db.deleteMany({ $expr: { $there: 1 } }), 'InvalidPipelineOperator')
    await rejects(db.updateOne({ $and: [overspent] }, { $set: { a: 1 } }, { upsert: true }), 'BadValue')
    await rejects(db.find({ a: { $elemMatch: { $expr: true } } }).toArray(), 'BadValue')
    const failing = await rejects(db.find({ $expr: { $divide: ['$spent', '$user'] } }).toArray(), 'BadValue')
    assert.match(failing.message, /^\$expr: /)
    assert.is(await db.countDocuments(), documents.length)
  }))

test('a cursor sees the state at its first pull, even if operators have to be loaded first', () =>
  withDocuments(async (db) => {
    const reading = db.find({ $expr: { $gte: [{ $abs: '$_id' }, 398] } }).toArray()
    const deleting = db.deleteMany({})
    assert.equal(ids(await reading), [398, 399])
    await deleting
  }))

test('a projection can compute fields and keep others', () =>
  withDocuments(async (db) => {
    const project = async (projection: Document): Promise<unknown> => db.findOne({ _id: 3 }, { projection })
    assert.equal(await project({ spent: 1, left: { $subtract: ['$budget', '$spent'] } }), { _id: 3, spent: 3, left: 0 })
    assert.equal(await project({ _id: 0, name: '$user.name' }), { name: 'u3' })
    assert.equal(await project({ n: { $literal: 1 }, 'user.first': { $first: '$user.langs' } }), {
      _id: 3,
      n: 1,
      user: { first: 'en' }
    })
    assert.equal(await project({ user: { name: 1, count: { $size: '$user.langs' } } }), {
      _id: 3,
      user: { name: 'u3', count: 2 }
    })
    assert.equal(await project({ marks: { $slice: 1 }, all: { $size: '$marks' } }), {
      _id: 3,
      marks: [{ of: 'x', mark: 3 }],
      all: 2
    })
    assert.equal(await project({ marks: { $elemMatch: { of: 'y' } }, here: 'now' }), {
      _id: 3,
      marks: [{ of: 'y', mark: 3 }],
      here: 'now'
    })
    assert.equal(await project({ none: '$nothing' }), { _id: 3 })
    // The expression operator, because its first argument is not a number.
    assert.equal(await project({ langs: { $slice: ['$user.langs', 1] }, last: { $slice: ['$user.langs', 1, 1] } }), {
      _id: 3,
      langs: ['en'],
      last: ['de']
    })
    assert.equal(await project({ 'user.name': 1, 'user.langs': { $slice: [['x', 'y'], -1] } }), {
      _id: 3,
      user: { name: 'u3', langs: ['y'] }
    })
    const returned = await db.findOneAndUpdate(
      { _id: 3 },
      { $inc: { spent: 1 } },
      { projection: { _id: 0, twice: { $add: ['$spent', '$spent'] } }, returnDocument: 'after' }
    )
    assert.equal(returned, { twice: 8 })
    const rows = await db
      .find({ spent: 5 })
      .sort({ _id: 1 })
      .limit(2)
      .project({ _id: 0, tens: { $multiply: ['$_id', 10] } })
      .toArray()
    assert.equal(rows, [{ tens: 50 }, { tens: 420 }])
  }))

test('a contradictory projection is refused', () =>
  withDocuments(async (db) => {
    const refuses = async (
      projection: Document,
      code: Parameters<typeof rejects>[1],
      message: RegExp
    ): Promise<void> => {
      assert.match((await rejects(db.find({}, { projection }).toArray(), code)).message, message)
    }
    await refuses({ a: 0, b: '$c' }, 'BadValue', /inclusion on field b in exclusion/)
    await refuses({ b: '$c', a: 0 }, 'BadValue', /exclusion on field a in inclusion/)
    await refuses({ 'a.b': 1, a: '$c' }, 'BadValue', /collision at 'a'/)
    await refuses({ a: '$b', 'a.c': '$c' }, 'BadValue', /collision at 'a\.c'/)
    await refuses({ 'a.b': 1, a: { b: '$c' } }, 'BadValue', /collision at 'a\.b'/)
    await refuses({ 'a.b': '$c', a: { b: '$c' } }, 'BadValue', /collision at 'a\.b'/)
    await refuses({ 'a.__proto__': '$c' }, 'BadValue', /__proto__/)
    await refuses({ a: undefined }, 'BadValue', /^projection: undefined is not a value; use \$\$REMOVE/)
    await refuses({ a: ['$b', undefined] }, 'BadValue', /^projection: undefined/)
    await refuses({ a: () => 1 }, 'BadValue', /^projection: a value of type function cannot be stored in a document/)
    await refuses({ a: new Map() }, 'BadValue', /^projection: a value of type Map/)
    await refuses({ a: { $literal: { b: [new Set()] } } }, 'BadValue', /^projection: a value of type Set/)
    await refuses({ a: { $slice: [1] } }, 'BadValue', /\$slice at 'a' takes a number or \[skip, limit > 0\]/)
    await refuses({ a: { $slice: ['$spent', 1] } }, 'BadValue', /^projection: \$slice/)
    await refuses({ a: { $there: 1 } }, 'InvalidPipelineOperator', /^projection: .*\$there/)
    await refuses({ a: { $add: [1], $subtract: [1, 1] } }, 'FailedToParse', /^projection: /)
    await refuses({ a: { $meta: 'textScore' } }, 'CommandNotSupported', /\$meta/)
    await refuses({ a: '$$nobody' }, 'FailedToParse', /\$\$nobody/)
  }))

test('the positional $ keeps the element that the filter matched', () =>
  withDocuments(async (db) => {
    const read = (filter: Document, projection: Document): Promise<unknown> => db.findOne(filter, { projection })
    assert.equal(await read({ _id: 3, 'marks.of': 'y' }, { 'marks.$': 1 }), { _id: 3, marks: [{ of: 'y', mark: 3 }] })
    assert.equal(await read({ _id: 3, 'user.langs': 'de' }, { 'user.langs.$': true, _id: 0 }), {
      user: { langs: ['de'] }
    })
    assert.equal(await read({ _id: 3, marks: { $elemMatch: { mark: 3, of: 'y' } } }, { 'marks.mark.$': 1 }), {
      _id: 3,
      marks: [{ mark: 3 }]
    })
    assert.equal(await read({ _id: 3 }, { 'spent.$': 1 }), { _id: 3, spent: 3 })
    assert.equal(await read({ _id: 3, 'marks.of': 'y' }, { 'marks.$': 1, n: { $size: '$marks' } }), {
      _id: 3,
      marks: [{ of: 'y', mark: 3 }],
      n: 2
    })
    await rejects(read({ _id: 3 }, { 'marks.$': 1 }), 'BadValue')
    await rejects(read({ marks: 1 }, { 'marks.$': 1, 'user.langs.$': 1 }), 'BadValue')
    await rejects(read({ marks: 1 }, { 'marks.$': 0 }), 'BadValue')
    await rejects(read({ 'marks.of': 'y' }, { 'marks.$': 1, tags: { $elemMatch: { $eq: 'x' } } }), 'BadValue')
    const change = { $set: { 'marks.$.mark': 50 } }
    assert.equal(await db.findOneAndUpdate({ _id: 3, 'marks.of': 'y' }, change, { projection: { 'marks.$': 1 } }), {
      _id: 3,
      marks: [{ of: 'y', mark: 3 }]
    })
    await rejects(
      db
        .findOneAndUpdate({ _id: 3, 'marks.of': 'y' }, change, {
          projection: { 'marks.$': 1 },
          returnDocument: 'after'
        })
        .then(
          () => undefined,
          (error: unknown) => Promise.reject(error)
        ),
      'BadValue'
    )
  }))

test('if no array element satisfies all conditions on the array, $ means the first that satisfies any', () =>
  withDocuments(async (db) => {
    await db.insertOne({ _id: 'p', a: [0, 9, 7], tags: ['x', 'y', 'z'] })
    const read = (filter: Document, path: string): Promise<unknown> =>
      db.findOne({ _id: 'p', ...filter }, { projection: { _id: 0, [path]: 1 } })
    assert.equal(await read({ a: { $size: 3, $gte: 7, $lt: 9 } }, 'a.$'), { a: [7] })
    assert.equal(await read({ a: { $gt: 8, $lt: 5 } }, 'a.$'), { a: [0] })
    assert.equal(await read({ tags: { $ne: 'q', $all: ['z', 'y'] } }, 'tags.$'), { tags: ['y'] })
    assert.equal(await read({ tags: { $all: [/Y/i, 'z'], $regex: 'Z', $options: 'i' } }, 'tags.$'), { tags: ['z'] })
    await rejects(read({ tags: { $size: 3 } }, 'tags.$'), 'BadValue')
    await rejects(read({ tags: { $ne: 'q' }, a: 0 }, 'tags.$'), 'BadValue')
    await db.updateOne({ tags: { $all: ['z', 'y'] } }, { $set: { 'tags.$': 'Y' } })
    assert.equal((await db.get('p'))?.tags, ['x', 'Y', 'z'])
  }))

test('a projection that fails does so before anything is written', () =>
  withDocuments(async (db) => {
    const before = await db.get(0)
    const dividing = { projection: { x: { $divide: [1, '$spent'] } } }
    await rejects(db.findOneAndUpdate({ _id: 0 }, { $set: { w: 1 } }, dividing), 'BadValue')
    await rejects(db.findOneAndReplace({ _id: 0 }, { w: 1 }, dividing), 'BadValue')
    await rejects(db.findOneAndDelete({ _id: 0 }, dividing), 'BadValue')
    await rejects(db.findOneAndDelete({ _id: 0 }, { projection: { 'marks.$': 1 } }), 'BadValue')
    const nested = { projection: { user: { 'langs.$': 1 } }, returnDocument: 'after' } as const
    await rejects(db.findOneAndUpdate({ _id: 0, 'user.langs': 'en' }, { $set: { w: 1 } }, nested), 'BadValue')
    assert.equal(await db.get(0), before)
    const upserting = { ...dividing, upsert: true, returnDocument: 'after' } as const
    const none = { _id: 'none', spent: 0 }
    const count = await db.countDocuments()
    await rejects(db.findOneAndUpdate(none, { $set: { w: 1 } }, upserting), 'BadValue')
    await rejects(db.findOneAndReplace({ w: 'none' }, { spent: 0 }, upserting), 'BadValue')
    assert.is(await db.countDocuments(), count)
    assert.equal(await db.findOneAndDelete({ _id: 37 }, { projection: { _id: 1 } }), { _id: 37 })
  }))

test('later changes to a filter have no effect, even in the same turn', () =>
  withDocuments(async (db) => {
    const filter: { _id: Document } = { _id: {} }
    const calls: Promise<unknown>[] = []
    for (const $lt of [1, 2, 3]) {
      filter._id = { $lt }
      calls.push(
        db.countDocuments(filter),
        db.distinct('_id', filter),
        db.paths(filter).then((paths) => paths[0]?.documents)
      )
    }
    assert.equal(await Promise.all(calls), [1, [0], 1, 2, [0, 1], 2, 3, [0, 1, 2], 3])
  }))

test('$function and $where get copies: changing them changes no document', () =>
  withDocuments(async (db) => {
    const body = (user: Document): boolean => {
      const isWanted = user.name === 'u7'
      user.name = 'changed'
      return isWanted
    }
    const filter = { $expr: { $function: { body, args: ['$user'], lang: 'js' } } }
    const expected = documents.filter(({ user }) => (user as Document).name === 'u7')
    for (let i = 0; i < 2; i++) assert.is(await db.countDocuments(filter), expected.length)
    assert.equal(await db.find({ 'user.name': 'u7' }).toArray(), expected)
    await rejects(db.find({ a: { $eq: body } }).toArray(), 'BadValue')
    const spoil = (document: Document): boolean => {
      document._id = 8
      return true
    }
    const spoiling = function (this: unknown): boolean {
      return spoil(this as Document)
    }
    const pushing = (list: unknown[]): unknown[] => {
      list.push('x')
      return list
    }
    const spoilt = { $function: { body: spoil, args: ['$$ROOT'], lang: 'js' } }
    assert.is((await db.updateOne({ _id: 7, $where: spoiling }, { $set: { w: 1 } })).modifiedCount, 1)
    assert.is((await db.updateOne({ _id: 7 }, [{ $set: { x: spoilt } }])).modifiedCount, 1)
    assert.is((await db.deleteOne({ _id: 9, $where: spoiling })).deletedCount, 1)
    await db
      .aggregate([
        { $match: { _id: 7, $where: spoiling } },
        { $merge: { into: db.collectionName, whenMatched: [{ $set: { y: spoilt } }] } }
      ])
      .toArray()
    const push = { $function: { body: pushing, args: ['$user.langs'], lang: 'js' } }
    assert.is((await db.updateOne({ _id: 6 }, [{ $set: { 'user.langs': push } }])).modifiedCount, 1)
    assert.equal(await db.get(6), { ...documents[6], user: { name: 'u6', langs: ['en', 'de', 'x'] } })
    assert.equal(await db.get(7), { ...documents[7], w: 1, x: true, y: true })
    assert.equal(await db.get(8), documents[8])
    assert.is(await db.get(9), undefined)
    assert.equal((await db.verify()).problems, [])
  }))

test('only MinKey sorts before missing', () =>
  withDocuments(async (db) => {
    assert.is(await db.countDocuments({ $expr: { $lt: [new MinKey(), '$nothing'] } }), documents.length)
    assert.is(await db.countDocuments({ $expr: { $lt: ['$nothing', null] } }), documents.length)
  }))

test.run()
