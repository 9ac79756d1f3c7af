/** $merge: what it leaves in a collection; one shared specification that runs on every store. */
import { setTimeout } from 'node:timers/promises'
import type { Test } from 'uvu'
import * as assert from 'uvu/assert'
import { AbortedError, type AggregationPipeline, type Database, type Document } from '../../src/index.ts'
import { allOf, givenSource, run, source, spin } from './aggregate-write-fixture.ts'
import { rejects } from './scratch.ts'

export function aggregateMergeCases(test: Test, openEmpty: () => Promise<Database>): void {
  const given = givenSource(openEmpty)

  const target: readonly Document[] = [
    { _id: 1, k: 'x', old: 1 },
    { _id: 3, z: 0, k: 'y', old: 3 },
    { _id: 4, k: 'z', old: 4 }
  ]
  const merges: readonly (readonly [merge: Document, gives: readonly Document[]])[] = [
    [
      {},
      [
        { _id: 1, k: 'a', old: 1, n: 1 },
        { _id: 2, k: 'b', n: 2 },
        { _id: 3, z: 0, k: 'c', old: 3, n: 3 },
        { _id: 4, k: 'z', old: 4 }
      ]
    ],
    [{ whenMatched: 'replace' }, [...source, target[2] as Document]],
    [{ whenMatched: 'replace', whenNotMatched: 'discard' }, [source[0], source[2], target[2]] as Document[]],
    [{ whenMatched: 'keepExisting' }, [target[0], source[1], target[1], target[2]] as Document[]],
    [
      { whenMatched: 'merge', whenNotMatched: 'discard' },
      [{ _id: 1, k: 'a', old: 1, n: 1 }, { _id: 3, z: 0, k: 'c', old: 3, n: 3 }, target[2]] as Document[]
    ],
    [
      { whenMatched: [{ $set: { sum: { $add: ['$old', '$$new.n'] } } }, { $unset: 'k' }] },
      [{ _id: 1, old: 1, sum: 2 }, source[1], { _id: 3, z: 0, old: 3, sum: 6 }, target[2]] as Document[]
    ],
    [
      { let: { by: '$n', new: '$$ROOT' }, whenMatched: [{ $replaceWith: { old: '$old', by: '$$by', k: '$$new.k' } }] },
      [{ _id: 1, old: 1, by: 1, k: 'a' }, source[1], { _id: 3, old: 3, by: 3, k: 'c' }, target[2]] as Document[]
    ],
    [
      { whenMatched: [{ $project: { old: 1, is: { $literal: '$k' } } }], whenNotMatched: 'discard' },
      [{ _id: 1, old: 1, is: '$k' }, { _id: 3, old: 3, is: '$k' }, target[2]] as Document[]
    ],
    [{ whenMatched: [], whenNotMatched: 'discard' }, target]
  ]
  for (const [merge, gives] of merges) {
    test(`$merge ${JSON.stringify(merge)}`, () =>
      given(async (db) => {
        await db.collection('into').insertMany(structuredClone(target) as Document[])
        await run(db, { $merge: { into: 'into', ...merge } })
        const found = await allOf(db, 'into')
        assert.equal(found, gives)
        assert.equal(
          found.map((document) => Object.keys(document)),
          gives.map((document) => Object.keys(document))
        )
        assert.equal((await db.verify()).problems, [])
      }))
  }

  test('$merge creates the collection, and names its stage in errors; what was merged before stays', () =>
    given(async (db) => {
      await run(db, { $merge: 'into' })
      assert.equal(await allOf(db, 'into'), source)
      const into = db.collection('into')
      await into.deleteMany({ _id: { $gt: 1 } })
      const failing: readonly (readonly [Document, Parameters<typeof rejects>[1], RegExp, readonly Document[]])[] = [
        [
          { whenMatched: 'replace', whenNotMatched: 'fail' },
          'MergeStageNoMatchingDocument',
          /a document has no match in the target collection/,
          [{ _id: 1, x: 1 }]
        ],
        [{ whenMatched: [{ $set: { _id: 7 } }] }, 'ImmutableField', /_id/, [{ _id: 1 }]],
        [{ whenMatched: [{ $replaceWith: '$none' }] }, 'BadValue', /new root/, [{ _id: 1 }]]
      ]
      for (const [merge, codeName, message, left] of failing) {
        await into.deleteMany({})
        await into.insertOne({ _id: 1 })
        const set = [{ $project: { x: { $literal: 1 } } }, { $merge: { into: 'into', ...merge } }]
        const error = await rejects(db.aggregate(set).toArray(), codeName)
        assert.match(error.message, message)
        assert.match(error.message, /^\$(merge \(stage 1\)|replaceWith \(stage 0 of \$merge\.whenMatched\))/)
        assert.equal(await allOf(db, 'into'), left)
      }
      await into.deleteMany({})
      await into.insertOne({ _id: 3 })
      await rejects(db.aggregate([{ $merge: { into: 'into', whenMatched: 'fail' } }]).toArray(), 'DuplicateKey')
      assert.equal(await allOf(db, 'into'), [source[0], source[1], { _id: 3 }])
    }))

  test('$merge on other fields needs a unique index on exactly these, keeps the _id, compares numbers by value', () =>
    given(async (db) => {
      const into = db.collection('into')
      const on = (fields: unknown, ...stages: AggregationPipeline) =>
        db.aggregate([...stages, { $merge: { into: 'into', on: fields } }]).toArray()
      await into.createIndex({ k: 1 })
      await into.createIndex({ k: 1, n: -1 }, { unique: true })
      assert.match(
        (await rejects(on('k'), 'BadValue')).message,
        /^\$merge \(stage 0\): .*'k' needs a unique index on exactly this field$/
      )
      await rejects(on(['k', 'n', '_id']), 'BadValue')
      await into.insertMany([
        { _id: 'old', k: 'a', n: 1n, kept: true },
        { _id: 'other', k: 'a', n: 5 }
      ])
      await on(['n', 'k'], { $unset: '_id' })
      const found = await into.find({}, { sort: { n: 1 } }).toArray()
      assert.equal(
        found.map(({ _id, ...rest }) => rest),
        [
          { k: 'a', n: 1, kept: true },
          { k: 'b', n: 2 },
          { k: 'c', n: 3 },
          { k: 'a', n: 5 }
        ]
      )
      assert.is(found[0]?._id, 'old')
      assert.match((await rejects(on(['n', 'k']), 'ImmutableField')).message, /^\$merge \(stage 0\)/)
      for (const value of [null, ['a'], '$missing']) {
        const { message } = await rejects(on(['n', 'k'], { $project: { _id: 0, n: 1, k: value } }), 'BadValue')
        assert.match(message, /matched on 'k', which must not be (null|array|missing)/)
      }
      await rejects(db.aggregate([{ $group: { _id: null } }, { $merge: 'into' }]).toArray(), 'BadValue')
    }))

  test('$merge: documents that match the same document apply one by one; arrays match by their elements', () =>
    given(async (db) => {
      const into = db.collection('into')
      await into.createIndex({ 'a.b': 1 }, { unique: true })
      await into.insertOne({ _id: 't', a: [{ b: 1 }, { b: 2 }], sum: 0, seen: [] })
      const change = {
        into: 'into',
        on: 'a.b',
        whenMatched: [{ $set: { sum: { $add: ['$sum', '$$new.n'] }, seen: { $concatArrays: ['$seen', ['$$new.n']] } } }]
      }
      const list = [1, 2, 1, 7, 7, 2].map((b, n) => ({ a: { b }, n, sum: n, seen: [] }))
      await run(db, { $documents: list }, { $merge: change })
      const found = await into.find({}, { sort: { sum: 1 }, projection: { _id: 0, sum: 1, seen: 1 } }).toArray()
      assert.equal(found, [
        { sum: 7, seen: [4] },
        { sum: 8, seen: [0, 1, 2, 5] }
      ])
      // A change may produce the document that the next one matches.
      await into.deleteMany({})
      await into.insertOne({ a: { b: 1 }, steps: 0 })
      const step = {
        ...change,
        whenMatched: [{ $set: { 'a.b': { $add: ['$a.b', 1] }, steps: { $add: ['$steps', 1] } } }]
      }
      await run(db, { $documents: [{ a: { b: 1 } }, { a: { b: 2 } }, { a: { b: 3 } }] }, { $merge: step })
      assert.equal(await into.find({}, { projection: { _id: 0 } }).toArray(), [{ a: { b: 4 }, steps: 3 }])
    }))

  test('$merge on a value that looks like operators or is a regular expression matches equal values', () =>
    given(async (db) => {
      const into = db.collection('into')
      const odd = [{ $gt: 0 }, /^x/, { $in: 1 }]
      for (const keys of [['k'], ['k', 'l']]) {
        await db.dropCollection('into')
        await into.createIndex(Object.fromEntries(keys.map((key) => [key, 1])), { unique: true })
        await into.insertMany([
          { _id: 1, k: { $gt: 0 }, l: 0 },
          { _id: 2, k: 'xyz', l: 0 },
          { _id: 3, k: /^x/, l: 0 },
          { _id: 4, k: 5, l: 0 }
        ])
        const documents = odd.map((k, n) => ({ k: { $literal: k }, l: 0, n }))
        await run(db, { $documents: documents }, { $merge: { into: 'into', on: keys, whenNotMatched: 'discard' } })
        assert.equal(await allOf(db, 'into'), [
          { _id: 1, k: { $gt: 0 }, l: 0, n: 0 },
          { _id: 2, k: 'xyz', l: 0 },
          { _id: 3, k: /^x/, l: 0, n: 1 },
          { _id: 4, k: 5, l: 0 }
        ])
      }
    }))

  test('$merge into the collection it reads does not see its own writes', () =>
    given(async (db) => {
      await db.insertMany(Array.from({ length: 1500 }, (_, i) => ({ _id: 10 + i, n: 10 + i })))
      await run(
        db,
        { $set: { _id: { $add: ['$_id', 1000] }, n: { $add: ['$n', 1] } } },
        { $merge: { into: 'default', whenMatched: 'replace' } }
      )
      assert.is(await db.countDocuments(), 2510 - 7 - 1 + 1)
      assert.equal(await db.find({ _id: { $in: [1010, 2509] } }).toArray(), [
        { _id: 1010, n: 11 },
        { _id: 2509, n: 1510 }
      ])
    }))

  test('change streams report $merge like any other write', () =>
    given(async (db) => {
      const into = db.collection('into')
      await into.insertMany(structuredClone(target) as Document[])
      await using changes = into.watch()
      const told = async (...pipeline: AggregationPipeline): Promise<unknown[]> => {
        await run(db, ...pipeline)
        const events: string[] = []
        for (let change = await changes.tryNext(); change !== null; change = await changes.tryNext()) {
          events.push(`${change.operationType} ${'documentKey' in change && change.documentKey._id}`)
        }
        // Documents merged in one batch are updated before others are inserted.
        return events.sort()
      }
      assert.equal(await told({ $merge: 'into' }), ['insert 2', 'update 1', 'update 3'])
      const zero = [{ $match: { _id: 2 } }, { $set: { n: 0 } }]
      assert.equal(await told(...zero, { $merge: { into: 'into', whenMatched: 'replace' } }), ['replace 2'])
      assert.equal(await told(...zero, { $merge: 'into' }), [])
    }))

  test('ending a $merge keeps what it has merged', () =>
    given(async (db) => {
      await db.insertMany(Array.from({ length: 3000 }, (_, i) => ({ _id: 100 + i, n: i })))
      const slow = { $set: { x: { $function: { body: () => spin(0.05), args: [], lang: 'js' } } } }
      const controller = new AbortController()
      const running = db.aggregate([slow, { $merge: 'into' }], { signal: controller.signal }).toArray()
      while ((await db.collection('into').estimatedDocumentCount()) === 0) await setTimeout(1)
      controller.abort()
      await running.catch((error: unknown) => assert.instance(error, AbortedError))
      const merged = await allOf(db, 'into')
      assert.ok(merged.length > 0)
      assert.equal(
        merged.map(({ _id }) => _id),
        (await allOf(db, 'default')).slice(0, merged.length).map(({ _id }) => _id)
      )
      const ended = rejects(db.aggregate([slow, { $merge: 'into' }]).toArray(), 'DatabaseNotOpen')
      await setTimeout(2)
      await db.close()
      await ended
    }))
}
