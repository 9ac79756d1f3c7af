/** Counted groups are those that all documents give; where the index knows them, their documents are not read. */
import { inspect } from 'node:util'
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import type { Database, Document } from '../../src/index.ts'
import { equalValues } from '../../src/model/compare.ts'
import { adversarial, plain, testSeed } from '../support/arbitraries.ts'
import { checkAnyPath, checkIndexes, checkKinds, count, filled } from './value-cases.ts'

const seed = testSeed()

/** Compares groups and their order with those of a stage that gets every document. */
async function check(db: Database, path: string, filter: Document = {}): Promise<void> {
  const match = { $match: filter }
  const isPath = path.split('.').every((component) => component !== '' && !component.startsWith('$'))
  if (!isPath) return
  const group = { $group: { _id: `$${path}`, n: { $sum: 1 }, m: { $count: {} } } }
  // After a limit, the group is not part of the read.
  const expected = await db.aggregate([match, { $limit: 10 * count }, group]).toArray()
  const found = await db.aggregate([match, group]).toArray()
  const shown = `${path} of ${inspect(filter, { depth: 9 })}: ${inspect([found, expected])}`
  assert.is(found.length, expected.length, shown)
  expected.forEach((document, i) => {
    const { _id, n, m, ...rest } = found[i]!
    assert.ok(equalValues(_id, document._id) && n === document.n && m === n, shown)
    assert.equal(rest, {})
  })
}

for (const [name, profile] of [
  ['adversarial', adversarial],
  ['plain', plain]
] as const) {
  test(`random filters, any path of ${name} documents: groups are right`, () => checkAnyPath(profile, seed, check))
}

test('counted groups are right for values that share a row, for several values, and for none', () => checkKinds(check))

test('groups that the index knows are counted there, however the stage is written', async () => {
  const db = await filled((i) => ({
    ...(i % 4 > 0 && { lang: `l${i % 20}` }),
    kind: i % 2,
    rare: i % 500 === 7 ? `r${i}` : 'common'
  }))
  await db.index.rebuild()
  for (const [pipeline, groups, most] of [
    [[{ $group: { _id: '$lang', n: { $sum: 1 } } }], 16, 16],
    [[{ $group: { _id: '$lang' } }], 16, 16],
    [[{ $sortByCount: '$kind' }], 2, 2],
    [[{ $match: { kind: 1 } }, { $group: { n: { $count: {} }, _id: '$lang' } }, { $sort: { n: -1 } }], 10, 10],
    [[{ $match: { lang: { $ne: 'l1' } } }, { $sortByCount: '$rare' }, { $limit: 1 }], 1, 6]
  ] as const) {
    const cursor = db.aggregate(pipeline as unknown as Document[])
    const { read, pushedDown } = await cursor.explain()
    assert.is((await cursor.toArray()).length, groups, inspect(pipeline, { depth: 9 }))
    assert.ok(
      pushedDown.some((stage) => /group|sortByCount/.test(stage)),
      inspect(pushedDown)
    )
    const fetched = read?.executionStats.totalDocsExamined ?? Number.NaN
    assert.ok(fetched <= most, `${fetched} documents read for ${groups} groups of ${inspect(pipeline, { depth: 9 })}`)
  }
  const [first] = await db.aggregate([{ $sortByCount: '$kind' }]).toArray()
  assert.equal(Object.keys(first!), ['_id', 'count'])
  await db.close()
})

test('a declared index, no index, value filters and computed ids give the same groups', () => checkIndexes(check))

test.run()
