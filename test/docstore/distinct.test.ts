/** distinct() gives what reading all matches gives, and reads one document for each value that has its own row. */
import { inspect } from 'node:util'
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { DistinctValues, distinctPath } from '../../src/docstore/read/distinct-values.ts'
import type { Database, Document } from '../../src/index.ts'
import { equalValues } from '../../src/model/compare.ts'
import { adversarial, plain, testSeed } from '../support/arbitraries.ts'
import { checkAnyPath, checkIndexes, checkKinds, filled } from './value-cases.ts'

const seed = testSeed()

/** Compares by MongoDB's equality: either of two equal values may be returned. */
async function check(db: Database, path: string, filter: Document = {}): Promise<void> {
  const expected = new DistinctValues(distinctPath(path))
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
  test(`random filters, any path of ${name} documents: values are right`, () => checkAnyPath(profile, seed, check))
}

test('values that share a row, and others, are all found', () => checkKinds(check))

test('one document is read for each value with a row, and all documents of other values', async () => {
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
      // One document of the common text, and the five with a rare one.
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

test('digits are a position in an array, and a key in an object', () => {
  const documents: Document[] = [
    { a: [1, { b: 2 }] },
    { a: [[3, 4], { 0: 5 }] },
    { a: { 0: [6, { 0: 7 }] } },
    { a: [{ 0: 8 }] },
    { a: [{ b: [9, [10]] }] }
  ]
  const distinct = (path: string): unknown[] => {
    const values = new DistinctValues(distinctPath(path))
    for (const document of documents) values.add(document)
    return values.toArray()
  }
  assert.equal(distinct('a.0'), [1, 3, 4, 6, { 0: 7 }, { 0: 8 }, { b: [9, [10]] }])
  assert.equal(distinct('a.0.0'), [3, 6, 8])
  assert.equal(distinct('a.00'), [])
  assert.equal(distinct('a.b.1'), [10])
  assert.equal(distinct('a.b'), [2, 9, [10]])
})

test('a declared index, no index, value filters and computed ids give the same values', () => checkIndexes(check))

test.run()
