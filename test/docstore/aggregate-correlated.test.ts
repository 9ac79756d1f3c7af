/**
 * `$lookup` with a pipeline whose `$expr` compares with a variable: it queries the index with the variable's value, and
 * finds the same.
 */
import fc from 'fast-check'
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { type Document, open } from '../../src/index.ts'
import { testSeed } from '../support/arbitraries.ts'

const seed = testSeed()

test("only documents that the variable's value does not rule out are looked at", async () => {
  const db = await open('memory', { store: 'memory', index: { segmentBits: 512 } })
  try {
    const orders = db.collection('orders')
    await orders.insertMany(Array.from({ length: 2000 }, (_, i) => ({ _id: i, by: i % 200, paid: i % 3 })))
    await db.insertMany([{ _id: 'a', user: 7, ids: [3, 5] }, { _id: 'b', user: 199, ids: [] }, { _id: 'c' }])
    let looked = 0
    const counting = function (this: unknown): boolean {
      looked++
      return true
    }
    const join = async (expression: unknown): Promise<unknown[]> => {
      looked = 0
      const pipeline = [{ $match: { $where: counting, $expr: expression } }, { $project: { by: 0 } }]
      const lookup = { from: 'orders', let: { u: '$user', ids: '$ids' }, pipeline, as: 'orders' }
      const found = await db
        .aggregate([{ $match: { user: { $exists: true } } }, { $lookup: lookup }, { $sort: { _id: 1 } }])
        .toArray()
      return found.map(({ orders }) => (orders as Document[]).map(({ _id }) => _id))
    }
    const of = (user: number): number[] => Array.from({ length: 10 }, (_, i) => user + 200 * i)
    assert.equal(await join({ $eq: ['$by', '$$u'] }), [of(7), of(199)])
    assert.ok(looked < 40, `${looked} looked at`)
    assert.equal(
      await join({ $and: [{ $eq: ['$$u', '$by'] }, { $gt: ['$paid', 1] }] }),
      [of(7), of(199)].map((ids) => ids.filter((id) => id % 3 > 1))
    )
    assert.ok(looked < 40, `${looked} looked at`)
    assert.equal(await join({ $in: ['$_id', '$$ids'] }), [[3, 5], []])
    assert.ok(looked <= 2, `${looked} looked at`)
    assert.equal(await join({ $gt: ['$by', '$$u'] }), [
      Array.from({ length: 2000 }, (_, i) => i).filter((i) => i % 200 > 7),
      []
    ])
  } finally {
    await db.close()
  }
})

test('a lookup by $expr finds what comparing every pair of documents finds', async () => {
  const value = fc.oneof(
    fc.constantFrom<unknown>(null, 1, 1n, 2, Number.NaN, 'x', true),
    fc.array(fc.constantFrom<unknown>(1, 2, 'x', null), { maxLength: 2 }),
    fc.constant(undefined)
  )
  const side = fc.array(value, { minLength: 1, maxLength: 6 })
  const operator = fc.constantFrom('$eq', '$gt', '$gte', '$lt', '$lte', '$in')
  await fc.assert(
    fc.asyncProperty(side, side, operator, async (locals, foreigns, name) => {
      const db = await open('memory', { store: 'memory' })
      try {
        const withValues = (values: readonly unknown[]): Document[] =>
          values.map((each, i) => (each === undefined ? { _id: i } : { _id: i, v: each }))
        await db.insertMany(withValues(locals))
        await db.collection('foreign').insertMany(withValues(foreigns))
        const list = name === '$in' ? { $cond: [{ $isArray: '$v' }, '$v', []] } : '$v'
        const match = { $match: { $expr: { [name]: ['$v', '$$local'] } } }
        const byIndex = { $lookup: { from: 'foreign', let: { local: list }, pipeline: [match], as: 'found' } }
        // After a stage that cannot become part of the read, the expression alone decides.
        const apart = {
          $lookup: {
            from: 'foreign',
            let: { local: list },
            pipeline: [{ $set: { z: 1 } }, match, { $unset: 'z' }],
            as: 'found'
          }
        }
        const sorted = [{ $sort: { _id: 1 } }]
        assert.equal(
          await db.aggregate([byIndex, ...sorted]).toArray(),
          await db.aggregate([apart, ...sorted]).toArray()
        )
      } finally {
        await db.close()
      }
    }),
    { seed, numRuns: 150 }
  )
})

test.run()
