/** A walk of an index in sort order that meets too few matches is abandoned, and none is lost or given twice. */
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { type Document, open, type SortSpec } from '../../src/index.ts'
import { testSeed } from '../support/arbitraries.ts'
import { randomFrom } from '../support/random.ts'
import { scratchPath } from './scratch.ts'

const seed = testSeed()
const random = randomFrom(seed)
const below = (limit: number): number => Math.floor(random() * limit)

const count = 12_000
const db = await open(scratchPath(), { index: { segmentBits: 4096 } })
await db.insertMany(
  Array.from({ length: count }, (_, i) => ({
    _id: (i * 7919) % count,
    at: i,
    // Ties of all lengths, some longer than a walk.
    rank: Math.floor(i / [1, 7, 60, 900, 4000][Math.floor((i * 5) / count)]!) + 10_000 * Math.floor((i * 5) / count),
    // Few match at the ends, most in a part of the order that is elsewhere in each of them.
    marks: Array.from({ length: 6 }, (_, m) => (Math.floor((i * 6) / count) === m ? below(2) : below(400))).flatMap(
      (n, m) => (n === 0 ? [m] : [])
    )
  }))
)
await db.createIndex({ rank: 1 })
await db.createIndex({ at: -1 })
await db.createIndex({ rank: 1, at: 1 })

test.after(() => db.close())

test('far away matches cost no walk to them', async () => {
  for (const [mark, sort] of [
    [5, { at: 1 }],
    [0, { at: -1 }],
    [4, { rank: 1 }]
  ] as const) {
    const { executionStats } = await db.find({ marks: mark, at: { $type: 'number' } }, { sort, limit: 40 }).explain()
    assert.ok(executionStats.totalKeysExamined < 6000, `seed ${seed}: ${executionStats.totalKeysExamined}`)
  }
})

test('what an abandoned walk has given is not given again, among ties either', async () => {
  let abandoned = 0
  for (let round = 0; round < 150; round++) {
    const paths = ['rank', 'at', 'rank', '_id'] as const
    const path = paths[below(paths.length)]!
    const direction = below(2) === 0 ? 1 : -1
    const sort: SortSpec =
      path === 'rank' && below(2) === 0 ? { rank: direction, at: direction } : { [path]: direction }
    const filter: Document = { marks: below(6), at: { $type: 'number' } }
    const options = { sort, skip: below(3) * below(20), limit: 1 + below(60) }
    const where = `seed ${seed}, ${JSON.stringify([filter, options])}`
    const found = await db.find(filter, options).toArray()
    const expected = await db.find(filter, { ...options, hint: 'scan' }).toArray()
    const keysOf = (documents: readonly Document[]) =>
      documents.map(({ rank, at, _id }) => Object.keys(sort).map((key) => ({ rank, at, _id })[key as 'at']))
    assert.equal(keysOf(found), keysOf(expected), where)
    assert.is(new Set(found.map(({ _id }) => _id)).size, found.length, where)
    assert.ok(
      found.every(({ marks }) => (marks as number[]).includes(filter.marks as number)),
      where
    )
    const { executionStats, queryPlanner } = await db.find(filter, options).explain()
    if (executionStats.totalKeysExamined > 0 && !JSON.stringify(queryPlanner).includes('IXSCAN')) abandoned++
  }
  assert.ok(abandoned > 10, `seed ${seed}: ${abandoned}`)
})

test.run()
