/**
 * The first documents of a sort come from the columns of the index, and equal those of a full sort, in order, with
 * missing, null, array and other values mixed in.
 */
import { Decimal128, Long } from 'bson'
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { type Database, type Explanation, open } from '../../src/index.ts'
import { testSeed } from '../support/arbitraries.ts'
import { turnsDuring } from '../support/loop-turns.ts'
import { randomFrom } from '../support/random.ts'
import { rejects, scratchPath } from './scratch.ts'

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

/** Odd values that sort in one place, so that the index can count what comes before a key. */
const singular = oddities.slice(0, 4)

const words = ['alpha', 'beta', 'gamma', 'dé', '日本', '']

/** @param odd share of odd values */
function makeDocument(_id: number, odd: number, kinds: readonly (() => unknown)[]): Record<string, unknown> {
  const isOdd = (): boolean => random() < odd
  return {
    _id,
    n: isOdd() ? oneOf(kinds)() : below(2000) - 1000,
    at: isOdd() ? oneOf(kinds)() : new Date(1_700_000_000_000 + _id * 1000 + below(3000)),
    iso: isOdd() ? oneOf(kinds)() : new Date(1_700_000_000_000 + _id * 60_000).toISOString(),
    few: isOdd() ? oneOf(kinds)() : below(4),
    ...(random() < 0.3 && { rare: below(100) }),
    deep: isOdd() && kinds === oddities ? [{ n: below(50) }, { m: 1 }, { n: oneOf(kinds)() }] : { n: below(3000) },
    group: below(3),
    word: oneOf(words)
  }
}

const operators = ['$lt', '$lte', '$gt', '$gte', '$eq'] as const

/** An end of a range on any of the paths. */
function end(): unknown {
  return oneOf([
    () => below(2000) - 1000,
    () => below(100),
    () => new Date(1_700_000_000_000 + below(2_000_000)),
    () => new Date(1_700_000_000_000 + below(2000) * 60_000).toISOString(),
    () => oneOf(oddities)() ?? null,
    () => oneOf(words)
  ])()
}

/** What comes behind the last document of a page, in a sort by the path and the `_id`. */
function nextPage(path: string, operator: '$lt' | '$gt', last: unknown): Record<string, unknown> {
  return { $or: [{ [path]: { [operator]: last } }, { [path]: last, _id: { [operator]: below(2000) } }] }
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

/** Ranges on one path, of which some leave few or none. */
const ranges: readonly (() => Record<string, unknown>)[] = [
  () => ({ [oneOf(paths)]: { [oneOf(operators)]: end() } }),
  () => ({ [oneOf(paths)]: { $gte: end(), $lt: end() } }),
  () => ({ n: { $in: [end(), end(), end()] } }),
  () => ({ n: { $elemMatch: { $gt: below(500), $lt: below(1000) } } }),
  () => nextPage(oneOf(paths), oneOf(['$lt', '$gt']), end())
]

/** Returns a detail of a stage. */
function detailOf({ queryPlanner: { winningPlan } }: Explanation, name: string, detail: string): unknown {
  for (let stage: typeof winningPlan | undefined = winningPlan; stage; stage = stage.inputStage) {
    if (stage.stage === name) return stage[detail]
  }
  return undefined
}

/** @returns how many of the queries for first pages were answered by columns, and how many there were */
async function ask(db: Database, questions: number): Promise<{ byColumns: number; first: number }> {
  let byColumns = 0
  let first = 0
  for (let i = 0; i < questions; i++) {
    const isRange = below(3) === 0
    const filter = oneOf(isRange ? ranges : filters)()
    const sort: [string, 1 | -1][] = [[oneOf(paths), oneOf([1, -1])]]
    // Sorting by two paths that lead through arrays may be an error.
    if (below(3) === 0 && sort[0]![0] !== 'word') sort.push(['word', oneOf([1, -1])])
    const options = { sort, skip: oneOf([below(3) * below(10), below(2500)]), limit: 1 + below(25) }
    const ids = async (hint?: 'scan'): Promise<unknown[]> =>
      (await db.find(filter, { ...options, ...(hint && { hint }) }).toArray()).map(({ _id }) => _id)
    const shown = `${JSON.stringify(filter)} ${JSON.stringify(options)}`
    assert.equal(await ids(), await ids('scan'), shown)
    if (options.skip > 20 || isRange) continue
    first++
    if (detailOf(await db.find(filter, options).explain(), 'SORT', 'orderedBy') !== undefined) byColumns++
  }
  return { byColumns, first }
}

for (const [name, odd, kinds] of [
  ['few odd keys', 0.03, oddities],
  ['many odd keys', 0.4, oddities],
  ['nulls, NaN and infinity', 0.2, singular],
  ['no odd keys', 0, []]
] as const) {
  test(`sort with limit equals a full sort: ${name}, through deletions, updates, rebuild and reopen`, async () => {
    const location = scratchPath()
    const options = { index: { segmentBits: 512, rangeCodes: 'all' } } as const
    let db = await open(location, options)
    const next = { id: 0 }
    const insert = (count: number) =>
      db.insertMany(Array.from({ length: count }, () => makeDocument(next.id++, odd, kinds)))
    let byColumns = 0
    let questions = 0
    const check = async (count: number): Promise<void> => {
      const asked = await ask(db, count)
      byColumns += asked.byColumns
      questions += asked.first
    }
    await insert(700)
    await check(20)
    await insert(1500)
    await check(45)
    await db.deleteMany({ group: 1, few: 2 })
    await db.updateMany({ _id: { $gte: 300, $lt: 900 } }, { $inc: { version: 1 } })
    await check(45)
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
  for (const [sort, most, filter = {}] of [
    [{ at: -1 }, 150],
    [{ at: 1 }, 150],
    [{ score: -1 }, 400],
    [{ score: 1, at: 1 }, 400],
    // Ties are broken by ordinals: one segment has all that are needed.
    [{ zero: 1 }, 20],
    [{ zero: 1 }, 20, { zero: { $gte: 0 } }],
    [{ zero: 1 }, 20, { zero: { $gt: -1 } }],
    [{ zero: -1 }, 20, { zero: { $lte: 0 } }],
    [{ zero: -1 }, 400],
    // Most documents lack the field, which sorts first or last.
    [{ rare: -1 }, 150],
    [{ rare: 1 }, 20]
  ] as const) {
    const shown = JSON.stringify([filter, sort])
    const found = await db.find(filter, { sort, limit: 10 }).toArray()
    assert.equal(found, await db.find(filter, { sort, limit: 10, hint: 'scan' }).toArray(), shown)
    const { executionStats, index } = await db.find(filter, { sort, limit: 10 }).explain()
    assert.ok(executionStats.totalDocsExamined <= most, `${shown}: ${executionStats.totalDocsExamined}`)
    assert.ok(index.segments.pruned < index.segments.total)
  }
  await db.close()
})

test('a page that begins at a value reads little more than its own documents', async () => {
  const db = await open(scratchPath(), { index: { segmentBits: 4096, rangeCodes: 'all' } })
  const count = 12_000
  await db.insertMany(
    Array.from({ length: count }, (_, i) => {
      const score = (i * 7919) % count
      const at = new Date(1e12 + 1000 * score)
      return {
        _id: i,
        score,
        at,
        name: `name ${String(score).padStart(6, '0')}`,
        half: i % 2
      }
    })
  )
  await db.index.rebuild()
  for (const path of ['score', 'at', 'name']) {
    for (const direction of [1, -1] as const) {
      for (const place of [100, 4000, 6000, 11_800]) {
        const { [path]: value, _id } = (await db.findOne({ score: place })) as unknown as Record<string, never>
        const after = direction === 1 ? '$gt' : '$lt'
        const page = { $or: [{ [path]: { [after]: value } }, { [path]: value, _id: { [after]: _id } }] }
        for (const filter of [
          { [path]: { [after]: value } },
          { [path]: { [`${after}e`]: value } },
          page,
          { half: 1, ...page },
          { $and: [{ [path]: { $exists: true } }, page] },
          { score: { $gte: place - 500, $lt: place + 500 } }
        ]) {
          const options = { sort: { [path]: direction, _id: direction }, limit: 10 } as const
          const shown = `${JSON.stringify(filter)} ${JSON.stringify(options)}`
          assert.equal(
            await db.find(filter, options).toArray(),
            await db.find(filter, { ...options, hint: 'scan' }).toArray(),
            shown
          )
          const { executionStats } = await db.find(filter, options).explain()
          assert.ok(executionStats.totalDocsExamined <= 400, `${shown}: ${executionStats.totalDocsExamined}`)
        }
      }
    }
  }
  await db.close()
})

test('a page far into an order reads little more than its own documents, from the first page to the last', async () => {
  const db = await open(scratchPath(), { index: { segmentBits: 1024 }, documentCacheBytes: 0 })
  const count = 8000
  await db.insertMany(
    Array.from({ length: count }, (_, i) => ({
      _id: i,
      at: new Date(1e12 + 1000 * i),
      score: ((i * 7919) % count) - 5,
      half: i % 2,
      some: i % 5 === 0 ? null : (i * 31) % 1000,
      ...(i % 3 > 0 && { less: i })
    }))
  )
  await db.index.rebuild()
  await db.deleteMany({ _id: { $gte: 3000, $lt: 3100 } })
  const readIn = new Map<string, number>()
  for (const sort of [
    { at: 1 },
    { at: -1 },
    { score: 1, _id: -1 },
    { score: -1 },
    { some: 1 },
    { some: -1 },
    { less: 1 },
    { less: -1 }
  ] as const) {
    for (const filter of [{}, { half: 1 }, { score: { $not: { $mod: [3, 0] } } }]) {
      const all = await db.find(filter, { sort, hint: 'scan' }).toArray()
      for (const skip of [
        255,
        700,
        1300,
        all.length >> 1,
        all.length - 30,
        all.length - 5,
        all.length,
        all.length + 9
      ]) {
        const shown = `${JSON.stringify(sort)}, ${JSON.stringify(filter)}, skip ${skip}`
        const options = { sort, skip, limit: 10 }
        assert.equal(await db.find(filter, options).toArray(), all.slice(skip, skip + 10), shown)
        const stages = [{ $match: filter }, { $sort: sort }, { $skip: skip }, { $limit: 10 }]
        assert.equal(await db.aggregate(stages).toArray(), all.slice(skip, skip + 10), shown)
        const explanation = await db.find(filter, options).explain()
        const { executionStats } = explanation
        assert.is(executionStats.nReturned, Math.min(10, Math.max(0, all.length - skip)), shown)
        const counted = detailOf(explanation, 'SKIP', 'counted') as number
        assert.ok(counted <= skip, shown)
        if ('at' in sort && skip === 1300 && !('score' in filter)) assert.ok(counted > 1200, `${shown}: ${counted}`)
        readIn.set(shown, executionStats.totalDocsExamined)
      }
    }
  }
  for (const [shown, most] of [
    ['{"at":1}, {}, skip 3950', 250],
    ['{"at":-1}, {"half":1}, skip 1300', 250],
    ['{"score":1,"_id":-1}, {}, skip 3950', 600],
    ['{"score":-1}, {"half":1}, skip 1300', 600],
    ['{"less":-1}, {}, skip 3950', 300]
  ] as const) {
    assert.ok(readIn.get(shown)! <= most, `${shown}: ${readIn.get(shown)}`)
  }
  await db.close()
})

test('a sort needs memory for the fields that it looks at, and for one slice of its page', async () => {
  const db = await open(scratchPath(), { documentCacheBytes: 0 })
  const count = 1200
  const text = 'x'.repeat(100_000)
  for (let _id = 0; _id < count; _id += 100) {
    await db.insertMany(Array.from({ length: 100 }, (_, i) => ({ _id: _id + i, key: { is: (_id + i) % 7 }, text })))
  }
  const options = { sort: { key: 1, _id: 1 }, skip: 1100, limit: 60 } as const
  const found = await db.find({}, options).toArray()
  const ids = Array.from({ length: count }, (_, i) => i).sort((a, b) => (a % 7) - (b % 7) || a - b)
  assert.equal(
    found.map(({ _id }) => _id),
    ids.slice(1100, 1160)
  )
  assert.ok(found.every((document) => document.text === text))
  await rejects(db.find({}, { ...options, limit: 0 }).toArray(), 'QueryExceededMemoryLimit')
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

test('the first of an order whose beginning does not match are found without reading what comes after them', async () => {
  const count = 12_000
  const at = (place: number): Date => new Date(1e12 + 1000 * place)
  for (const isSealed of [false, true]) {
    await using db = await open(scratchPath(), { index: { segmentBits: isSealed ? 4096 : 16_384, rangeCodes: 'all' } })
    await db.insertMany(
      Array.from({ length: count }, (_, _id) => {
        const place = (_id * 7919) % count
        return { _id, at: at(place), score: place, name: `name ${String(place).padStart(6, '0')}`, state: 'new' }
      })
    )
    if (isSealed) await db.index.rebuild()
    for (const taken of [0, 40, 500, 3000, 9000]) {
      await db.updateMany({ score: { $lt: taken }, state: 'new' }, { $set: { state: 'done' } })
      for (const path of ['at', 'score', 'name']) {
        for (const [direction, state] of [
          [1, 'new'],
          [-1, 'done']
        ] as const) {
          for (const limit of [1, 20]) {
            const options = { sort: { [path]: direction }, limit } as const
            const shown = `${taken} taken, ${isSealed ? 'sealed' : 'open'}: ${JSON.stringify([{ state }, options])}`
            const found = await db.find({ state }, options).toArray()
            assert.equal(found, await db.find({ state }, { ...options, hint: 'scan' }).toArray(), shown)
            const { executionStats } = await db.find({ state }, options).explain()
            // Up to so many candidates are all read; sealed columns know no smaller parts than a 256th.
            const most = 256 + 2 * limit + 5 * limit + 64 + (isSealed ? (3 * count) / 256 : 0)
            assert.ok(executionStats.totalDocsExamined <= most, `${shown}: ${executionStats.totalDocsExamined}`)
          }
        }
      }
    }
  }
})

test('the event loop turns between the documents that are read as a whole after sorting', async () => {
  await using db = await open(scratchPath(), { documentCacheBytes: 0 })
  const text = 'x'.repeat(500)
  await db.insertMany(Array.from({ length: 600 }, (_, i) => ({ _id: i, n: (i * 7) % 600, text })))
  const first = (limit: number): Promise<unknown> => db.find({}, { hint: 'scan', sort: { n: 1 }, limit }).toArray()
  const turns = (await turnsDuring(() => first(200))) - (await turnsDuring(() => first(1)))
  assert.ok(turns > 150, `${turns} turns for 200 documents`)
})

test.run()
