/**
 * $graphLookup: what it reaches from where, at which depth; compared with a walk over all documents, on random graphs.
 */
import { Decimal128, Long } from 'bson'
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { type Database, type Document, open } from '../../src/index.ts'
import { testSeed } from '../support/arbitraries.ts'
import { randomFrom } from '../support/random.ts'
import { refusesStages } from './aggregate-over.ts'
import { rejects, scratchPath } from './scratch.ts'

/** What is reached from documents with `start`, over another collection that contains `graph`. */
async function reached(
  starts: readonly Document[],
  graph: readonly Document[],
  search: Document
): Promise<readonly unknown[]> {
  await using db = await open('unused', { store: 'memory' })
  await db.insertMany(starts.map((start, i) => ({ _id: i, ...start })))
  if (graph.length > 0) await db.collection('graph').insertMany([...graph])
  const defaults = { from: 'graph', startWith: '$start', connectFromField: 'to', connectToField: '_id', as: 'found' }
  const found = await db.aggregate([{ $graphLookup: { ...defaults, ...search } }]).toArray()
  return found.map((document) => document.found)
}

const ids = (lists: readonly unknown[]): unknown[] => lists.map((list) => (list as Document[]).map(({ _id }) => _id))

/** 0 – 1 – 2 – … – 99, as in MongoDB's own test. */
const line = Array.from({ length: 100 }, (_, i) => ({ _id: i, to: [i - 1, i + 1] }))

test('it follows arrays to all neighbours, breadth first, up to maxDepth, and returns the depth', async () => {
  assert.equal(ids(await reached([{ start: 50 }], line, { maxDepth: 2 })), [[50, 49, 51, 48, 52]])
  const [all] = await reached([{ start: 50 }], line, { depthField: 'way.steps' })
  assert.is((all as Document[]).length, 100)
  for (const { _id, way } of all as Document[]) assert.equal(way, { steps: Math.abs(50 - (_id as number)) })
  assert.equal(ids(await reached([{ start: 50 }], line, { startWith: { $add: ['$start', 3] }, maxDepth: 0 })), [[53]])
  assert.equal(ids(await reached([{}], line, { startWith: [1, 2, 3, 2], maxDepth: 0 })), [[1, 2, 3]])
  assert.equal(ids(await reached([{}], line, { startWith: { $literal: [[1, 2]] } })), [[]])
  assert.equal(ids(await reached([{ start: 98 }], line, { maxDepth: Long.fromNumber(1) })), [[98, 97, 99]])
})

test('cycles end, and a document reached in several ways is returned once', async () => {
  const cycle = [
    { _id: 'a', to: ['b', 'c'] },
    { _id: 'b', to: 'd' },
    { _id: 'c', to: ['d', 'c'] },
    { _id: 'd', to: 'a' },
    { _id: 'e', to: 'a' }
  ]
  assert.equal(ids(await reached([{ start: 'a' }, { start: 'd' }, { start: 'e' }], cycle, {})), [
    ['a', 'b', 'c', 'd'],
    ['d', 'a', 'b', 'c'],
    ['e', 'a', 'b', 'c', 'd']
  ])
})

test('a missing value leads nowhere; null finds null, but not missing', async () => {
  const graph = [
    { _id: 0, to: 1, key: 1 },
    { _id: 1, to: 1, key: null },
    { _id: 2, to: 1 },
    { _id: 3, to: null, key: 5 },
    { _id: 4, key: 6 },
    { _id: 5, to: [], key: 7 }
  ]
  const by = { connectToField: 'key' }
  const starts = [{ start: null }, {}, { start: 5 }, { start: 6 }, { start: 7 }, { start: [] }, { start: [null, 7] }]
  assert.equal(ids(await reached(starts, graph, by)), [[1, 0], [], [3, 1, 0], [4], [5], [], [1, 5, 0]])
})

test('paths lead through arrays and objects at both ends', async () => {
  const graph = [
    { _id: 1, links: [{ to: 'x' }, { to: ['y'] }, {}], names: [{ name: 'start' }] },
    { _id: 2, links: { to: 'z' }, names: [{ name: 'x' }, { name: 'other' }] },
    { _id: 3, names: { name: ['y', 'q'] } },
    { _id: 4, links: 'z', names: { name: 'z' } }
  ]
  const by = { connectFromField: 'links.to', connectToField: 'names.name' }
  assert.equal(ids(await reached([{ start: 'start' }], graph, by)), [[1, 2, 3, 4]])
})

test('values are equal as in queries: numbers of all kinds, and objects with their key order', async () => {
  const graph = [
    { _id: 1, to: 2n },
    { _id: 2, to: Decimal128.fromString('3.0') },
    { _id: 3, to: { a: 1, b: 2 } },
    { _id: { a: 1, b: 2 } },
    { _id: { b: 2, a: 1 } }
  ]
  assert.equal(ids(await reached([{ start: Long.fromNumber(1) }], graph, {})), [[1, 2, 3, { a: 1, b: 2 }]])
})

test('an object with an operator as its key, and a regular expression, lead to values that equal them', async () => {
  const graph = [
    { _id: 1, key: { $gt: 5 }, to: /^x/ },
    { _id: 2, key: 7, to: { $gt: 5 } },
    { _id: 3, key: /^x/, to: { $unknown: 1 } },
    { _id: 4, key: 'xyz', to: { a: 1 } }
  ]
  const by = { connectToField: 'key' }
  const starts = [{ start: { $gt: 5 } }, { start: 7 }, { start: /^x/ }, { start: 'xyz' }]
  assert.equal(ids(await reached(starts, graph, by)), [[1, 3], [2, 1, 3], [3], [4]])
  const few = { ...by, restrictSearchWithMatch: { _id: { $ne: 3 } } }
  assert.equal(ids(await reached(starts, graph, few)), [[1], [2, 1], [], [4]])
  assert.equal(ids(await reached([{}], graph, { ...by, startWith: /^x/ })), [[3]])
})

test('the result and the depth are set inside objects, which replace arrays and scalars on the way', async () => {
  await using db = await open('unused', { store: 'memory' })
  await db.insertOne({ _id: 1, a: [1, { z: 1 }], way: [{ s: 1 }] })
  const search = { from: 'default', startWith: 1, connectFromField: 'to', connectToField: '_id' }
  assert.equal(await db.aggregate([{ $graphLookup: { ...search, as: 'a.b', depthField: 'way.n' } }]).toArray(), [
    { _id: 1, a: { b: [{ _id: 1, a: [1, { z: 1 }], way: { n: 0 } }] }, way: [{ s: 1 }] }
  ])
})

test('restrictSearchWithMatch narrows every step, and may use $expr with the variables in scope', async () => {
  const people = Array.from({ length: 20 }, (_, i) => ({ _id: i, to: i + 1, age: i, odd: i % 2 === 1 }))
  assert.equal(ids(await reached([{ start: 3 }], people, { restrictSearchWithMatch: { age: { $lt: 7 } } })), [
    [3, 4, 5, 6]
  ])
  assert.equal(ids(await reached([{ start: 3 }], people, { restrictSearchWithMatch: { odd: true } })), [[3]])
  const even = { $expr: { $lte: [{ $mod: ['$age', 4] }, 2] } }
  assert.equal(ids(await reached([{ start: 4 }], people, { restrictSearchWithMatch: even })), [[4, 5, 6]])
  await using db = await open('unused', { store: 'memory' })
  await db.insertMany(people)
  const search = {
    from: 'default',
    startWith: '$to',
    connectFromField: 'to',
    connectToField: '_id',
    as: 'next',
    restrictSearchWithMatch: { $expr: { $lt: ['$age', '$$limit'] } }
  }
  const found = await db
    .aggregate([
      { $match: { _id: { $in: [2, 5] } } },
      {
        $lookup: {
          from: 'default',
          let: { limit: { $add: ['$_id', 4] } },
          pipeline: [{ $match: { _id: 3 } }, { $graphLookup: search }, { $project: { next: '$next._id' } }],
          as: 'from3'
        }
      },
      { $facet: { all: [{ $graphLookup: { ...search, restrictSearchWithMatch: { _id: { $lt: 8 } }, as: 'rest' } }] } }
    ])
    .toArray()
  const all = ((found[0] as Document).all as Document[]).map(({ from3, rest }) => ({ from3, rest: ids([rest]) }))
  assert.equal(all, [
    { from3: [{ _id: 3, next: [4, 5] }], rest: [[3, 4, 5, 6, 7]] },
    { from3: [{ _id: 3, next: [4, 5, 6, 7, 8] }], rest: [[6, 7]] }
  ])
})

test('it reads the other collection as of the first pull; one that does not exist is empty', async () => {
  await using db = await open('unused', { store: 'memory' })
  const graph = db.collection('graph')
  await db.insertOne({ _id: 1 })
  const search = { from: 'graph', startWith: '$_id', connectFromField: 'to', connectToField: '_id', as: 'found' }
  assert.equal(await db.aggregate([{ $graphLookup: search }]).toArray(), [{ _id: 1, found: [] }])
  await graph.insertMany([
    { _id: 1, to: 2 },
    { _id: 2, to: 3 }
  ])
  const cursor = db.aggregate([{ $graphLookup: search }])
  const pulled = cursor.next()
  await Promise.all([graph.insertOne({ _id: 3 }), graph.deleteOne({ _id: 2 })])
  assert.equal(ids([(await pulled)?.found]), [[1, 2]])
})

test('its memory is limited, and the error names the stage', async () => {
  await using db = await open('unused', { store: 'memory' })
  const text = 'x'.repeat(12 * 2 ** 20)
  for (let i = 0; i < 9; i++) await db.insertOne({ _id: i, to: i + 1, text })
  const search = { from: 'default', startWith: 0, connectFromField: 'to', connectToField: '_id', as: 'found' }
  const { message } = await rejects(
    db.aggregate([{ $limit: 1 }, { $graphLookup: search }]).toArray(),
    'QueryExceededMemoryLimit'
  )
  assert.match(message, /^\$graphLookup \(stage 1\)/)
  const few = { ...search, maxDepth: 7 }
  assert.is((await db.aggregate([{ $limit: 1 }, { $project: { _id: 1 } }, { $graphLookup: few }]).toArray()).length, 1)
})

test('a malformed $graphLookup is refused', async () => {
  const good = { from: 'graph', startWith: '$a', connectFromField: 'b', connectToField: 'c', as: 'd' }
  const without = (key: string): Document => Object.fromEntries(Object.entries(good).filter(([name]) => name !== key))
  await refusesStages(
    [{ a: 1 }],
    [
      [{ $graphLookup: 4 }, 'BadValue', /must be an object, not number/],
      ...Object.keys(good).map(
        (key) => [{ $graphLookup: without(key) }, 'FailedToParse', new RegExp(`${key} is required`)] as const
      ),
      [{ $graphLookup: { ...good, from: -1 } }, 'BadValue', /a collection name must be a string, not number/],
      [{ $graphLookup: { ...good, as: '$d' } }, 'BadValue', /component '\$d'/],
      [{ $graphLookup: { ...good, connectFromField: 0 } }, 'BadValue', /a path must be a string, not number/],
      [{ $graphLookup: { ...good, connectToField: '$c' } }, 'BadValue', /component '\$c'/],
      [{ $graphLookup: { ...good, depthField: '__proto__' } }, 'BadValue', /component '__proto__'/],
      [{ $graphLookup: { ...good, maxDepth: 'far' } }, 'BadValue', /maxDepth must be a whole number ≥ 0, not string/],
      [{ $graphLookup: { ...good, maxDepth: -1 } }, 'BadValue', /not -1/],
      [{ $graphLookup: { ...good, maxDepth: 2.3 } }, 'BadValue', /not 2.3/],
      [{ $graphLookup: { ...good, restrictSearchWithMatch: 'x' } }, 'BadValue', /takes a filter, not string/],
      [{ $graphLookup: { ...good, restrictSearchWithMatch: { $not: { a: 1 } } } }, 'BadValue', /\$not/],
      [
        { $graphLookup: { ...good, restrictSearchWithMatch: { $expr: '$$no' } } },
        'FailedToParse',
        /no variable \$\$no/
      ],
      [{ $graphLookup: { ...good, notAField: 1 } }, 'FailedToParse', /no option 'notAField'/]
    ]
  )
})

/** The same, by a walk over all documents for each step. */
function walk(
  graph: readonly Document[],
  start: readonly unknown[],
  maxDepth: number,
  isIn: (node: Document) => boolean
) {
  const depths = new Map<unknown, number>()
  let next = new Set(start)
  for (let depth = 0; next.size > 0 && depth <= maxDepth; depth++) {
    const found = graph.filter(
      (node) => !depths.has(node._id) && isIn(node) && valuesOf(node.key).some((key) => next.has(key))
    )
    for (const { _id } of found) depths.set(_id, depth)
    next = new Set(found.flatMap(({ to }) => valuesOf(to)))
  }
  return depths
}

const valuesOf = (value: unknown): readonly unknown[] =>
  Array.isArray(value) ? value : value === undefined ? [] : [value]

for (const store of ['memory', 'lsm'] as const) {
  test(`on random graphs it reaches what a walk over all documents reaches, with the store ${store}`, async () => {
    const random = randomFrom(testSeed())
    const below = (n: number): number => Math.floor(random() * n)
    for (let round = 0; round < 12; round++) {
      await using db: Database = await open(scratchPath(), {
        store,
        index: round % 3 === 0 ? 'none' : { segmentBits: 512 }
      })
      const size = 1 + below(120)
      const several = (max: number): unknown => {
        const values = Array.from({ length: below(max + 1) }, () => below(size))
        return values.length === 1 ? values[0] : values
      }
      const graph = Array.from({ length: size }, (_, i): Document => {
        const key = random() < 0.2 ? several(3) : i
        return { _id: `n${i}`, key, colour: below(3), ...(random() < 0.9 && { to: several(3) }) }
      })
      await db.collection('graph').insertMany(graph)
      await db.insertMany(Array.from({ length: 10 }, (_, i) => ({ _id: i, start: several(2) })))
      for (const maxDepth of [undefined, 0, below(4)]) {
        const colour = random() < 0.5 ? undefined : { $lt: 2 }
        const search = {
          from: 'graph',
          startWith: '$start',
          connectFromField: 'to',
          connectToField: 'key',
          as: 'found',
          depthField: 'depth',
          ...(maxDepth !== undefined && { maxDepth }),
          ...(colour && { restrictSearchWithMatch: { colour } })
        }
        const isIn = (node: Document): boolean => colour === undefined || (node.colour as number) < 2
        for (const { start, found } of await db.aggregate([{ $graphLookup: search }]).toArray()) {
          const expected = walk(graph, valuesOf(start), maxDepth ?? Number.POSITIVE_INFINITY, isIn)
          const depths = (found as Document[]).map(({ _id, depth }) => [_id, depth] as const)
          assert.is(depths.length, new Set(depths.map(([_id]) => _id)).size)
          assert.equal(new Map([...depths].sort()), new Map([...expected].sort()))
          assert.equal(
            depths.map(([, depth]) => depth),
            depths.map(([, depth]) => depth).sort((a, b) => (a as number) - (b as number))
          )
        }
      }
    }
  })
}

test('a step may look up thousands of values', async () => {
  await using db = await open('unused', { store: 'memory' })
  await db.insertMany(
    Array.from({ length: 3000 }, (_, i) => ({ _id: i, to: i === 0 ? Array.from({ length: 3500 }, (_, j) => j) : [] }))
  )
  const search = {
    from: 'default',
    startWith: 0,
    connectFromField: 'to',
    connectToField: '_id',
    as: 'found',
    depthField: 'd'
  }
  const [document] = await db.aggregate([{ $match: { _id: 1 } }, { $graphLookup: search }]).toArray()
  const found = document?.found as Document[]
  assert.is(found.length, 3000)
  assert.equal([found[0]?.d, found[1]?.d, found[2999]?.d], [0, 1, 1])
})

test.run()
