/** A call ends when its time is over while one expression, of one document, goes through many elements. */
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { compileTask } from '../../src/docstore/read/parallel/compile-task.ts'
import { portable } from '../../src/docstore/read/parallel/portable.ts'
import { type Database, type FindOptions, open } from '../../src/index.ts'
import { PetalError } from '../../src/model/errors.ts'
import { rejects } from './scratch.ts'

const length = 100_000
const list = Array.from({ length }, (_, i) => (i * 7919) % length)

/** Evaluates an expression for each element. */
function forEach(expression: unknown): unknown {
  return { $size: { $map: { input: '$list', in: expression } } }
}

/** Each takes minutes. */
const endless: Readonly<Record<string, unknown>> = {
  '$map in $map': forEach(forEach({ $add: ['$$this', 1] })),
  '$filter in $map': forEach({ $size: { $filter: { input: '$list', cond: { $lt: ['$$this', 0] } } } }),
  '$reduce in $filter': {
    $filter: {
      input: '$list',
      cond: { $reduce: { input: '$list', initialValue: 0, in: { $add: ['$$value', '$$this'] } } }
    }
  },
  '$sortArray in $map': forEach({ $first: { $sortArray: { input: '$list', sortBy: 1 } } }),
  '$sortArray by a field, in $map': forEach({ $first: { $sortArray: { input: '$list', sortBy: { x: 1 } } } }),
  '$minN in $map': forEach({ $minN: { input: '$list', n: 2 } }),
  '$in in $map': forEach({ $in: [-1, '$list'] }),
  '$indexOfArray in $map': forEach({ $indexOfArray: ['$list', -1] }),
  '$setUnion in $map': forEach({ $size: { $setUnion: ['$list', ['$$this']] } }),
  '$setIsSubset in $map': forEach({ $setIsSubset: ['$list', ['$$this']] }),
  '$sum in $map': forEach({ $sum: '$list' }),
  '$concatArrays in $map': forEach({ $concatArrays: ['$list', '$list', ['$$this']] }),
  '$reverseArray in $map': forEach({ $reverseArray: '$list' }),
  '$slice in $map': forEach({ $slice: ['$list', 1, { $add: [length, '$$this'] }] }),
  '$range in $map': forEach({ $range: [0, { $add: [5_000_000, '$$this'] }] }),
  '$zip in $map': forEach({ $zip: { inputs: ['$list', '$list'] } }),
  '$objectToArray in $map': forEach({ $size: { $objectToArray: '$object' } }),
  '$arrayToObject in $map': forEach({ $arrayToObject: { $map: { input: '$list', in: ['a', 1] } } }),
  '$setField in $map': forEach({ $setField: { field: 'x', input: '$object', value: 1 } }),
  '$concatArrays in $reduce': {
    $reduce: { input: '$list', initialValue: [], in: { $concatArrays: ['$$value', '$list', '$list'] } }
  },
  '$setUnion in $reduce': { $reduce: { input: '$list', initialValue: [], in: { $setUnion: ['$$value', '$list'] } } }
}

const object = Object.fromEntries(Array.from({ length: 1000 }, (_, i) => [`k${i}`, i]))

async function opened(): Promise<Database> {
  const db = await open('unused', { store: 'memory' })
  await db.insertOne({ _id: 1, list, object })
  return db
}

for (const [name, expression] of Object.entries(endless)) {
  test(`${name} ends when the time of the call is over`, async () => {
    await using db = await opened()
    await rejects(db.aggregate([{ $project: { x: expression } }], { maxTimeMS: 50 }).toArray(), 'MaxTimeMSExpired')
  })
}

type Call = (db: Database, expression: unknown, options: Pick<FindOptions, 'maxTimeMS' | 'signal'>) => Promise<unknown>

/** Evaluate the expression somewhere. */
const calls: Readonly<Record<string, Call>> = {
  'a projection': (db, x, options) => db.find({}, { ...options, projection: { x } }).toArray(),
  'a filter': (db, x, options) => db.find({ $expr: x }, options).toArray(),
  'a filter that is counted': (db, x, options) => db.countDocuments({ $expr: x }, options),
  'a filter that is explained': (db, x, options) => db.find({ $expr: x }, options).explain(),
  'a filter, for distinct values': (db, x, options) => db.distinct('_id', { $expr: x }, options),
  $match: (db, x, options) => db.aggregate([{ $match: { $expr: x } }], options).toArray(),
  $group: (db, x, options) => db.aggregate([{ $group: { _id: x } }], options).toArray(),
  $redact: (db, x, options) => db.aggregate([{ $redact: { $cond: [x, '$$KEEP', '$$PRUNE'] } }], options).toArray(),
  $facet: (db, x, options) => db.aggregate([{ $facet: { a: [{ $set: { x } }] } }], options).toArray(),
  'a pipeline of $lookup': (db, x, options) =>
    db.aggregate([{ $lookup: { from: 'default', pipeline: [{ $set: { x } }], as: 'y' } }], options).toArray(),
  $setWindowFields: (db, x, options) =>
    db.aggregate([{ $setWindowFields: { output: { s: { $sum: x } } } }], options).toArray(),
  'an update of what a filter finds': (db, x, options) =>
    db.updateMany({ $expr: x }, { $set: { changed: true } }, options),
  'an update by a pipeline': (db, x, options) => db.updateMany({}, [{ $set: { changed: x } }], options),
  'an upsert by a pipeline': (db, x, options) =>
    db.updateOne({ _id: 2, list }, [{ $set: { changed: x } }], { ...options, upsert: true }),
  'what findOneAndUpdate() returns': (db, x, options) =>
    db.findOneAndUpdate({ _id: 1 }, { $set: { changed: true } }, { ...options, projection: { x } }),
  'a deletion': (db, x, options) => db.deleteMany({ $expr: x }, options),
  'an operation of bulkWrite()': (db, x, options) =>
    db.bulkWrite([{ updateOne: { filter: {}, update: [{ $set: { changed: x } }] } }], options)
}

for (const [name, call] of Object.entries(calls)) {
  test(`${name}: the call ends within its expression when its time is over, and changes nothing`, async () => {
    await using db = await opened()
    await rejects(call(db, endless['$map in $map'], { maxTimeMS: 50 }), 'MaxTimeMSExpired')
    assert.equal(
      (await db.find().toArray()).map(({ _id, changed }) => [_id, changed]),
      [[1, undefined]]
    )
  })

  test(`${name}: a signal that an expression aborts ends it`, async () => {
    await using db = await opened()
    const controller = new AbortController()
    let evaluations = 0
    const body = (): number => {
      if (++evaluations === 300) controller.abort()
      return 1
    }
    await rejects(call(db, forEach({ $function: { body, args: [] } }), { signal: controller.signal }), 'Aborted')
    assert.is(evaluations, 300)
  })
}

/** Those that a transaction does not have. */
const onlyAlone = /explained|distinct|\$/

for (const [name, call] of Object.entries(calls).filter(([name]) => !onlyAlone.test(name))) {
  test(`${name}: the call ends within its expression when the time of its transaction is over`, async () => {
    await using db = await opened()
    for (const hasChanged of [false, true]) {
      const running = db.withTransaction(
        async (tx) => {
          if (hasChanged) await tx.updateOne({ _id: 1 }, { $set: { changed: 'in vain' } })
          // It has the calls that are made here.
          await call(tx as unknown as Database, endless['$map in $map'], {})
        },
        { maxTimeMS: 50 }
      )
      await rejects(running, 'MaxTimeMSExpired')
    }
    assert.is((await db.get(1))?.changed, undefined)
    await db.updateOne({ _id: 1 }, { $set: { changed: 'free' } })
  })
}

test('a thread looks at the limits of the read that it helps, for each of its tasks', async () => {
  const $expr = { $gt: [forEach('$$this'), 0] }
  const found = { kind: 'find', filter: portable({ $expr })!, first: undefined } as const
  const distinct = { kind: 'distinct', filter: portable({ $expr })!, path: ['a'] } as const
  const pipeline = [{ $match: { $expr } }, { $group: { _id: '$a', most: { $max: '$b' } } }]
  for (const task of [found, distinct, { kind: 'collect', pipeline: portable(pipeline)! } as const]) {
    let looks = 0
    const check = (): void => {
      if (++looks === 3) throw new PetalError('MaxTimeMSExpired', 'late')
    }
    const scope = { collation: undefined, constants: portable({})!, now: new Date(), remainingMilliseconds: 5 }
    const { filter } = await compileTask({ task, ...scope }, { check })
    assert.throws(() => filter.matches({ list }), /late/)
    assert.is(looks, 3)
  }
})

test('without limits, long expressions have their results', async () => {
  await using db = await opened()
  const x = { $sum: { $map: { input: { $sortArray: { input: '$list', sortBy: -1 } }, in: { $add: ['$$this', 1] } } } }
  const [found] = await db.aggregate([{ $project: { x } }], { maxTimeMS: 1_000_000 }).toArray()
  assert.equal(found, { _id: 1, x: (length * (length + 1)) / 2 })
})

test.run()
