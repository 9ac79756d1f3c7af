/** distinct() gives what reading all matches gives, and reads one document of each value that has a row of its own. */
import { inspect } from 'node:util'
import { Decimal128, Long } from 'bson'
import fc from 'fast-check'
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { DistinctValues } from '../../src/docstore/read/distinct-values.ts'
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

/** Equal in MongoDB's sense: of equal values either may stand for both. */
async function check(db: Database, path: string, filter: Document = {}): Promise<void> {
  const expected = new DistinctValues(path)
  for (const document of await db.find(filter, { hint: 'scan' }).toArray()) expected.add(document)
  const found = await db.distinct(path, filter)
  const isSame =
    found.length === expected.toArray().length && expected.toArray().every((value, i) => equalValues(value, found[i]))
  assert.ok(isSame, `${path} of ${inspect(filter, { depth: 9 })}: ${inspect([found, expected.toArray()])}`)
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

test('values that share a row, and others beside them, are all found', async () => {
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
    w: i % 6 === 0 ? [{ x: i % 11 }, { x: 'y' }] : { x: i % 3 },
    rare: i % 601 === 0 ? `r${i}` : 'common',
    half: i % 2,
    late: i < 600 ? Decimal128.fromString('0.1') : 0.1
  }))
  await db.index.rebuild()
  for (const path of ['v', 'late', 'v.b', 'w.x', 'w', 'w.0.x', 'rare', 'nowhere', '_id']) {
    for (const filter of [
      {},
      { v: 'a' },
      { rare: 'common' },
      // Of one half certain, of the other one document that is not.
      { $or: [{ half: 0 }, { rare: 'r601' }] },
      { v: { $type: 'number' } },
      { rare: /mon/ }
    ]) {
      await check(db, path, filter)
    }
  }
  await db.close()
})

test('one document is read of each value, and those of values without rows', async () => {
  const db = await filled((i) => ({ lang: `l${i % 20}`, kind: i % 2, rare: i % 500 === 7 ? `r${i}` : 'common' }))
  await db.index.rebuild()
  const { add } = DistinctValues.prototype
  let looked = 0
  DistinctValues.prototype.add = function (document) {
    looked++
    add.call(this, document)
  }
  try {
    for (const [path, filter, values, most] of [
      ['lang', {}, 20, 20],
      ['lang', { kind: 1 }, 10, 10],
      ['lang', { kind: { $ne: 1 } }, 10, 10],
      // Those of each text that five documents have, one of the others.
      ['rare', {}, 6, 6],
      ['kind', { lang: { $in: ['l1', 'l2', 'l3', 'l4'] } }, 2, 2]
    ] as const) {
      looked = 0
      assert.is((await db.distinct(path, filter)).length, values)
      assert.ok(looked <= most, `${looked} documents for ${values} values of ${path}`)
    }
  } finally {
    DistinctValues.prototype.add = add
  }
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
