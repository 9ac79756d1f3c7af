/**
 * The first documents of a sort come from the columns of the index, and equal those of a full sort, in order, with
 * missing, null, array and other values mixed in.
 */
import { Decimal128, Long } from 'bson'
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { type Database, type Explanation, open } from '../../src/index.ts'
import { testSeed } from '../support/arbitraries.ts'
import { randomFrom } from '../support/random.ts'
import { scratchPath } from './scratch.ts'

const seed = testSeed()
const random = randomFrom(seed)
const below = (limit: number): number => Math.floor(random() * limit)
const oneOf = <T>(values: readonly T[]): T => values[below(values.length)]!

/** Values that no column holds, or that sort by one of several values. */
const oddities: readonly (() => unknown)[] = [
  () => undefined,
  () => null,
  () => Number.NaN,
  () => Number.NEGATIVE_INFINITY,
  () => `text ${below(50)}`,
  () => new Date(below(1000)),
  () => [below(2000), below(2000)],
  () => [below(2000)],
  () => [],
  () => [null, below(2000)],
  () => [[below(2000)]],
  () => [`text ${below(9)}`, below(2000)],
  () => ({ x: below(5) }),
  () => true,
  () => Long.fromString('9007199254740993'),
  () => Decimal128.fromString(`${below(2000)}.1`)
]

const words = ['alpha', 'beta', 'gamma', 'dé', '日本', '']

/** @param odd share of odd values */
function makeDocument(_id: number, odd: number): Record<string, unknown> {
  const isOdd = (): boolean => random() < odd
  return {
    _id,
    n: isOdd() ? oneOf(oddities)() : below(2000) - 1000,
    at: isOdd() ? oneOf(oddities)() : new Date(1_700_000_000_000 + _id * 1000 + below(3000)),
    iso: isOdd() ? oneOf(oddities)() : new Date(1_700_000_000_000 + _id * 60_000).toISOString(),
    few: isOdd() ? oneOf(oddities)() : below(4),
    ...(random() < 0.3 && { rare: below(100) }),
    deep: isOdd() ? [{ n: below(50) }, { m: 1 }, { n: oneOf(oddities)() }] : { n: below(3000) },
    group: below(3),
    word: oneOf(words)
  }
}

const paths = ['n', 'at', 'iso', 'few', 'rare', 'deep.n', '_id', 'word', 'nowhere', 'deep.0.n']
const filters: readonly (() => Record<string, unknown>)[] = [
  () => ({}),
  () => ({ group: below(3) }),
  () => ({ group: { $ne: below(3) }, word: oneOf(words) }),
  () => ({ n: { $gte: below(1000) - 500 } }),
  () => ({ rare: { $exists: below(2) === 0 } }),
  () => ({ word: { $regex: 'a' } }),
  () => ({ $where: ({ _id }: { _id: number }) => _id % 7 !== 0 }),
  () => ({ $or: [{ few: 1 }, { n: { $lt: 0 } }] }),
  () => ({ few: null })
]

function orderedBy({ queryPlanner: { winningPlan } }: Explanation): unknown {
  for (let stage: typeof winningPlan | undefined = winningPlan; stage; stage = stage.inputStage) {
    if (stage.stage === 'SORT') return stage.orderedBy
  }
  return undefined
}

/** @returns how many of the queries were answered by columns */
async function ask(db: Database, questions: number): Promise<number> {
  let byColumns = 0
  for (let i = 0; i < questions; i++) {
    const filter = oneOf(filters)()
    const sort: [string, 1 | -1][] = [[oneOf(paths), oneOf([1, -1])]]
    // Sorting by two paths that lead through arrays may be an error.
    if (below(3) === 0 && sort[0]![0] !== 'word') sort.push(['word', oneOf([1, -1])])
    const options = { sort, skip: below(3) * below(10), limit: 1 + below(25) }
    const ids = async (hint?: 'scan'): Promise<unknown[]> =>
      (await db.find(filter, { ...options, ...(hint && { hint }) }).toArray()).map(({ _id }) => _id)
    const shown = `${JSON.stringify(filter)} ${JSON.stringify(options)}`
    assert.equal(await ids(), await ids('scan'), shown)
    if (orderedBy(await db.find(filter, options).explain()) !== undefined) byColumns++
  }
  return byColumns
}

for (const [name, odd] of [
  ['few odd keys', 0.03],
  ['many odd keys', 0.4],
  ['no odd keys', 0]
] as const) {
  test(`sort with limit equals a full sort: ${name}, through deletions, updates, rebuild and reopen`, async () => {
    const location = scratchPath()
    const options = { index: { segmentBits: 512, rangeCodes: 'all' } } as const
    let db = await open(location, options)
    const next = { id: 0 }
    const insert = (count: number) => db.insertMany(Array.from({ length: count }, () => makeDocument(next.id++, odd)))
    let byColumns = 0
    let questions = 0
    const check = async (count: number): Promise<void> => {
      byColumns += await ask(db, count)
      questions += count
    }
    await insert(700)
    await check(15)
    await insert(1500)
    await check(30)
    await db.deleteMany({ group: 1, few: 2 })
    await db.updateMany({ _id: { $gte: 300, $lt: 900 } }, { $inc: { version: 1 } })
    await check(30)
    await db.close()
    db = await open(location, options)
    await check(15)
    await db.index.rebuild()
    await insert(100)
    await check(30)
    await db.close()
    // Most paths have columns unless many values are odd.
    if (odd < 0.1) assert.ok(byColumns > questions / 4, `${byColumns} of ${questions} by columns`)
  })
}

test('the first documents of a sort are found by reading few, also with more sort fields', async () => {
  const db = await open(scratchPath(), { index: { segmentBits: 1024 } })
  const count = 5000
  await db.insertMany(
    Array.from({ length: count }, (_, i) => ({
      _id: i,
      at: 1e12 + i,
      score: (i * 7919) % count,
      zero: (i * 31) % 7 < 4 ? 0 : i,
      ...(i % 40 === 0 && { rare: i })
    }))
  )
  // The first segment has no parameters of its own yet.
  await db.index.rebuild()
  for (const [sort, most] of [
    [{ at: -1 }, 150],
    [{ at: 1 }, 150],
    [{ score: -1 }, 400],
    [{ score: 1, at: 1 }, 400],
    // Ties are broken by ordinals: one segment has all that are needed.
    [{ zero: 1 }, 20],
    [{ zero: -1 }, 400],
    // Most documents lack the field, which sorts first or last.
    [{ rare: -1 }, 150],
    [{ rare: 1 }, 20]
  ] as const) {
    const found = await db.find({}, { sort, limit: 10 }).toArray()
    assert.equal(found, await db.find({}, { sort, limit: 10, hint: 'scan' }).toArray(), JSON.stringify(sort))
    const { executionStats, index } = await db.find({}, { sort, limit: 10 }).explain()
    assert.ok(executionStats.totalDocsExamined <= most, `${JSON.stringify(sort)}: ${executionStats.totalDocsExamined}`)
    assert.ok(index.segments.pruned < index.segments.total)
  }
  await db.close()
})

test('a search that finds too few on the way reads everything, and still sees one state', async () => {
  const db = await open(scratchPath(), { index: { segmentBits: 1024 } })
  await db.insertMany(
    Array.from({ length: 4000 }, (_, i) => ({ _id: i, at: 4000 - i, text: i < 5 ? 'needle' : 'hay' }))
  )
  const cursor = db.find({ text: { $regex: 'needle$' } }, { sort: { at: 1 }, limit: 20 })
  const first = await cursor.next()
  await db.deleteMany({ _id: { $lt: 3 } })
  const rest = await cursor.toArray()
  assert.equal([first?._id, ...rest.map(({ _id }) => _id)], [4, 3, 2, 1, 0])
  await db.close()
})

test('findOneAndUpdate() and findOneAndDelete() take the first document of a sort', async () => {
  const db = await open(scratchPath(), { index: { segmentBits: 1024 } })
  await db.insertMany(Array.from({ length: 3000 }, (_, i) => ({ _id: i, priority: (i * 7) % 3000, state: 'new' })))
  const taken = await db.findOneAndUpdate({ state: 'new' }, { $set: { state: 'taken' } }, { sort: { priority: -1 } })
  assert.is(taken?.priority, 2999)
  const deleted = await db.findOneAndDelete({ state: 'new' }, { sort: { priority: -1 } })
  assert.is(deleted?.priority, 2998)
  await db.close()
})

test.run()
