/** Reads of many documents return and count the same whether or not some of them are cached. */
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { open } from '../../src/index.ts'
import type { Document } from '../../src/model/types.ts'
import { randomFrom } from '../support/random.ts'
import { temporaryDirectory } from '../support/temporary-directory.ts'

interface Numbered extends Document {
  readonly _id: number
  readonly n: number
  readonly kind: 'even' | 'odd'
  readonly text: string
}

const count = 5_000
const words = ['quartz', 'theater', 'jab', 'lantern', 'osprey', 'violet', 'marrow']

function numbered(n: number, random: () => number): Numbered {
  const text = Array.from({ length: 12 }, () => words[Math.floor(random() * words.length)]).join(' ')
  return { _id: n, n, kind: n % 2 === 0 ? 'even' : 'odd', text: n % 977 === 5 ? `${text} thor` : text }
}

/** Certain documents, documents to confirm, documents excluded by their bytes, and combinations. */
const queries: readonly (readonly [Document, (one: Numbered) => boolean])[] = [
  [{}, () => true],
  [{ kind: 'even' }, ({ kind }) => kind === 'even'],
  [{ n: { $mod: [5, 1] } }, ({ n }) => n % 5 === 1],
  [{ kind: 'odd', n: { $mod: [3, 1] } }, ({ kind, n }) => kind === 'odd' && n % 3 === 1],
  [{ text: { $regex: 'osprey jab' } }, ({ text }) => text.includes('osprey jab')],
  [{ text: { $regex: 'thor' } }, ({ text }) => text.includes('thor')],
  [
    { $or: [{ kind: 'even' }, { text: { $regex: 'thor' } }] },
    ({ kind, text }) => kind === 'even' || text.includes('thor')
  ],
  [
    { $or: [{ n: { $lt: 2000 } }, { text: { $regex: 'quartz' } }] },
    ({ n, text }) => n < 2000 || text.includes('quartz')
  ],
  [{ $where: ({ n }: Document) => (n as number) % 7 === 2 }, ({ n }) => n % 7 === 2]
]

test('scans over partly cached documents return the same, in the same order, as scans without a cache', async () => {
  const seed = Number(process.env.SEED ?? 20261123)
  const random = randomFrom(seed)
  const lsm = { writeBufferSize: 128 * 1024, cacheSize: 64 * 1024, blockSize: 512 }
  await using keeping = await open(temporaryDirectory(), { lsm })
  await using none = await open(temporaryDirectory(), { lsm, documentCacheBytes: 0 })
  let stored = Array.from({ length: count }, (_, n) => numbered(n, random))
  for (const db of [keeping, none]) await db.insertMany(stored)
  const end = count * 1.1
  let fresh = count
  for (let round = 0; round < 6; round++) {
    const shown = `seed ${seed}, round ${round}`
    // Caches a range of documents, of different length in each round, and some others here and there.
    const from = Math.floor(random() * end)
    const to = from + Math.floor(random() ** 2 * end)
    const every = 2 + Math.floor(random() * 30)
    const asked = stored.filter(({ n }) => (n >= from && n < to) || n % every === 0).map(({ _id }) => _id)
    for (let i = 0; i < 2; i++) await keeping.getMany(asked)
    for (const [filter, isMatch] of queries) {
      const expected = stored.filter(isMatch)
      const named = `${shown}: ${JSON.stringify(filter)}`
      const maxMatches = 1 + Math.floor(random() * expected.length)
      assert.equal(await keeping.find(filter, { hint: 'index' }).toArray(), expected, named)
      assert.equal(
        await keeping.find(filter).sort({ $natural: -1 }).toArray(),
        [...expected].reverse(),
        `${named}, newest first`
      )
      assert.equal(
        await keeping.find(filter).limit(maxMatches).toArray(),
        expected.slice(0, maxMatches),
        `${named}, ${maxMatches} of them`
      )
      assert.is(await keeping.countDocuments(filter), expected.length, named)
      const examined = await Promise.all(
        [keeping, none].map(async (db) => (await db.find(filter).explain()).executionStats.totalDocsExamined)
      )
      assert.is(examined[0], examined[1], named)
    }
    const gone = new Set(stored.filter(() => random() < 0.03).map(({ _id }) => _id))
    const added = Array.from(gone, () => numbered(fresh++, random))
    for (const db of [keeping, none]) {
      await db.deleteMany({ _id: { $in: [...gone] } })
      await db.insertMany(added)
    }
    stored = [...stored.filter(({ _id }) => !gone.has(_id)), ...added]
  }
})

test('a later addition to Object.prototype does not affect the remaining documents of a cursor', async () => {
  await using db = await open(temporaryDirectory())
  const stored = Array.from({ length: 400 }, (_, n) => ({ _id: n, third: n % 3, kind: { late: 'own' } }))
  await db.insertMany(stored)
  // By key and by a scan: all of them are cached, and copied by constructors.
  for (const filter of [{ third: 1 }, {}]) {
    for (let i = 0; i < 3; i++) await db.find(filter).toArray()
    const found: Document[] = []
    try {
      for await (const document of db.find(filter)) {
        found.push(document)
        if (found.length > 1) continue
        Object.defineProperty(Object.prototype, 'late', {
          set: () => {},
          get: () => 'inherited',
          configurable: true
        })
      }
    } finally {
      delete (Object.prototype as Document).late
    }
    const expected = stored.filter(({ third }) => filter.third === undefined || third === filter.third)
    assert.equal(found, expected)
    assert.ok(found.every(({ kind }) => Object.hasOwn(kind as Document, 'late')))
  }
})

test.run()
