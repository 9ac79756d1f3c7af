/** A page is a slice of all matches, and costs only its own documents if the index is certain of those before it. */
import { inspect } from 'node:util'
import fc from 'fast-check'
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import type { Database, Document } from '../../src/index.ts'
import { adversarial, documents, testSeed } from '../support/arbitraries.ts'
import { askableFilters, count, filled } from './value-cases.ts'

const seed = testSeed()

function idsOf(found: readonly Document[]): unknown[] {
  return found.map(({ _id }) => _id)
}

/** Checks that every page by find(), aggregate() and explain() is a slice of all matches. */
async function checkPages(
  db: Database,
  filter: Document,
  pages: readonly (readonly [number, number])[]
): Promise<void> {
  for (const sort of [{}, { $natural: 1 }, { $natural: -1 }] as const) {
    for (const hint of [undefined, 'scan', 'index'] as const) {
      const options = { sort, ...(hint !== undefined && { hint }) }
      const all = idsOf(await db.find(filter, options).toArray())
      for (const [skip, limit] of pages) {
        const shown = inspect({ filter, skip, limit, ...options }, { depth: 9 })
        const expected = all.slice(skip, limit === 0 ? undefined : skip + limit)
        const cursor = db.find(filter, { ...options, skip, limit })
        const { executionStats } = await cursor.explain()
        assert.is(executionStats.nReturned, expected.length, `explain: ${shown}`)
        assert.equal(idsOf(await cursor.toArray()), expected, shown)
        const oneByOne: unknown[] = []
        for await (const { _id } of db.find(filter, { ...options, skip, limit })) oneByOne.push(_id)
        assert.equal(oneByOne, expected, `one by one: ${shown}`)
        assert.is(await db.countDocuments(filter, { skip, limit }), expected.length, `count: ${shown}`)
      }
    }
  }
  const all = idsOf(await db.find(filter).toArray())
  for (const [skip, limit] of pages) {
    const stages = [{ $match: filter }, { $skip: skip }, ...(limit === 0 ? [] : [{ $limit: limit }])]
    assert.equal(idsOf(await db.aggregate(stages).toArray()), all.slice(skip, limit === 0 ? undefined : skip + limit))
  }
}

test('pages of any filter are slices of all its matches', async () => {
  const many = fc.sample(documents(adversarial), { numRuns: count, seed })
  const db = await filled((i) => many[i]!)
  const asked = askableFilters(adversarial, 30, seed)
  for (const filter of [{}, { a: { $exists: true } }, ...asked]) {
    const found = await db.countDocuments(filter)
    await checkPages(db, filter, [
      [1, 2],
      [found >> 1, 5],
      [Math.max(0, found - 3), 0],
      [found, 1],
      [found + 7, 0]
    ])
  }
  await db.close()
})

test('pages are right among mixed certain and uncertain matches, wherever they begin', async () => {
  // Values in nested arrays are not certain, nor is a rare text.
  const db = await filled((i) => ({ n: i % 3, ...(i % 97 === 5 && { n: [[i % 3], 1] }), rare: `r${i >> 1}` }))
  for (const filter of [
    { n: 1 },
    { n: { $ne: 1 } },
    { $or: [{ n: 1 }, { rare: 'r700' }] },
    { n: 1, rare: { $gt: 'r5' } }
  ]) {
    const found = await db.countDocuments(filter)
    const pages = Array.from({ length: 12 }, (_, i) => [Math.floor((i * found) / 11), 1 + (i % 4)] as const)
    await checkPages(db, filter, pages)
  }
  await db.close()
})

test('a page far behind reads only its own documents', async () => {
  const db = await filled((i) => ({
    lang: i % 2 === 0 ? 'en' : 'de',
    text: `t${i}`,
    ...(i % 4 !== 0 && { place: i % 4 === 1 ? null : 'here' }),
    user: i % 3 === 0 ? { bio: 'long' } : {}
  }))
  // The first segment started before anything was known about the documents.
  await db.index.rebuild()
  for (const [filter, most] of [
    [{}, 10],
    [{ lang: 'en' }, 10],
    [{ lang: { $ne: 'de' } }, 10],
    [{ text: { $exists: true } }, 10],
    [{ place: null }, 10],
    [{ place: { $ne: null } }, 10],
    [{ place: { $in: [null, 'there'] } }, 10],
    // Rows of rare pairs may show an array on the way in a few documents.
    [{ 'user.bio': null }, 20]
  ] as const) {
    const cursor = db.find(filter, { skip: 900, limit: 10 })
    const { executionStats } = await cursor.explain()
    assert.is(executionStats.nReturned, 10)
    assert.ok(
      executionStats.totalDocsExamined <= most,
      `${executionStats.totalDocsExamined} documents for a page of 10`
    )
  }
  await db.close()
})

test('a declared index, computed ids and no index give the same pages', async () => {
  const documentAt = (i: number): Document => ({ lang: i % 2 === 0 ? 'en' : 'de', n: i % 50 })
  for (const options of [{ index: 'none' }, { index: 'embedded' }, { ids: 'reversible' }]) {
    const db = await filled(documentAt, options)
    await checkPages(db, { lang: 'en' }, [[1000, 10]])
    await db.createIndex({ n: 1 })
    for (const filter of [{ n: 7 }, { n: { $gte: 20 }, lang: 'en' }, { _id: { $gte: 100 } }]) {
      await checkPages(db, filter, [
        [3, 4],
        [200, 20]
      ])
    }
    await db.close()
  }
})

test.run()
