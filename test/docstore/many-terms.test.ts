/** Filters with more terms than row memory has frames, and with more levels than any document has. */
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { rowMemory } from '../../src/bloom/kernels/index.ts'
import { type Document, open } from '../../src/index.ts'
import { compileFilter } from '../../src/query/filter.ts'
import { rejects } from './scratch.ts'

const count = 700
const documents: readonly Document[] = Array.from({ length: count }, (_, i) => ({
  _id: i,
  n: i % 350,
  text: `text ${i}`,
  lang: ['en', 'de', 'fr'][i % 3],
  ...(i % 5 > 0 && { a: { b: i % 50 } }),
  tags: [`t${i % 90}`, `u${i % 7}`]
}))

/** One sealed segment and an open one. */
async function opened() {
  const db = await open('unused', { store: 'memory', index: { segmentBits: 512 } })
  await db.insertMany(documents)
  return db
}

type Term = (i: number) => Document

/** Terms for every kind of row: hashed, private, columns, negated, nested. */
const terms: Readonly<Record<string, Term>> = {
  'equalities of a nested path': (i) => ({ 'a.b': i % 60 }),
  'texts that are there': (i) => ({ text: `text ${i}` }),
  'texts that are not there': (i) => ({ text: { $ne: `other ${i}` } }),
  'texts to be left out': (i) => ({ text: { $ne: `text ${2 * i}` } }),
  'ranges of numbers': (i) => ({ n: { $gte: i % 100 } }),
  'ranges that nothing is in': (i) => ({ n: { $not: { $gt: 1000 + i } } }),
  'tags, some of many documents': (i) => ({ tags: i % 2 === 0 ? `t${i % 95}` : { $ne: `t${i % 11}` } }),
  'conditions on two paths': (i) => ({ text: `text ${i}`, n: { $gte: i % 9 } }),
  'conditions on two paths to be left out': (i) => ({ $nor: [{ text: `text ${2 * i}`, n: { $gte: i % 9 } }] }),
  alternatives: (i) => ({ $or: [{ n: { $gte: 5 } }, { text: `text ${i}` }, { 'a.b': i % 60 }] }),
  conjunctions: (i) => ({ $and: [{ n: { $gte: i % 9 } }, { $nor: [{ lang: 'fr' }, { text: `text ${i}` }] }] })
}

const manyTerms = 70_000

test('filters with more terms than row memory has frames are answered, and free their frames', async () => {
  const memory = rowMemory()
  assert.ok(manyTerms > memory.frames)
  await using db = await opened()
  await db.countDocuments({ lang: 'en', text: { $ne: 'text 1' }, n: { $gte: 1 } })
  const { freeFrames, scratch } = memory
  const list = (term: Term, length = manyTerms) => Array.from({ length }, (_, i) => term(i))
  const different = list((i) => ({ text: { $ne: `other ${i}` } }))
  assert.is(await db.countDocuments({ $and: different }), count)
  assert.is(await db.countDocuments({ $nor: different }), 0)
  assert.is(await db.countDocuments({ $and: [...different, { lang: 'de' }] }), Math.floor((count + 1) / 3))
  // As many that are not combined.
  const absent = list((i) => ({ text: `other ${i}`, n: { $gte: 0 } }))
  assert.is(await db.countDocuments({ $or: absent }), 0)
  assert.is(await db.countDocuments({ $and: absent.map((filter) => ({ $nor: [filter] })) }), count)
  // Leaves one document to the matcher, which tests every term on it.
  const one = { text: 'text 120' }
  assert.is(await db.countDocuments({ $and: [...list((i) => ({ n: { $gte: i % 100 } })), one] }), 1)
  const half = Math.floor(manyTerms / 2)
  assert.is(await db.countDocuments({ $and: [...list(terms.alternatives as Term, half), one] }), 1)
  assert.is(await db.countDocuments({ $or: list((i) => ({ text: `text ${i}` })) }), count)
  assert.is(await db.countDocuments({ $or: list((i) => ({ text: `other ${i}` })) }), 0)
  const texts = Array.from({ length: manyTerms }, (_, i) => `text ${3 * i}`)
  assert.is(await db.countDocuments({ text: { $in: texts } }), 234)
  assert.is(await db.countDocuments({ text: { $nin: texts } }), 466)
  const tags = Array.from({ length: manyTerms }, (_, i) => `u${i % 2}`)
  assert.is(await db.countDocuments({ tags: { $all: tags } }), 0)
  assert.is(await db.countDocuments({ tags: { $all: tags.map(() => 'u3') } }), 100)
  assert.is(memory.scratch, scratch)
  assert.ok(freeFrames - memory.freeFrames < 2000, `${freeFrames} frames before, ${memory.freeFrames} after`)
})

for (const [name, term] of Object.entries(terms)) {
  test(`${name}: any number of terms, also around the size of a group, finds what a scan finds`, async () => {
    await using db = await opened()
    for (const length of [2, 31, 32, 33, 62, 63, 64, 65, 94, 129]) {
      const list = Array.from({ length }, (_, i) => term(i))
      for (const filter of [
        { $and: list },
        { $or: list },
        { $nor: list },
        { $and: [{ $or: list.slice(1) }, { $nor: list.slice(0, 2) }, { lang: { $ne: 'de' } }] }
      ]) {
        const { matches } = compileFilter(filter)
        const expected = documents.filter((document) => matches(document)).map(({ _id }) => _id)
        const found = await db.find(filter, { hint: 'index' }).toArray()
        assert.equal(
          found.map(({ _id }) => _id),
          expected,
          `${Object.keys(filter)} of ${length}`
        )
        assert.is(await db.countDocuments(filter), expected.length)
      }
    }
  })
}

test('a deeply nested expression holds frames only for its levels', async () => {
  const memory = rowMemory()
  await using db = await opened()
  const term = terms.conjunctions as Term
  let filter: Document = { lang: 'en' }
  for (let level = 0; level < 45; level++) {
    const others = Array.from({ length: 40 }, (_, i) => term(40 * level + i))
    filter =
      level % 2 === 0 ? { $and: [...others, { $or: [{ n: { $gte: 3 } }] }, filter] } : { $or: [filter, ...others] }
  }
  const { matches } = compileFilter(filter)
  const expected = documents.filter((document) => matches(document)).length
  const { scratch } = memory
  assert.is(await db.countDocuments(filter), expected)
  assert.is(memory.scratch, scratch)
})

test('filters nested too deeply are refused, whatever the operator', async () => {
  await using db = await opened()
  for (const depth of [51, 1000, 10_000, 100_000]) {
    const nested: Record<string, Document> = {}
    for (const operator of ['$and', '$or', '$nor']) {
      let filter: Document = { n: 5 }
      for (let i = 0; i < depth; i++) filter = { [operator]: [filter, { lang: 'fr' }] }
      nested[operator] = filter
    }
    let not: Document = { $eq: 5 }
    let elemMatch: Document = { n: 5 }
    for (let i = 0; i < 2 * depth; i++) {
      not = { $not: not }
      elemMatch = { x: { $elemMatch: elemMatch } }
    }
    nested.$not = { n: not }
    nested.$elemMatch = elemMatch
    for (const [operator, filter] of Object.entries(nested)) {
      for (const call of [
        () => db.find(filter).toArray(),
        () => db.countDocuments(filter),
        () => db.find(filter).explain(),
        () => db.updateMany(filter, { $set: { changed: true } }),
        () => db.updateOne({ n: 1 }, { $pull: { tags: filter } }),
        () => db.deleteMany(filter)
      ]) {
        const { message } = await rejects(call(), 'BadValue')
        assert.match(message, 'nested deeper than 100 levels', operator)
      }
    }
  }
  assert.is(await db.countDocuments(), count)
  assert.is(await db.countDocuments({ changed: true }), 0)
})

test.run()
