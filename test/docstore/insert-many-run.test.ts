/** insertMany() of random documents leaves the same state with threads and without. */
import { deepStrictEqual } from 'node:assert/strict'
import { ObjectId } from 'bson'
import fc from 'fast-check'
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { BulkWriteError, type Database, type Document, type InsertManyResult } from '../../src/index.ts'
import { jsonFormOf } from '../../src/sharded-bloom/byte-scan/plain.ts'
import { adversarial, documents, testSeed } from '../support/arbitraries.ts'
import { randomFrom } from '../support/random.ts'
import { assertNoTableIsLeft, assertSound, openCounted, questions, tweet, unitLines } from './load-cases.ts'

const seed = testSeed()
const random = randomFrom(seed)
const below = (limit: number): number => Math.floor(random() * limit)
const pick = <T>(list: readonly T[]): T => list[below(list.length)]!
const runs = Number(process.env.PETALDB_RUNS ?? 8)

/** Makes the i-th `_id`, all different; undefined: the document has none. */
const idForms: Readonly<Record<string, (i: number) => unknown>> = {
  ascending: (i) => i,
  scattered: (i) => (i * 7919) % 999_983,
  fractions: (i) => i - 1000.5,
  texts: (i) => `k${i}`,
  'texts beyond ASCII': (i) => `é${i}\n"`,
  ObjectIds: (i) => new ObjectId(((i * 7919) % 999_983).toString(16).padStart(24, '0')),
  bigints: (i) => 2n ** 53n + BigInt(i),
  dates: (i) => new Date(i * 1000),
  documents: (i) => ({ a: i, b: 'x' }),
  none: () => undefined,
  mixed: (i) => [i, `m${i}`, undefined, new ObjectId(i.toString(16).padStart(24, '0')), { i }][i % 5]
}

/** Drawn once, because samples of different runs differ. */
const odd = fc.sample(documents(adversarial), { numRuns: 3000, seed })

const bodies: readonly ((i: number) => Document)[] = [
  (i) => tweet(undefined, i),
  (i) => ({ ...tweet(undefined, i), text: `é 日本 "${i}"\\\n\ud83d`, list: [1, [2, { x: null }], i], none: undefined }),
  (i) => ({ ...tweet(undefined, i), at: new Date(1_704_000_000_000 + i * 1000), ref: new ObjectId() }),
  (i) => odd[i % odd.length]!
]

/** Documents that cannot be inserted or repeat an `_id`; `ids` returns the id of any document. */
const faults: Readonly<Record<string, (i: number, ids: (i: number) => unknown) => Document>> = {
  'an _id of one shortly before': (i, ids) => ({ _id: ids(Math.max(0, i - 3)), again: 1 }),
  'an _id of one long before': (i, ids) => ({ _id: ids(i >> 1), again: 2 }),
  'an _id that is stored': () => ({ _id: `s${below(150)}`, again: 3 }),
  'an _id that cannot be one': (i) => ({ _id: [i] }),
  'a function': (i) => ({ _id: `f${i}`, bad: () => i }),
  'a getter that throws': (i) => ({
    _id: `g${i}`,
    get bad() {
      throw new RangeError('mine')
    }
  })
}

interface Drawn {
  readonly documents: () => Document[]
  readonly hasFaults: boolean
  readonly shown: string
}

function drawDocuments(count: number): Drawn {
  const idForm = pick(Object.keys(idForms))
  const chosen = pick([[bodies[0]!], [bodies[0]!, bodies[1]!], [bodies[2]!], bodies])
  const hasFaults = random() < 0.5
  const fault = hasFaults ? pick(Object.keys(faults)) : undefined
  const isIdLast = random() < 0.3
  const ids = idForms[idForm]!
  const plan = Array.from({ length: count }, () => ({
    body: pick(chosen),
    isFaulty: fault !== undefined && random() < 0.001
  }))
  const at = (i: number): Document => {
    const { body, isFaulty } = plan[i]!
    if (isFaulty && fault !== undefined) return faults[fault]!(i, ids)
    const { _id, ...rest } = body(i)
    const id = ids(i)
    if (id === undefined) return rest
    return isIdLast ? { ...rest, _id: id } : { _id: id, ...rest }
  }
  // Documents are made once and copied, so that random faults are the same each time.
  const made = plan.map((_, i) => at(i))
  return {
    documents: () => made.map((document) => Object.defineProperties({}, Object.getOwnPropertyDescriptors(document))),
    hasFaults,
    shown: `${idForm}${fault === undefined ? '' : `, ${fault}`}`
  }
}

interface Outcome {
  readonly result: Pick<InsertManyResult, 'insertedCount' | 'insertedIds'>
  readonly errors: readonly (readonly [index: number, message: string])[]
}

type Source = (documents: Document[]) => Iterable<Document> | AsyncIterable<Document>

const sources: Readonly<Record<string, Source>> = {
  'an array': (list) => list,
  'an iterable': (list) => new Set(list),
  'an async iterable': async function* (list) {
    yield* list
  }
}

async function insert(
  db: Database,
  source: ReturnType<Source>,
  how: { readonly threads: number; readonly ordered: boolean }
): Promise<Outcome> {
  const result = await db.insertMany(source, how).catch((error: unknown) => {
    if (error instanceof BulkWriteError) return error
    throw error
  })
  const errors = result instanceof BulkWriteError ? result.writeErrors : []
  return { result, errors: errors.map(({ index, errmsg }) => [index, errmsg]) }
}

const idTypes: readonly Document[] = ['objectId', 'string', 'double', 'long'].map(($type) => ({ _id: { $type } }))

/** Generated ids differ, so they are left out. */
function comparable({ _id, ...rest }: Document, hasIds: boolean): unknown {
  return hasIds || !(_id instanceof ObjectId) ? { _id, ...rest } : rest
}

async function assertSame(loaded: Database, plain: Database, hasIds: boolean): Promise<void> {
  const [left, right] = [await loaded.find({}).toArray(), await plain.find({}).toArray()]
  assert.is(left.length, right.length)
  // One by one, because reporting the difference of two long lists takes long.
  for (const [i, document] of left.entries()) {
    // Node's function, because documents may have a key `constructor`.
    deepStrictEqual(comparable(document, hasIds), comparable(right[i]!, hasIds), `document ${i}`)
    assert.equal(Object.keys(document), Object.keys(right[i]!))
  }
  for (const filter of [...questions, ...idTypes]) {
    const expected = await plain.countDocuments(filter, { hint: 'scan' })
    assert.is(await loaded.countDocuments(filter), expected, JSON.stringify(filter))
  }
  const [a, b] = [await loaded.stats(), await plain.stats()]
  assert.equal([a.documents, a.documentBytes], [b.documents, b.documentBytes])
}

for (let run = 0; run < runs; run++) {
  const count = 1000 + below(3000)
  const drawn = drawDocuments(count)
  const before = pick([0, 0, 150, unitLines])
  const how = { threads: 1 + below(3), ordered: random() < 0.5 }
  const source = pick(Object.keys(sources))
  const told = JSON.stringify({ ...how, count, before })
  test(`${run}: ${source} of documents (${drawn.shown}), as with no threads (${told})`, async () => {
    const [loaded, plain] = [await openCounted(), await openCounted()]
    for (const { db } of [loaded, plain]) {
      await db.insertMany(
        Array.from({ length: before }, (_, i) => ({ _id: `s${i}` })),
        { threads: 0 }
      )
    }
    const outcomes: Outcome[] = []
    const given: Document[][] = []
    for (const [{ db }, threads] of [
      [loaded, how.threads],
      [plain, 0]
    ] as const) {
      const list = drawn.documents()
      outcomes.push(await insert(db, sources[source]!(list), { ...how, threads }))
      given.push(list)
    }
    const [outcome, expected] = outcomes as [Outcome, Outcome]
    assert.equal(outcome.errors, expected.errors)
    assert.is(outcome.result.insertedCount, expected.result.insertedCount)
    assert.equal(Object.keys(outcome.result.insertedIds), Object.keys(expected.result.insertedIds))
    // The caller's own ids, also those added to the documents.
    for (const [i, id] of Object.entries(outcome.result.insertedIds)) assert.is(id, given[0]![Number(i)]!._id)
    const hasIds = !/none|mixed/.test(drawn.shown)
    await assertSame(loaded.db, plain.db, hasIds)
    assert.is(plain.ingestedTables, 0)
    const isUsual = !drawn.hasFaults && given[0]!.every((document) => jsonFormOf(document) !== undefined)
    if (isUsual && source === 'an array') {
      const room = before === 0 ? 0 : unitLines - before
      const units = Math.floor((count - room) / unitLines)
      assert.ok(loaded.ingestedTables >= 3 * units, `${loaded.ingestedTables} tables of ${units} units`)
    }
    for (const opened of [loaded, plain]) await opened[Symbol.asyncDispose]()
    const [again, plainAgain] = [await openCounted(loaded.location), await openCounted(plain.location)]
    await assertSame(again.db, plainAgain.db, hasIds)
    await assertSound(again.db)
    for (const opened of [again, plainAgain]) await opened[Symbol.asyncDispose]()
    await assertNoTableIsLeft(loaded.location)
  })
}

test.run()
