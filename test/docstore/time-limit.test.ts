/** A read ends soon after its time limit or abort, however long each document takes. */
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { type Database, type FindOptions, open } from '../../src/index.ts'
import { AsyncLevel } from './odd-stores.ts'
import { rejects, scratchPath } from './scratch.ts'

const count = 1000
const documents = Array.from({ length: count }, (_, i) => ({ _id: i, n: i % 10, text: `text ${i}` }))

const stores: readonly (readonly [string, () => Promise<Database>])[] = [
  ['lsm', () => open(scratchPath())],
  ['level', () => open(scratchPath(), { store: 'level' })],
  ['memory', () => open('unused', { store: 'memory' })],
  ['a store without synchronous reads', () => open(new AsyncLevel())],
  ['lsm, without an index', () => open(scratchPath(), { index: 'none' })]
]

type Read = (db: Database, filter: Record<string, unknown>, options: FindOptions) => Promise<unknown>

const reads: Readonly<Record<string, Read>> = {
  find: (db, filter, options) => db.find(filter, options).toArray(),
  'find, candidates by key': (db, filter, options) => db.find({ ...filter, n: 3 }, options).toArray(),
  'find, backwards': (db, filter, options) => db.find(filter, { ...options, sort: { $natural: -1 } }).toArray(),
  'find, sorted': (db, filter, options) => db.find(filter, { ...options, sort: { text: 1 } }).toArray(),
  'find, by ids': (db, filter, options) =>
    db.find({ ...filter, _id: { $in: documents.map(({ _id }) => _id) } }, options).toArray(),
  'find, by a declared index': (db, filter, options) =>
    db.find({ ...filter, n: { $gte: 3 } }, { ...options, hint: 'n_1', sort: { n: 1 } }).toArray(),
  explain: (db, filter, options) => db.find(filter, options).explain(),
  countDocuments: (db, filter, options) => db.countDocuments(filter, options),
  distinct: (db, filter, options) => db.distinct('n', filter, options)
}

/** A condition that takes the given time for each document, and counts its calls. */
class SlowCondition {
  calls = 0
  readonly filter: Record<string, unknown>

  constructor(milliseconds: number) {
    this.filter = {
      $where: () => {
        this.calls++
        for (const end = performance.now() + milliseconds; performance.now() < end; );
        return this.calls % 2 === 0
      }
    }
  }
}

for (const [name, opened] of stores) {
  test(`${name}: a read of slow documents ends after the document at which its time is over`, async () => {
    await using db = await opened()
    await db.insertMany(documents)
    await db.createIndex({ n: 1 })
    for (const [title, read] of Object.entries(reads)) {
      const slow = new SlowCondition(30)
      await rejects(read(db, slow.filter, { maxTimeMS: 50 }), 'MaxTimeMSExpired')
      assert.ok(slow.calls <= 2, `${title}: ${slow.calls} documents of 30 ms were tested in 50 ms`)
      const aborted = new SlowCondition(30)
      const signal = AbortSignal.timeout(10)
      await rejects(read(db, aborted.filter, { signal }), 'Aborted')
      assert.ok(aborted.calls <= 3, `${title}: ${aborted.calls} documents of 30 ms were tested after it was aborted`)
    }
  })
}

test.run()
