/** Groups that are only counted are those that all documents make, and their documents are not read where the index knows them. */
import { inspect } from 'node:util'
import { Decimal128, Long } from 'bson'
import fc from 'fast-check'
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { type Database, type Document, open } from '../../src/index.ts'
import { equalValues } from '../../src/model/compare.ts'
import { compileFilter } from '../../src/query/filter.ts'
import { adversarial, documents, filters, plain, testSeed } from '../support/arbitraries.ts'
import { pathsOf } from './paths-of.ts'
import { scratchPath } from './scratch.ts'

const seed = testSeed()
const count = 2500

async function filled(documentAt: (i: number) => Document, options = {}): Promise<Database> {
  const db = await open(scratchPath(), { index: { segmentBits: 512 }, ...options })
  await db.insertMany(Array.from({ length: count }, (_, i) => ({ ...documentAt(i), _id: i })))
  await db.deleteMany({ _id: { $in: Array.from({ length: 60 }, (_, i) => 41 * i) } })
  return db
}

/** Groups, in their order, are those of a stage that is given every document. */
async function check(db: Database, path: string, filter: Document = {}): Promise<void> {
  const match = { $match: filter }
  const isPath = path.split('.').every((component) => component !== '' && !component.startsWith('$'))
  if (!isPath) return
  const group = { $group: { _id: `$${path}`, n: { $sum: 1 }, m: { $count: {} } } }
  // A limit is a stage that no group is part of a read behind.
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
  test(`any path of ${name} documents, whatever is asked for`, async () => {
    // Few different ones, so that values are frequent.
    const many = fc.sample(documents(profile), { numRuns: 120, seed })
    const db = await filled((i) => many[(i * i) % many.length]!)
    await db.index.rebuild()
    // And an open segment, and two that are not built again.
    await db.insertMany(Array.from({ length: 700 }, (_, i) => ({ ...many[i % 9]!, _id: count + i })))
    const asked = fc.sample(filters(profile), { numRuns: 6, seed }).filter((filter) => {
      try {
        compileFilter(filter)
        return true
      } catch {
        return false
      }
    })
    for (const path of pathsOf(many)) for (const filter of [{}, ...asked]) await check(db, path, filter)
    await db.close()
  })
}

test('values that share a row, several of them, none and what is on no path', async () => {
  const kinds: unknown[] = [
    0.1,
    Decimal128.fromString('0.1'),
    Long.fromString('9007199254740993'),
    2 ** 53,
    1,
    Long.ONE,
    -0,
    0,
    Number.NaN,
    null,
    'a',
    ['a', 'b'],
    [['c']],
    [],
    { b: 1 },
    new Date(0),
    /a/,
    true
  ]
  const db = await filled((i) => ({
    v: kinds[i % kinds.length],
    ...(i % 7 > 0 && { 'w.x': i % 5 }),
    ...(i % 5 > 0 && { w: i % 6 === 0 ? [{ x: i % 11 }, { y: 'y' }] : i % 6 === 1 ? { y: 1 } : { x: i % 3 } }),
    rare: i % 601 === 0 ? `r${i}` : 'common',
    half: i % 2,
    late: i < 600 ? Decimal128.fromString('0.1') : 0.1
  }))
  await db.index.rebuild()
  for (const path of ['v', 'late', 'v.b', 'w.x', 'w.z', 'w', 'w.0.x', 'rare', 'nowhere', 'nowhere.at.all', '_id']) {
    for (const filter of [
      {},
      { v: 'a' },
      { rare: 'common' },
      // Of one half certain, of the other one document that is not.
      { $or: [{ half: 0 }, { rare: 'r601' }] },
      { w: { $exists: false } },
      { rare: /mon/ }
    ]) {
      await check(db, path, filter)
    }
  }
  await db.close()
})

test('what the index knows is counted there, whatever it is called', async () => {
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

test('a declared index, no index, the values of filters and computed ids give the same', async () => {
  for (const options of [{ index: 'none' }, { index: 'embedded' }, { ids: 'reversible' }, {}]) {
    const db = await filled((i) => ({ lang: `l${i % 20}`, n: i % 50 }), options)
    await db.createIndex({ n: 1 })
    for (const filter of [{}, { n: 7 }, { n: { $gte: 45 } }, { _id: { $in: [1, 2, 3] } }, { lang: 'l3' }]) {
      for (const path of ['lang', 'n', '_id']) await check(db, path, filter)
    }
    await db.close()
  }
})

test.run()
