/** Creating and dropping collections leaks no resources, even if a process does so for years. */
import { setImmediate as nextTurn } from 'node:timers/promises'
import v8 from 'node:v8'
import { runInNewContext } from 'node:vm'
import { MemoryLevel } from 'memory-level'
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { type Database, open } from '../../src/index.ts'

/** Counts the resources that it closes with itself: sublevels, iterators and snapshots. */
class HoldingLevel extends MemoryLevel {
  held = 0

  override attachResource(resource: never): void {
    this.held++
    super.attachResource(resource)
  }

  override detachResource(resource: never): void {
    this.held--
    super.detachResource(resource)
  }
}

const lives: Readonly<Record<string, (db: Database) => Promise<unknown>>> = {
  'made and dropped': async (db) => {
    await db.collection('passing').insertMany([{ n: 1 }, { n: 2 }])
    await db.dropCollection('passing')
  },
  'replaced by $out': (db) => db.aggregate([{ $out: 'other' }]).toArray(),
  'indexed, and the index dropped': async (db) => {
    await db.createIndex({ n: 1 })
    await db.find({ n: 1 }, { hint: 'n_1' }).toArray()
    await db.dropIndex('n_1')
  },
  verified: (db) => db.verify()
}

for (const [life, live] of Object.entries(lives)) {
  test(`the store holds no more resources after a hundred collections were ${life}`, async () => {
    const store = new HoldingLevel()
    const db = await open(store)
    await db.insertMany([{ n: 1 }, { n: 2 }])
    await live(db)
    const { held } = store
    for (let round = 0; round < 100; round++) await live(db)
    assert.is(store.held, held)
    await db.close()
    await store.close()
  })
}

test('an open collection does not keep the results and errors of its rebuilds', async () => {
  v8.setFlagsFromString('--expose-gc')
  const collect = runInNewContext('gc') as () => void
  await using db = await open('x', { store: 'memory' })
  await db.insertOne({ n: 1 })
  const rebuild = async (): Promise<readonly WeakRef<object>[]> => {
    const result = await db.index.rebuild({ threads: 0 })
    const reason = new Error('enough')
    await db.index.rebuild({ signal: AbortSignal.abort(reason) }).catch(() => undefined)
    return [new WeakRef(result), new WeakRef(reason)]
  }
  const ended = await rebuild()
  await rebuild()
  // An object dereferenced in a turn stays until its end.
  await nextTurn()
  collect()
  assert.equal(
    ended.map((each) => each.deref()),
    [undefined, undefined]
  )
})

test.run()
