/**
 * Random concurrent writes: replaying the events onto a Map, by complete documents or by update descriptions, gives the
 * contents of the collection.
 */
import fc from 'fast-check'
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { type ChangeEvent, type Document, open } from '../../src/index.ts'
import { cloneDocument } from '../../src/model/clone.ts'
import { encodeKey } from '../../src/model/key.ts'
import { toText } from '../../src/model/key-text.ts'
import { documents, plain, testSeed } from '../support/arbitraries.ts'
import { randomFrom } from '../support/random.ts'
import { AsyncLevel } from './odd-stores.ts'
import { scratchPath } from './scratch.ts'
import { eventsOf, lines } from './watch-cases.ts'

const seed = testSeed()
const random = randomFrom(seed)
const below = (limit: number): number => Math.floor(random() * limit)
const pick = <T>(list: readonly T[]): T => list[below(list.length)]!

const ids = 60
const drawn = fc.sample(documents(plain), { numRuns: 2000, seed })
const someDocument = (): Document => {
  const { _id: _, ...rest } = pick(drawn)
  return rest
}

type Db = Awaited<ReturnType<typeof open>>

/** Each may be refused, as a duplicate or because of a path that does not exist. */
const writes: readonly ((db: Db) => Promise<unknown>)[] = [
  (db) => db.insertOne({ _id: below(ids), ...someDocument() }),
  (db) =>
    db.insertMany(
      Array.from({ length: 1 + below(8) }, () => ({ _id: below(ids), ...someDocument() })),
      { ordered: false }
    ),
  (db) =>
    db.importLines(lines(...Array.from({ length: 1 + below(8) }, () => ({ _id: below(ids), ...someDocument() })))),
  (db) =>
    db.updateOne(
      { _id: below(ids) },
      { $set: { 'v.n': below(5) }, $push: { list: below(9) } },
      { upsert: below(3) === 0 }
    ),
  (db) => db.updateMany({ _id: { $gte: below(ids) } }, { $inc: { 'v.count': 1 }, $pop: { list: pick([1, -1]) } }),
  (db) =>
    db.updateMany(
      { 'v.n': below(5) },
      { $rename: { v: 'w' }, $set: { [pick(['a', 'b', 'c.d'])]: pick(drawn).a ?? null } }
    ),
  (db) =>
    db.updateMany({ _id: { $gte: below(ids) } }, [
      { $set: { 'v.n': { $size: { $ifNull: ['$list', []] } }, a: pick(['$b', '$$REMOVE', '$v']) } },
      { $unset: pick(['b', 'w.n', 'c']) }
    ]),
  (db) => db.updateMany({ _id: { $lt: below(ids) } }, { $unset: { [pick(['a', 'b', 'w.n', 'c'])]: 1 } }),
  (db) => db.findOneAndUpdate({ _id: below(ids) }, { $addToSet: { list: { $each: [below(3), below(3)] } } }),
  (db) => db.replaceOne({ _id: below(ids) }, someDocument(), { upsert: below(3) === 0 }),
  (db) => db.findOneAndReplace({ _id: below(ids) }, someDocument()),
  (db) => db.deleteOne({ _id: below(ids) }),
  (db) => db.deleteMany({ _id: { $gte: below(ids), $lt: below(ids) } }),
  (db) => db.findOneAndDelete({ _id: { $gte: below(ids) } }),
  (db) =>
    db.bulkWrite([
      { insertOne: { document: { _id: below(ids), ...someDocument() } } },
      { updateOne: { filter: { _id: below(ids) }, update: { $set: { bulk: below(5) } } } },
      { deleteOne: { filter: { _id: below(ids) } } }
    ])
]

const keyText = (id: unknown): string => toText(encodeKey(id))

/** Replays events onto Maps. */
class Reader {
  readonly whole = new Map<string, Document>()
  readonly described = new Map<string, Document>()
  events = 0

  take(event: ChangeEvent): void {
    if (!('documentKey' in event)) return
    this.events++
    const key = keyText(event.documentKey._id)
    const before = this.whole.get(key)
    if ('fullDocumentBeforeChange' in event) assert.equal(event.fullDocumentBeforeChange, before)
    else assert.is(before, undefined, `${event.operationType} of what is there`)
    if (event.operationType === 'delete') {
      this.whole.delete(key)
      this.described.delete(key)
      return
    }
    const document = event.fullDocument as Document
    this.whole.set(key, document)
    if (event.operationType !== 'update') {
      this.described.set(key, cloneDocument(document))
      return
    }
    const described = this.described.get(key) as Document
    const { updatedFields, removedFields, truncatedArrays } = event.updateDescription
    const at = (path: string): readonly [Document, string] => {
      const steps = path.split('.')
      const last = steps.pop() ?? ''
      return [steps.reduce((value, step) => value[step] as Document, described), last]
    }
    for (const path of removedFields) {
      const [object, last] = at(path)
      delete object[last]
    }
    for (const { field, newSize } of truncatedArrays) {
      const [object, last] = at(field)
      ;(object[last] as unknown[]).length = newSize
    }
    for (const [path, value] of Object.entries(updatedFields)) {
      const [object, last] = at(path)
      object[last] = value
    }
  }
}

const stores = [
  ['lsm', () => open(scratchPath(), { index: { segmentBits: 512 } })],
  ['level', () => open(scratchPath(), { store: 'level' })],
  ['memory', () => open('unused', { store: 'memory' })],
  ['no synchronous reads', () => open(new AsyncLevel())],
  ['computed ids', () => open(scratchPath(), { ids: { codec: 'reversible', from: 0, to: 5000 } })]
] as const

for (const [name, openEmpty] of stores) {
  test(`${name}: replaying the events gives the contents of the collection`, async () => {
    await using db = await openEmpty()
    await db.createIndex({ list: 1 })
    const stream = db.watch([], { fullDocument: 'required', fullDocumentBeforeChange: 'required' })
    const reader = new Reader()
    for (let round = 0; round < 60; round++) {
      const outcomes = await Promise.allSettled(Array.from({ length: 1 + below(6) }, () => pick(writes)(db)))
      for (const outcome of outcomes) {
        if (outcome.status === 'rejected') assert.is(outcome.reason.name.endsWith('Error'), true)
      }
      // Sometimes the reader falls behind.
      if (round % 4 !== 0) continue
      for (const event of await eventsOf(stream)) reader.take(event)
      const stored = new Map((await db.find().toArray()).map((document) => [keyText(document._id), document]))
      assert.equal(inOrder(reader.whole), inOrder(stored))
      assert.equal(inOrder(reader.described), inOrder(stored))
    }
    assert.ok(reader.events > 60, `${reader.events}`)
    await stream.close()
  })
}

function inOrder(map: ReadonlyMap<string, Document>): [string, Document][] {
  return [...map].sort(([a], [b]) => (a < b ? -1 : 1))
}

test.run()
