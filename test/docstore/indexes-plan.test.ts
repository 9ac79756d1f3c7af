/** When and how a declared index is used, and what explain() says about it. */
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { type Document, type Explanation, open, type PlanStage } from '../../src/index.ts'
import { rejects, scratchPath } from './scratch.ts'

const count = 6000
const db = await open(scratchPath())
await db.insertMany(
  Array.from({ length: count }, (_, i) => ({
    _id: i,
    user: i % 300,
    at: (i * 7919) % count,
    code: `c${i}`,
    weight: (i * 31) % count,
    label: `l${(i * 17) % count}`,
    list: [i % 10, 20 - (i % 10)]
  }))
)
await db.createIndex({ user: 1, at: -1 })
await db.createIndex({ at: 1 })
await db.createIndex({ at: 1, _id: 1 })
await db.createIndex({ code: 1 }, { unique: true })
await db.createIndex({ list: 1 })

test.after(() => db.close())

function stagesOf({ queryPlanner }: Explanation): PlanStage[] {
  const stages: PlanStage[] = []
  for (let stage: PlanStage | undefined = queryPlanner.winningPlan; stage; stage = stage.inputStage) stages.push(stage)
  return stages
}

const namesOf = (explanation: Explanation): string[] => stagesOf(explanation).map(({ stage }) => stage)

test('a prefix, a range or a list of values reads only the entries of the result', async () => {
  for (const [filter, indexName, keys] of [
    [{ user: 7 }, 'user_1_at_-1', 20],
    [{ user: 7, at: { $gte: 0, $lt: 10_000 } }, 'user_1_at_-1', 20],
    [{ at: { $gte: 100, $lt: 150 } }, 'at_1', 50],
    [{ user: { $in: [1, 2, 3, 3] } }, 'user_1_at_-1', 60],
    [{ code: 'c77' }, 'code_1', 1],
    [{ code: { $in: ['c1', 'c2', 'none'] } }, 'code_1', 2]
  ] as const) {
    const explanation = await db.find(filter).explain()
    const scan = stagesOf(explanation).at(-1)
    assert.is(scan?.stage, 'IXSCAN', JSON.stringify(filter))
    assert.is(scan?.indexName, indexName)
    assert.is(explanation.executionStats.totalKeysExamined, keys, JSON.stringify(filter))
    assert.is(explanation.executionStats.totalDocsExamined, keys)
    assert.is(explanation.index.falsePositives, 0)
  }
})

test('sorting by an index walks it in either direction, and sorts nothing', async () => {
  for (const [filter, sort] of [
    [{}, { at: 1 }],
    [{}, { at: -1 }],
    [{ user: 7 }, { at: -1 }],
    [{ user: 7 }, { at: 1 }],
    [{}, { user: -1, at: 1 }],
    [{ user: { $gt: 290 } }, { user: 1, at: -1 }]
  ] as const) {
    const explanation = await db.find(filter, { sort, limit: 5 }).explain()
    assert.equal(namesOf(explanation), ['LIMIT', 'FETCH', 'IXSCAN'])
    assert.ok(explanation.executionStats.totalDocsExamined <= 5)
    const found = await db.find(filter, { sort, limit: 5 }).toArray()
    assert.equal(found, await db.find(filter, { sort, limit: 5, hint: 'scan' }).toArray())
  }
})

test('a range over most documents does not use a declared index, nor does an order that skips too many', async () => {
  assert.not(namesOf(await db.find({ at: { $gte: 10 } }).explain()).includes('IXSCAN'))
  const rare = await db
    .find({ _id: { $gte: 100, $lt: 103 }, list: { $size: 2 } }, { sort: { at: 1 }, limit: 2 })
    .explain()
  assert.ok(rare.executionStats.totalDocsExamined < count / 2, `${rare.executionStats.totalDocsExamined}`)
})

test('a page that begins after a given document is reached by the range that its $or implies', async () => {
  for (const [direction, sort] of [
    ['$lt', { at: -1, _id: -1 }],
    ['$gt', { at: 1, _id: 1 }]
  ] as const) {
    for (const at of [3, 2999, 5990]) {
      const after = { $or: [{ at: { [direction]: at } }, { at, _id: { [direction]: 3000 } }] }
      const explanation = await db.find(after, { sort, limit: 5, hint: 'at_1__id_1' }).explain()
      assert.ok(explanation.executionStats.totalKeysExamined <= 40, `${explanation.executionStats.totalKeysExamined}`)
      const expected = await db.find(after, { sort, limit: 5, hint: 'scan' }).toArray()
      assert.equal(await db.find(after, { sort, limit: 5 }).toArray(), expected)
      assert.equal(
        await db.find({ ...after, user: { $lt: 250 } }, { sort, limit: 2 }).toArray(),
        expected.filter(({ user }) => Number(user) < 250).slice(0, 2)
      )
    }
  }
})

test('branches of $or on one path read the entries between and nothing else', async () => {
  for (const [filter, keys] of [
    [{ $or: [{ at: { $gte: 10, $lt: 20 } }, { at: { $lt: 15, $gte: 5 } }, { at: 17 }] }, 15],
    [{ $or: [{ at: 100 }, { at: { $in: [101, 103] } }, { at: 101 }] }, 3],
    [{ $or: [{ at: { $lt: 5 } }, { at: { $gt: 5990 } }] }, 14],
    [{ $or: [{ at: { $lt: 5 } }, { at: 5 }], user: { $exists: true } }, 6],
    [{ $or: [{ at: 7, user: { $exists: true } }, { at: { $gt: 5997 } }] }, 3]
  ] as const) {
    const { executionStats } = await db.find(filter, { hint: 'at_1' }).explain()
    assert.is(executionStats.totalKeysExamined, keys, JSON.stringify(filter))
    const expected = await db.find(filter, { hint: 'scan' }).toArray()
    assert.equal(await db.find(filter).toArray(), expected)
    assert.is(await db.countDocuments(filter), expected.length)
  }
})

test('the first documents of another order come from its columns, not from all entries of the filter', async () => {
  const filter = { code: { $gte: 'c4' } }
  for (const options of [
    { sort: { weight: 1 }, limit: 5 },
    { sort: { weight: -1 }, skip: 20, limit: 5 }
  ] as const) {
    const { executionStats } = await db.find(filter, options).explain()
    assert.ok(executionStats.totalDocsExamined < 500, `${executionStats.totalDocsExamined}`)
    const expected = await db.find(filter, { ...options, hint: 'scan' }).toArray()
    assert.equal(await db.find(filter, options).toArray(), expected)
  }
  // All matches, or an order without columns, take the entries.
  for (const options of [{ sort: { weight: 1 } }, { sort: { label: 1 }, limit: 5 }, {}] as const) {
    const explanation = await db.find(filter, options).explain()
    assert.is(stagesOf(explanation).at(-1)?.indexName, 'code_1', JSON.stringify(options))
    assert.is(explanation.executionStats.totalDocsExamined, 2666)
  }
})

test('documents sort by elements that the filter excludes', async () => {
  const options = { sort: { list: 1 }, limit: 3 } as const
  const filter = { list: { $gte: 18 } }
  const smallest = (found: readonly Record<string, unknown>[]) =>
    found.map(({ list }) => Math.min(...(list as number[])))
  const expected = smallest(await db.find(filter, { ...options, hint: 'scan' }).toArray())
  assert.equal(smallest(await db.find(filter, options).toArray()), expected)
  assert.equal(smallest(await db.find(filter, { ...options, hint: 'list_1' }).toArray()), expected)
  assert.equal(smallest(await db.find({}, options).toArray()), [0, 0, 0])
  assert.is(namesOf(await db.find({}, options).explain()).at(-1), 'IXSCAN')
})

test('two conditions on an array may be met by two elements, unless $elemMatch demands one', async () => {
  const between = { list: { $gt: 9, $lt: 12 } }
  assert.is(await db.countDocuments(between), await db.countDocuments(between, { hint: 'scan' }))
  assert.ok((await db.countDocuments(between)) > 0)
  const explanation = await db.find({ list: { $elemMatch: { $gt: 10, $lt: 12 } } }).explain()
  assert.is(explanation.executionStats.totalKeysExamined, count / 10)
})

test('exact entries are counted without reading a document', async () => {
  assert.is(await db.countDocuments({ user: 7 }), 20)
  assert.is(await db.countDocuments({ at: { $lt: 500 } }), 500)
  assert.is(await db.countDocuments({ at: null }), 0)
  assert.is(await db.countDocuments({ user: 7 }, { skip: 5, limit: 10 }), 10)
})

test('hint takes a name or a key pattern, and one that names no index is refused', async () => {
  const named = await db.find({ user: 7 }, { hint: 'at_1' }).explain()
  assert.is(stagesOf(named).at(-1)?.indexName, 'at_1')
  assert.is(named.executionStats.nReturned, 20)
  const patterned = await db.find({ user: 7 }, { hint: { user: 1, at: -1 } }).explain()
  assert.is(stagesOf(patterned).at(-1)?.indexName, 'user_1_at_-1')
  assert.is(namesOf(await db.find({ user: 7 }, { hint: 'index' }).explain()).at(-1), 'BLOOM')
  const unknown = await rejects(db.find({}, { hint: 'nothing' }).toArray(), 'BadValue')
  assert.is(unknown.message, 'The index "nothing" specified by hint cannot be used: there is no such index')
  const pattern = await rejects(db.find({}, { hint: { none: 1 } }).toArray(), 'BadValue')
  assert.is(pattern.message, 'The index {"none":1} specified by hint cannot be used: there is no such index')
  await rejects(db.find({}, { hint: 5 as never }).toArray(), 'BadValue')
})

test('stats() lists every declared index', async () => {
  const [collection] = (await db.stats()).collections
  assert.equal(
    collection?.declared.map(({ name, multikey }) => [name, multikey]),
    [
      ['user_1_at_-1', false],
      ['at_1', false],
      ['at_1__id_1', false],
      ['code_1', false],
      ['list_1', true]
    ]
  )
})

test('invalid indexes are refused with a matching error', async () => {
  for (const spec of [{}, { a: 2 }, { 'a..b': 1 }, { $a: 1 }, 5, [], { '__proto__.a': 1 }]) {
    await rejects(db.createIndex(spec as never), 'BadValue')
  }
  const wrong = [
    [{ a: 5 }, "The direction of 'a' must be 1 or -1, not 5"],
    [{ a: true }, "The direction of 'a' must be 1 or -1, not true"],
    [[['a', 1, 2]], "An index takes pairs [path, direction], got 3 elements at 'a'"]
  ] as const
  // @ts-expect-error: these are no specifications
  for (const [spec, says] of wrong) assert.is((await rejects(db.createIndex(spec), 'BadValue')).message, says)
  await rejects(db.createIndex({ a: 'text' } as never), 'CommandNotSupported')
  await rejects(db.createIndex({ a: 1 }, { hidden: true } as never), 'BadValue')
  await rejects(db.createIndex({ a: 1 }, { name: 'scan' }), 'BadValue')
})

test('a page far into the order of an index is reached without the documents before it', async () => {
  await using far = await open(scratchPath(), { documentCacheBytes: 0 })
  const many = 20_000
  await far.insertMany(
    Array.from({ length: many }, (_, i) => ({
      _id: i,
      at: (i * 7919) % many,
      name: `n${(i * 31) % 9000}`,
      half: i % 2
    }))
  )
  await far.index.rebuild()
  await far.createIndex({ at: 1 })
  await far.createIndex({ name: 1 })
  for (const [filter, sort, skip, most] of [
    // The entries say which documents match.
    [{}, { at: 1 }, 12_000, 10],
    [{ at: { $gte: 100 } }, { at: -1 }, 12_000, 10],
    [{}, { name: 1 }, 5000, 10],
    // The columns of the index over pairs count those that do.
    [{ half: 1 }, { at: 1 }, 8000, 1500],
    [{ half: 0 }, { at: -1 }, 5000, 1500],
    // Names have no columns.
    [{ half: 1 }, { name: -1 }, 2000, many]
  ] as const) {
    const options = { sort, skip, limit: 10 }
    const shown = JSON.stringify({ filter, ...options })
    const page = await far.find(filter, options).toArray()
    const all = await far.find(filter, { sort, hint: 'scan' }).toArray()
    const keys = (documents: readonly Document[]): unknown[] =>
      documents.map(({ at, name }) => ('at' in sort ? at : name))
    assert.equal(keys(page), keys(all.slice(skip, skip + 10)), shown)
    const { executionStats } = await far.find(filter, options).explain()
    assert.is(executionStats.nReturned, 10, shown)
    assert.ok(executionStats.totalDocsExamined <= most, `${shown}: ${executionStats.totalDocsExamined}`)
    const stages = [{ $match: filter }, { $sort: sort }, { $skip: skip }, { $limit: 10 }]
    assert.equal(await far.aggregate(stages).toArray(), page, shown)
    // A hint is followed.
    const hinted = await far.find(filter, { ...options, hint: 'at' in sort ? 'at_1' : 'name_1' }).toArray()
    assert.equal(keys(hinted), keys(page), shown)
  }
})

test.run()
