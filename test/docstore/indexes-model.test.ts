/**
 * Random writes under several declared indexes: each index answers every filter as a full scan does, through updates,
 * deletions, creating and dropping indexes, and reopens.
 */
import fc from 'fast-check'
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { type Database, type Document, open, PetalError, type SortSpec } from '../../src/index.ts'
import { isPlainObject } from '../../src/model/types.ts'
import { compileFilter } from '../../src/query/filter.ts'
import { compileSort } from '../../src/query/sort.ts'
import { adversarial, documents, filters, plain, testSeed } from '../support/arbitraries.ts'
import { randomFrom } from '../support/random.ts'
import { scratchPath } from './scratch.ts'

const seed = testSeed()
const random = randomFrom(seed)
const below = (limit: number): number => Math.floor(random() * limit)

const specs = [
  [{ a: 1 }, {}],
  [{ b: -1 }, {}],
  [{ 'a.b': 1 }, { sparse: true }],
  [{ a: -1, b: 1 }, {}],
  [{ 'a.b': 1, 'a.c': -1, c: 1 }, {}],
  [{ c: 1, version: -1 }, { sparse: true }]
] as const

const sorts: readonly SortSpec[] = [
  { a: 1 },
  { a: -1 },
  { b: 1 },
  { b: -1, _id: 1 },
  { a: 1, b: -1 },
  { a: -1, b: 1 },
  { 'a.b': 1, 'a.c': -1 }
]

function sample<T>(arbitrary: fc.Arbitrary<T>, count: number): T[] {
  return fc.sample(arbitrary, { numRuns: count, seed: below(2 ** 31) })
}

/** A filter that indexes can help with: conditions on their paths, with values that documents have. */
function question(values: readonly unknown[]): Document {
  const paths = ['a', 'b', 'c', 'a.b', 'a.c', 'version']
  const value = (): unknown => (below(4) === 0 ? below(3) : values[below(values.length)])
  const condition = (): unknown => {
    switch (below(9)) {
      case 0:
        return { $gt: value() }
      case 1:
        return { $lte: value() }
      case 2:
        return { $gte: value(), $lt: value() }
      case 3:
        return { $in: [value(), value(), null] }
      case 4:
        return { $in: [value(), value(), value()] }
      case 5:
        return { $elemMatch: { $gte: value(), $lte: value() } }
      case 6:
        return /^x/
      default:
        return { $eq: value() }
    }
  }
  const filter: Document = {}
  for (let i = 0; i <= below(3); i++) filter[paths[below(paths.length)]!] = condition()
  if (below(4) === 0) {
    const path = paths[below(paths.length)]!
    const branch = (): Document => ({ [path]: condition(), ...(below(3) === 0 ? filter : {}) })
    return { $or: Array.from({ length: 2 + below(2) }, branch) }
  }
  return below(4) === 0 ? { $and: [filter, { [paths[below(paths.length)]!]: { $ne: value() } }] } : filter
}

/** Scalars and objects on all paths. */
function valuesIn(document: unknown): unknown[] {
  if (Array.isArray(document)) return document.flatMap(valuesIn)
  if (!isPlainObject(document)) return document === undefined ? [] : [document]
  return [document, ...Object.values(document).flatMap(valuesIn)]
}

function compiles(filter: unknown): filter is Document {
  try {
    compileFilter(filter)
    return true
  } catch {
    return false
  }
}

/** Which writes are refused is tested elsewhere. @returns whether the write succeeded */
async function attempt(write: Promise<unknown>): Promise<boolean> {
  try {
    await write
    return true
  } catch (error) {
    if (error instanceof PetalError && error.codeName !== 'StoreFailure') return false
    throw error
  }
}

function show(value: unknown): string {
  return JSON.stringify(value, (_, part) => (typeof part === 'bigint' ? `${part}n` : part))
}

const idsOf = (found: readonly Document[]): unknown[] => found.map(({ _id }) => _id)

async function assertAlike(db: Database, questions: readonly Document[]): Promise<void> {
  const scanned = await db.find({}, { hint: 'scan' }).toArray()
  const names = db.listIndexes().map(({ name }) => name)
  for (const filter of questions) {
    const { matches } = compileFilter(filter)
    const expected = idsOf(scanned.filter(matches))
    const where = `seed ${seed}, ${show(filter)}`
    assert.equal(idsOf(await db.find(filter).toArray()), expected, where)
    assert.is(await db.countDocuments(filter), expected.length, `count: ${where}`)
    assert.equal(idsOf(await db.find(filter, { skip: 1, limit: 2 }).toArray()), expected.slice(1, 3), `limit: ${where}`)
    assert.equal(idsOf(await db.find(filter, { sort: { $natural: -1 } }).toArray()), [...expected].reverse(), where)
    for (const hint of names) await assertHinted(db, filter, hint, expected, where)
    const sort = sorts[below(sorts.length)]!
    await assertSorted(db, filter, sort, `${where}, sort ${show(sort)}`)
  }
}

async function assertHinted(db: Database, filter: Document, hint: string, expected: unknown[], where: string) {
  try {
    assert.equal(idsOf(await db.find(filter, { hint }).toArray()), expected, `${hint}: ${where}`)
    assert.is(await db.countDocuments(filter, { hint }), expected.length, `${hint}, count: ${where}`)
  } catch (error) {
    // A sparse index may lack matches of some filters, and then the hint is refused.
    if (!(error instanceof PetalError) || error.codeName !== 'BadValue') throw error
    assert.match(error.message, /sparse/)
  }
}

async function assertSorted(db: Database, filter: Document, spec: SortSpec, where: string): Promise<void> {
  const sort = compileSort(spec)
  let expected: Document[]
  try {
    expected = await db.find(filter, { sort: spec, hint: 'scan' }).toArray()
  } catch (error) {
    // Sorting by parallel arrays is an error; documents in the index have none.
    if (error instanceof PetalError && error.codeName === 'BadValue') return
    throw error
  }
  const found = await db.find(filter, { sort: spec }).toArray()
  const byId = (a: unknown, b: unknown): number => Number(a) - Number(b)
  assert.equal(idsOf(found).sort(byId), idsOf(expected).sort(byId), where)
  for (const [i, document] of found.entries()) assert.is(sort.compare(document, expected[i]!), 0, `${where}, at ${i}`)
  const few = await db.find(filter, { sort: spec, skip: 1, limit: 3 }).toArray()
  for (const [i, document] of few.entries()) assert.is(sort.compare(document, expected[i + 1]!), 0, `${where}, at ${i}`)
  assert.is(few.length, Math.max(0, Math.min(3, expected.length - 1)), where)
}

for (const [name, profile, index] of [
  ['adversarial', adversarial, 'sharded'],
  ['plain', plain, 'sharded'],
  ['adversarial', adversarial, 'none']
] as const) {
  test(`${name} documents, index '${index}': declared indexes answer like a scan, whatever is written`, async () => {
    const location = scratchPath()
    const options = { index: { kind: index, segmentBits: 512 } } as const
    let db = await open(location, options)
    const general = sample(filters(profile), 300).filter(compiles)
    const questions = (values: readonly unknown[]): Document[] => [
      ...Array.from({ length: 16 }, () => question(values)).filter(compiles),
      ...Array.from({ length: 5 }, () => general[below(general.length)] ?? {})
    ]
    let nextId = 0
    for (let round = 0; round < 3; round++) {
      // Some are created before the documents, some later, and some are dropped and created again.
      for (const [i, [spec, settings]] of specs.entries()) {
        if (below(2) === 0 || (round === 0 && i === 0)) await attempt(db.createIndex(spec, settings))
      }
      const [gone, ...others] = db.listIndexes()
      if (gone !== undefined && others.length > 0 && below(4) === 0) await db.dropIndex(gone.name)
      const batch: Document[] = sample(documents(profile), 60).map(({ _id: _, ...rest }) => ({
        _id: nextId++,
        version: 0,
        ...rest
      }))
      for (const document of batch.slice(0, 20)) await attempt(db.insertOne(document))
      await attempt(db.insertMany(batch.slice(20), { ordered: false }))
      for (let i = 0; i < 12; i++) {
        const from = below(nextId)
        const filter = { _id: { $gte: from, $lt: from + below(6) } }
        const { _id: _, ...other } = batch[below(batch.length)]!
        if (i % 4 === 0) await db.deleteMany(filter)
        else if (i % 4 === 1) await attempt(db.updateMany(filter, { $inc: { version: 1 } }))
        else if (i % 4 === 2) await attempt(db.replaceOne({ _id: from }, other))
        else await attempt(db.updateMany(filter, { $set: { a: other.a ?? null, c: [other.c ?? 1] } }))
      }
      const asked = questions(batch.flatMap(valuesIn))
      await assertAlike(db, asked)
      if (round % 3 === 2) {
        await db.close()
        db = await open(location, options)
        await assertAlike(db, asked)
      }
    }
    assert.ok(db.listIndexes().length > 0)
    await db.close()
  })
}

test.run()
