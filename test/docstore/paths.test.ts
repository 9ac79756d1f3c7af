/** paths() gives what reading all matches gives, and reads next to nothing where the index knows all paths. */
import { inspect } from 'node:util'
import { Decimal128, Long, ObjectId } from 'bson'
import fc from 'fast-check'
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { PathCounts } from '../../src/docstore/read/path-counts.ts'
import { type Database, type Document, open, type PathSummary } from '../../src/index.ts'
import { equalValues } from '../../src/model/compare.ts'
import { typeNames, typeOf } from '../../src/model/types.ts'
import { adversarial, documents, plain, testSeed } from '../support/arbitraries.ts'
import { scratchPath } from './scratch.ts'
import { askableFilters, count, filled } from './value-cases.ts'

const seed = testSeed()

/** Every value in a document with its path, which leaves out positions and keys of only digits. */
function* valuesIn(document: Document, path: readonly string[] = []): Generator<[path: string, value: unknown]> {
  for (const [key, field] of Object.entries(document)) {
    if (field !== undefined) yield* valuesOf(field, /^[0-9]+$/.test(key) ? path : [...path, key])
  }
}

function* valuesOf(value: unknown, path: readonly string[]): Generator<[path: string, value: unknown]> {
  yield [path.join('.'), value]
  const type = typeNames[typeOf(value)]
  if (type === 'object') yield* valuesIn(value as Document, path)
  if (type === 'array') {
    for (const element of value as unknown[]) yield* valuesOf(element === undefined ? null : element, path)
  }
}

type Plain = Pick<PathSummary, 'path' | 'documents' | 'types'>

function expectedPaths(matches: readonly Document[]): Plain[] {
  const documentsOf = new Map<string, Set<number>>()
  const note = (what: string, i: number): void => {
    documentsOf.set(what, (documentsOf.get(what) ?? new Set()).add(i))
  }
  matches.forEach((document, i) => {
    for (const [path, value] of valuesIn(document)) {
      note(JSON.stringify([path]), i)
      note(JSON.stringify([path, typeNames[typeOf(value)]]), i)
    }
  })
  const byPath = new Map<string, { documents: number; types: Record<string, number> }>()
  for (const [what, { size }] of documentsOf) {
    const [path, type] = JSON.parse(what) as [string, string?]
    const entry = byPath.get(path) ?? { documents: 0, types: {} }
    if (type === undefined) entry.documents = size
    else entry.types[type] = size
    byPath.set(path, entry)
  }
  return [...byPath].map(([path, entry]) => ({ path, ...entry })).sort((a, b) => (a.path < b.path ? -1 : 1))
}

async function check(db: Database, filter: Document): Promise<void> {
  const matches = await db.find(filter, { hint: 'scan' }).toArray()
  const found = await db.paths(filter)
  const counted = found.map(({ path, documents, types }) => ({ path, documents, types }))
  counted.sort((a, b) => (a.path < b.path ? -1 : 1))
  assert.equal(counted, expectedPaths(matches), inspect(filter, { depth: 9 }))
  const missing = new Map(found.filter(({ example }) => example !== undefined).map((each) => [each.path, each.example]))
  for (const document of matches) {
    if (missing.size === 0) break
    for (const [path, value] of valuesIn(document)) {
      if (missing.has(path) && equalValues(missing.get(path), value)) missing.delete(path)
    }
  }
  assert.equal([...missing], [], 'examples that no document has')
  for (const { path, types, example } of found) {
    const isScalar = Object.keys(types).some((type) => type !== 'object' && type !== 'array')
    if (isScalar && !('binData' in types)) assert.is.not(example, undefined, path)
  }
}

for (const [name, profile] of [
  ['adversarial', adversarial],
  ['plain', plain]
] as const) {
  test(`paths of ${name} documents are right for random filters`, async () => {
    const many = fc.sample(documents(profile), { numRuns: 120, seed })
    const db = await filled((i) => many[(i * i) % many.length]!)
    await db.index.rebuild()
    // Adds an open segment, and two that are not rebuilt.
    await db.insertMany(Array.from({ length: 700 }, (_, i) => ({ ...many[i % 9]!, _id: count + i })))
    for (const filter of [{}, ...askableFilters(profile, 25, seed)]) await check(db, filter)
    await db.close()
  })
}

/** How many documents are looked at. */
async function looks(ask: () => Promise<unknown>): Promise<number> {
  const { examine } = PathCounts.prototype
  let looked = 0
  PathCounts.prototype.examine = function (document) {
    looked++
    examine.call(this, document)
  }
  try {
    await ask()
    return looked
  } finally {
    PathCounts.prototype.examine = examine
  }
}

test('a document is read only if an example is still missing', async () => {
  const db = await filled((i) => ({
    // Frequent enough for rows of their own in the smallest segment, too.
    lang: `l${i % 8}`,
    user: { name: `n${i}`, ...(i % 3 === 0 && { verified: true }) },
    tags: [{ text: 'a', at: [1, null] }],
    mixed: i % 2 === 0 ? i : String(i)
  }))
  for (const filter of [{}, { lang: 'l3' }, { 'user.verified': true }]) {
    assert.ok((await looks(() => check(db, filter))) <= 5)
  }
  const { documents, types } = (await db.paths({ lang: { $in: ['l3', 'l4'] } })).find(({ path }) => path === 'mixed')!
  assert.is(documents, types.number! + types.string!)
  // Documents that the index is not certain of are read.
  assert.is(await looks(() => db.paths({ 'user.name': /7$/ })), await db.countDocuments({ 'user.name': /7$/ }))
  await db.close()
})

test('documents that have keys with dots are the only ones read, once each, as long as they are few', async () => {
  const fields = Object.fromEntries(Array.from({ length: 30 }, (_, i) => [`f${i}`, i]))
  for (const [every, most] of [
    [500, 12],
    [10, 256],
    [1, count]
  ] as const) {
    const db = await filled((i) => ({ a: { b: i % 5, ...fields }, ...(i % every === 0 && { 'a.b': 'x', 'c.d': 1 }) }))
    await check(db, {})
    const looked = await looks(() => db.paths())
    assert.ok(looked <= most, `${looked} for one of ${every}`)
    await db.close()
  }
})

test('the example is of the most frequent type, and null only if there is no other', async () => {
  for (let i = 0; i < 5; i++) {
    const db = await filled((i) => ({
      v: i % 700 === 5 ? true : i % 5 < 2 ? 'text' : i % 5 < 3 ? i : null,
      w: i % 3 === 0 ? [null] : []
    }))
    const examples = new Map((await db.paths()).map(({ path, example }) => [path, example]))
    assert.is(examples.get('v'), 'text')
    assert.is(examples.get('w'), null)
    await db.close()
  }
})

test('every kind of index, and a declared one, give the same paths', async () => {
  for (const options of [{ index: 'none' }, { index: 'embedded' }, { ids: 'reversible' }, {}]) {
    const db = await filled((i) => ({ lang: `l${i % 20}`, n: i % 50 }), options)
    await db.createIndex({ n: 1 })
    for (const filter of [{}, { n: 7 }, { n: { $gte: 45 } }, { _id: { $in: [1, 2, 3] } }, { lang: 'l3' }]) {
      await check(db, filter)
    }
    await db.close()
  }
})

test('paths are right after reopening, with more keys than rows, and for documents that are too large', async () => {
  const path = scratchPath()
  const options = { index: { segmentBits: 4096 } }
  const documentAt = (i: number): Document => ({
    _id: i,
    [`k${i % 2900}`]: i,
    é: new Date(i),
    ...(i % 100 === 0 && { 7: [null] })
  })
  const db = await open(path, options)
  // A sealed segment and an open one, both with fewer types on paths than documents, but more than rows. Threads would
  // seal both.
  await db.insertMany(
    Array.from({ length: 7500 }, (_, i) => documentAt(i)),
    { threads: 0 }
  )
  await check(db, {})
  await db.close()
  await using again = await open(path, options)
  await check(again, {})
  await check(again, { k3: { $exists: true } })
  await again.insertOne({
    _id: 'large',
    all: Object.fromEntries(Array.from({ length: 21_000 }, (_, i) => [`x${i}`, i]))
  })
  await check(again, {})
})

test('types that come after the last indexed value are counted, in an open segment and a sealed one', async () => {
  const db = await filled((i) => ({ n: i === 1005 ? Array.from({ length: 21_000 }, (_, k) => k) : i, z: 1 }))
  await check(db, {})
  await db.insertMany(Array.from({ length: 100 }, (_, i) => ({ _id: count + i, a: 1 })))
  await db.insertOne({ _id: 'large', n: Array.from({ length: 21_000 }, (_, k) => k), z: 'late' })
  await check(db, {})
  await db.close()
})

test("types have MongoDB's names, the most frequent first", async () => {
  const typesOf = async (db: Database): Promise<string[]> =>
    Object.keys((await db.paths()).find(({ path }) => path === 'w')!.types)
  await using db = await open(scratchPath())
  await db.insertMany([
    { _id: 1, v: [1, 'a', { x: null }, [true]] },
    { _id: 2, v: Long.ONE, w: Decimal128.fromString('1.5') },
    { _id: 3, v: new ObjectId('65a1b2c3d4e5f60718293a4b'), w: new Date(5), z: {} },
    { _id: 4, v: /a/i, w: 1n, 'v.x': 2 }
  ])
  assert.equal(await db.paths(), [
    { path: '_id', documents: 4, types: { number: 4 }, example: 1 },
    {
      path: 'v',
      documents: 4,
      types: { number: 2, string: 1, object: 1, array: 1, objectId: 1, bool: 1, regex: 1 },
      example: 1
    },
    { path: 'v.x', documents: 2, types: { null: 1, number: 1 }, example: 2 },
    { path: 'w', documents: 3, types: { number: 2, date: 1 }, example: Decimal128.fromString('1.5') },
    { path: 'z', documents: 1, types: { object: 1 }, example: undefined }
  ])
  assert.equal(await typesOf(db), ['number', 'date'])
  assert.equal(await db.collection('nothing').paths(), [])
})

test.run()
