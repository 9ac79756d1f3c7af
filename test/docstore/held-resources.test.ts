/** Creating and dropping collections leaks no resources, even if a process does so for years. */
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

test.run()
