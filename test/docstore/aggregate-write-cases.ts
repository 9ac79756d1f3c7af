/** $out and $merge: what they leave in a collection; one shared specification that runs on every store. */
import { setTimeout } from 'node:timers/promises'
import { ObjectId } from 'bson'
import type { Test } from 'uvu'
import * as assert from 'uvu/assert'
import { AbortedError, type AggregationPipeline, type Database, type Document } from '../../src/index.ts'
import { rejects } from './scratch.ts'

const source: readonly Document[] = [
  { _id: 1, k: 'a', n: 1 },
  { _id: 2, k: 'b', n: 2 },
  { _id: 3, k: 'c', n: 3 }
]

export const allOf = (db: Database, name: string): Promise<Document[]> =>
  db
    .collection(name)
    .find({}, { sort: { _id: 1 } })
    .toArray()

const names = (db: Database): string[] =>
  db
    .listCollections()
    .map(({ name }) => name)
    .sort()

export function aggregateWriteCases(test: Test, openEmpty: () => Promise<Database>): void {
  /** Runs over a database with the source in its default collection. */
  const given = async (task: (db: Database) => Promise<void>): Promise<void> => {
    await using db = await openEmpty()
    await db.insertMany(structuredClone(source) as Document[])
    await task(db)
  }
  const run = async (db: Database, ...pipeline: AggregationPipeline): Promise<void> => {
    assert.equal(await db.aggregate(pipeline).toArray(), [])
  }

  test('$out creates a collection and returns nothing', () =>
    given(async (db) => {
      await run(db, { $match: { n: { $gt: 1 } } }, { $set: { twice: { $multiply: ['$n', 2] } } }, { $out: 'made' })
      assert.equal(await allOf(db, 'made'), [
        { _id: 2, k: 'b', n: 2, twice: 4 },
        { _id: 3, k: 'c', n: 3, twice: 6 }
      ])
      assert.equal(await db.collection('made').find({ twice: 6 }).toArray(), [{ _id: 3, k: 'c', n: 3, twice: 6 }])
      assert.is(await db.collection('made').countDocuments(), 2)
      assert.equal((await db.verify()).problems, [])
    }))

  test('$out replaces all contents, also with nothing, and also those of the collection it reads', () =>
    given(async (db) => {
      await db.collection('made').insertMany([{ _id: 1, old: true }, { _id: 'x' }])
      await run(db, { $project: { n: 1 } }, { $out: { coll: 'made' } })
      assert.equal(
        await allOf(db, 'made'),
        source.map(({ _id, n }) => ({ _id, n }))
      )
      await run(db, { $match: { n: 'none' } }, { $out: 'made' })
      assert.equal(await allOf(db, 'made'), [])
      assert.equal(names(db), ['default', 'made'])
      await run(db, { $match: { n: { $ne: 2 } } }, { $out: 'default' })
      assert.equal(await allOf(db, 'default'), [source[0], source[2]])
      await db.insertOne({ _id: 9, n: 2 })
      assert.equal(await db.find({ n: 2 }).toArray(), [{ _id: 9, n: 2 }])
      await run(db, { $documents: [{ a: 1 }] }, { $out: 'made' })
      assert.equal(
        (await allOf(db, 'made')).map(({ a, _id }) => [a, _id instanceof ObjectId]),
        [[1, true]]
      )
      assert.equal((await db.verify()).problems, [])
    }))

  test('$out keeps the declared indexes; if they refuse a document, the collection stays unchanged', () =>
    given(async (db) => {
      const made = db.collection('made')
      await made.createIndex({ k: 1 }, { unique: true })
      await made.createIndex({ n: -1, k: 1 }, { name: 'both' })
      await made.insertOne({ _id: 'old', k: 'a', n: 0 })
      const declared = made.listIndexes()
      await run(db, { $out: 'made' })
      assert.equal([...made.listIndexes()], [...declared])
      assert.equal(await allOf(db, 'made'), source)
      assert.equal(await made.find({ k: 'b' }, { hint: { k: 1 } }).toArray(), [source[1]])
      assert.equal(await made.find({}, { hint: 'both', sort: { n: -1 } }).toArray(), [...source].reverse())
      await rejects(made.insertOne({ k: 'c' }), 'DuplicateKey')
      const error = await rejects(db.aggregate([{ $set: { k: 'same' } }, { $out: 'made' }]).toArray(), 'DuplicateKey')
      assert.match(error.message, /^\$out \(stage 1\): E11000 .*collection: made index: k_1/)
      assert.equal(error.details.keyValue, { k: 'same' })
      assert.equal(await allOf(db, 'made'), source)
      await rejects(made.insertOne({ k: 'c' }), 'DuplicateKey')
      await made.dropIndex('both')
      assert.equal((await db.verify()).problems, [])
    }))

  test('$out refuses a duplicate _id, and adds an _id where it is missing', () =>
    given(async (db) => {
      await db.collection('made').insertOne({ _id: 'old' })
      const twice = [{ $set: { _id: { $min: ['$_id', 2] } } }, { $out: 'made' }]
      assert.match((await rejects(db.aggregate(twice).toArray(), 'DuplicateKey')).message, /^\$out \(stage 1\): E11000/)
      assert.equal(await allOf(db, 'made'), [{ _id: 'old' }])
      await run(db, { $group: { _id: null, n: { $sum: '$n' } } }, { $out: 'made' })
      const [total] = await allOf(db, 'made')
      assert.is(total?.n, 6)
      assert.instance(total?._id, ObjectId)
      await run(db, { $project: { _id: 0 } }, { $out: 'made' })
      assert.is(new Set((await allOf(db, 'made')).map(({ _id }) => String(_id))).size, 3)
    }))

  test('$out keeps the codec of ids and the kind of index of a collection', () =>
    given(async (db) => {
      const counted = db.collection('counted', { ids: 'reversible' })
      await counted.insertMany([{ a: 1 }, { a: 2 }])
      const plain = db.collection('plain', { index: 'none' })
      await plain.insertOne({ a: 1 })
      await run(db, { $unset: '_id' }, { $out: 'counted' })
      await run(db, { $out: 'plain' })
      assert.equal((await allOf(db, 'counted')).map(({ n }) => n).sort(), [1, 2, 3])
      assert.equal(await plain.find({ n: 2 }).toArray(), [source[1]])
      const { collections } = await db.stats()
      const kinds = collections.map(({ name, ids, index }) => [name, ids === 'table' ? ids : ids.codec, index.kind])
      assert.equal(kinds.sort(), [
        ['counted', 'reversible', 'sharded'],
        ['default', 'table', 'sharded'],
        ['plain', 'table', 'none']
      ])
      await rejects(counted.insertOne({ _id: 'text' }), 'BadValue')
      await counted.insertOne({ a: 9 })
      assert.is(await counted.countDocuments(), 4)
    }))

  test('nothing is written before the first pull, by explain(), or by a cursor that is closed', () =>
    given(async (db) => {
      for (const last of [{ $out: 'made' }, { $merge: 'made' }]) {
        const cursor = db.aggregate([{ $set: { x: 1 } }, last])
        const { stages, nReturned } = await cursor.explain()
        assert.equal(
          stages.map(({ mode, position }) => [mode, position]),
          [
            ['streams', 0],
            ['writes', 1]
          ]
        )
        assert.is(nReturned, 3)
        assert.equal(names(db), ['default'])
      }
      await db.collection('made').insertOne({ _id: 'there' })
      const slow = { $set: { x: { $function: { body: () => spin(3), args: [], lang: 'js' } } } }
      for (const pipeline of [[{ $out: 'made' }], [slow, { $out: 'made' }]]) {
        const cursor = db.aggregate(pipeline)
        const pulled = cursor.next()
        await cursor.close()
        assert.is(await pulled, null)
        assert.equal(await allOf(db, 'made'), [{ _id: 'there' }])
      }
      assert.equal((await db.verify()).problems, [])
    }))

  test('a signal or a time limit leaves the collection unchanged', () =>
    given(async (db) => {
      await db.collection('made').insertOne({ _id: 'old' })
      const slow = { $set: { x: { $function: { body: () => spin(10), args: [], lang: 'js' } } } }
      const pipeline = [{ $unionWith: 'default' }, { $unionWith: 'default' }, slow, { $unset: '_id' }, { $out: 'made' }]
      await rejects(db.aggregate(pipeline, { maxTimeMS: 15 }).toArray(), 'MaxTimeMSExpired')
      const controller = new AbortController()
      const running = db.aggregate(pipeline, { signal: controller.signal }).toArray()
      await setTimeout(15)
      controller.abort()
      assert.instance(await running.catch((error: unknown) => error), AbortedError)
      assert.equal(await allOf(db, 'made'), [{ _id: 'old' }])
      assert.equal((await db.verify()).problems, [])
    }))

  test('concurrent readers, writers, streams and drops see either the old contents or the new', () =>
    given(async (db) => {
      const made = db.collection('made')
      await made.insertMany(Array.from({ length: 1500 }, (_, i) => ({ _id: i, old: true })))
      await db.insertMany(Array.from({ length: 2000 }, (_, i) => ({ _id: `n${i}`, n: 0 })))
      const changes = made.watch()
      let isOver = false
      const counts = new Set<number | undefined>()
      const reading = (async () => {
        while (!isOver)
          counts.add(
            await made
              .find()
              .toArray()
              .then(({ length }) => length, toldClosed)
          )
      })()
      await run(db, { $match: { n: 0 } }, { $out: 'made' })
      await run(db, { $match: { n: 0 } }, { $limit: 7 }, { $out: 'made' })
      isOver = true
      await reading
      for (const count of counts) assert.ok([1500, 2000, 7, undefined].includes(count), String(count))
      const told: unknown[] = []
      for await (const { operationType } of changes) told.push(operationType)
      assert.equal(told, ['drop', 'invalidate'])
      const inserted = made.insertOne({ _id: 'later' })
      await Promise.all([inserted, run(db, { $limit: 1 }, { $out: 'made' }), db.dropCollection('made')])
      await Promise.all([run(db, { $limit: 1 }, { $out: 'made' }), run(db, { $limit: 2 }, { $out: 'made' })])
      assert.ok([1, 2].includes(await made.countDocuments()))
      assert.equal((await db.verify()).problems, [])
    }))

  test('declaring an index while $out runs makes it fail', () =>
    given(async (db) => {
      const made = db.collection('made')
      await made.insertOne({ _id: 'old', n: 1 })
      await db.insertMany(Array.from({ length: 3000 }, (_, i) => ({ _id: `n${i}`, n: i })))
      const running = db.aggregate([{ $set: { x: 1 } }, { $out: 'made' }]).toArray()
      await made.createIndex({ n: 1 })
      let isRunning = true
      async function* whileRunning(): AsyncGenerator<Document> {
        for (let i = 0; isRunning; i++) {
          yield { _id: `with${i}` }
          await setTimeout(1)
        }
      }
      const inserting = made.insertMany(whileRunning())
      await rejects(running, 'CommandFailed')
      isRunning = false
      // Other writers of the collection do not notice.
      const { insertedCount } = await inserting
      assert.is(await made.countDocuments(), 1 + insertedCount)
      assert.equal(await made.get('old'), { _id: 'old', n: 1 })
      assert.equal((await db.verify()).problems, [])
    }))

  test('verify() finds no problem while collections are being replaced', () =>
    given(async (db) => {
      await db.insertMany(Array.from({ length: 500 }, (_, i) => ({ _id: `n${i}`, n: i })))
      let isOver = false
      const writing = (async () => {
        for (let i = 0; i < 10; i++) await run(db, { $limit: 300 + i }, { $out: 'made' })
        isOver = true
      })()
      while (!isOver) assert.equal((await db.verify()).problems, [])
      await writing
    }))

  test('closing the database waits for $out', () =>
    given(async (db) => {
      const running = db.aggregate([{ $set: { x: 1 } }, { $out: 'made' }]).toArray()
      await setTimeout(0)
      const closing = db.close()
      assert.equal(await running, [])
      await closing
    }))

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

  test('malformed stages are refused before anything is read or written', () =>
    given(async (db) => {
      const refused: readonly (readonly [AggregationPipeline, Parameters<typeof rejects>[1], RegExp])[] = [
        [[{ $out: 'a' }, { $match: {} }], 'FailedToParse', /^\$out \(stage 0\): it must be the last stage/],
        [[{ $merge: 'a' }, { $match: {} }], 'FailedToParse', /^\$merge \(stage 0\): it must be the last stage/],
        [
          [{ $facet: { f: [{ $out: 'a' }] } }],
          'FailedToParse',
          /\$out \(stage 0 of \$facet\.f\): it cannot be used in a nested pipeline/
        ],
        [
          [{ $unionWith: { coll: 'a', pipeline: [{ $merge: 'a' }] } }],
          'FailedToParse',
          /\$merge \(stage 0 of \$unionWith\)/
        ],
        [
          [{ $lookup: { from: 'a', pipeline: [{ $out: 'a' }], as: 'b' } }],
          'FailedToParse',
          /\$out \(stage 0 of \$lookup\)/
        ],
        [[{ $out: 5 }], 'BadValue', /a collection name must be a string, not number/],
        [[{ $out: {} }], 'BadValue', /a collection name must be a string, not undefined/],
        [[{ $out: { db: 'other', coll: 'a' } }], 'CommandNotSupported', /omit db/],
        [[{ $out: { coll: 'a', timeseries: {} } }], 'FailedToParse', /no option 'timeseries'/],
        [[{ $out: 'a$b' }], 'InvalidNamespace', /^\$out \(stage 0\): A collection name/],
        [[{ $merge: { into: { db: 'x', coll: 'a' } } }], 'CommandNotSupported', /omit db/],
        [[{ $merge: {} }], 'BadValue', /the argument must be an object, not an empty one/],
        [[{ $merge: { on: 'a' } }], 'BadValue', /a collection name must be a string, not undefined/],
        [[{ $merge: { into: 'a', onto: 'b' } }], 'FailedToParse', /no option 'onto'/],
        [[{ $merge: { into: 'a', on: [] } }], 'BadValue', /at least one field/],
        [[{ $merge: { into: 'a', on: 3 } }], 'BadValue', /a path must be a string/],
        [[{ $merge: { into: 'a', on: ['b', 'b'] } }], 'BadValue', /on names 'b' twice/],
        [
          [{ $merge: { into: 'a', whenMatched: 'change' } }],
          'BadValue',
          /whenMatched must be one of 'replace', .* or a pipeline, not 'change'/
        ],
        [
          [{ $merge: { into: 'a', whenNotMatched: 1 } }],
          'BadValue',
          /whenNotMatched must be one of 'insert', 'discard', 'fail', not number/
        ],
        [
          [{ $merge: { into: 'a', whenMatched: 'fail', whenNotMatched: 'fail' } }],
          'BadValue',
          /requires whenNotMatched: 'insert'/
        ],
        [
          [{ $merge: { into: 'a', whenMatched: 'keepExisting', whenNotMatched: 'discard' } }],
          'BadValue',
          /requires whenNotMatched: 'insert'/
        ],
        [[{ $merge: { into: 'a', let: { x: 1 } } }], 'BadValue', /let requires a whenMatched/],
        [[{ $merge: { into: 'a', let: { new: 1 }, whenMatched: [] } }], 'BadValue', /cannot define 'new'/],
        [[{ $merge: { into: 'a', let: 3, whenMatched: [] } }], 'BadValue', /let takes an object, not number/],
        [
          [{ $merge: { into: 'a', whenMatched: [{ $limit: 1 }] } }],
          'InvalidOptions',
          /^\$limit \(stage 0 of \$merge\.whenMatched\)/
        ],
        [[{ $merge: { into: 'a', whenMatched: [{ $match: {} }] } }], 'InvalidOptions', /^\$match/],
        [
          [{ $merge: { into: 'a', whenMatched: [{ $set: { x: '$$other' } }] } }],
          'FailedToParse',
          /no variable \$\$other/
        ],
        [
          [{ $set: { x: '$$new' } }, { $merge: { into: 'a', whenMatched: [] } }],
          'FailedToParse',
          /no variable \$\$new/
        ],
        [[{ $merge: { into: 'a', whenMatched: [{ $set: { x: { $nope: 1 } } }] } }], 'InvalidPipelineOperator', /\$nope/]
      ]
      for (const [pipeline, codeName, message] of refused) {
        assert.match((await rejects(db.aggregate(pipeline).toArray(), codeName)).message, message)
      }
      assert.equal(names(db), ['default'])
    }))
}

/** A reader may find its collection closed while the contents are exchanged. */
function toldClosed(error: { readonly codeName: string }): undefined {
  assert.is(error.codeName, 'DatabaseNotOpen')
}

function spin(milliseconds: number): number {
  const until = performance.now() + milliseconds
  while (performance.now() < until);
  return until
}
