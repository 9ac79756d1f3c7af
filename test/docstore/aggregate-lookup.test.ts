/** $lookup: values are compared as they are. */
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { type Document, open } from '../../src/index.ts'
import { rejects, scratchPath } from './scratch.ts'

const odd: readonly Document[] = [
  { _id: 1, k: { $gt: 5 } },
  { _id: 2, k: [{ $in: [1] }, 3] },
  { _id: 3, k: /^x/ },
  { _id: 4, k: 7 },
  { _id: 5, k: 'xyz' },
  { _id: 6, k: { $gt: 5, $lt: 9 } },
  { _id: 7, k: null },
  { _id: 8 },
  { _id: 9, k: [/^x/, { $ref: 'a' }] }
]

for (const [store, index] of [
  ['memory', 'none'],
  ['memory', 'linear'],
  ['lsm', 'linear']
] as const) {
  test(`operators and regular expressions among the values are equal to themselves only: ${store}, index ${index}`, async () => {
    await using db = await open(scratchPath(), { store, index: index === 'none' ? 'none' : { segmentBits: 512 } })
    await db.collection('other').insertMany([...odd])
    await db.insertMany([...odd])
    const found = await db
      .aggregate([
        { $sort: { _id: 1 } },
        { $lookup: { from: 'other', localField: 'k', foreignField: 'k', as: 'same' } },
        { $project: { same: { $sortArray: { input: '$same._id', sortBy: 1 } } } }
      ])
      .toArray()
    assert.equal(
      found.map(({ same }) => same),
      [[1], [2], [3, 9], [4], [5], [6], [7, 8], [7, 8], [3, 9]]
    )
  })
}

test('an error over a value names the stage', async () => {
  await using db = await open('unused', { store: 'memory' })
  await db.insertOne({ _id: 1 })
  const body = (): unknown => Array.from({ length: 120 }).reduce((inside) => [inside], 1)
  const deep = { $set: { deep: { $function: { body, args: [], lang: 'js' } } } }
  const lookup = { from: 'default', localField: 'deep', foreignField: 'k', as: 'x' }
  const search = { from: 'default', startWith: '$deep', connectFromField: 'k', connectToField: 'k', as: 'x' }
  for (const stage of [{ $lookup: lookup }, { $graphLookup: search }]) {
    const { message } = await rejects(db.aggregate([deep, stage]).toArray(), 'BadValue')
    assert.match(message, /^\$(graphL|l)ookup \(stage 1\): A key may be nested/)
  }
})

test.run()
