/** Change streams report a transaction when it is committed: each document once, in the order of the last changes. */
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { type ChangeEvent, type Database, open } from '../../src/index.ts'
import { AsyncLevel, SlowLevel } from './odd-stores.ts'
import { scratchPath } from './scratch.ts'

const stores: readonly [string, () => Promise<Database>][] = [
  ['lsm', () => open(scratchPath())],
  ['memory', () => open('unused', { store: 'memory' })],
  ['no synchronous reads', () => open(new AsyncLevel())],
  ['a slow store', () => open(new SlowLevel())],
  ['computed ids', () => open('unused', { store: 'memory', ids: { codec: 'reversible', from: 0, to: 1000 } })]
]

for (const [name, openStore] of stores) {
  test(`${name}: one event for what became of each document`, async () => {
    const db = await openStore()
    await db.insertMany(Array.from({ length: 6 }, (_, _id) => ({ _id, n: 0 })))
    await using changes = db.watch([], { fullDocument: 'updateLookup', fullDocumentBeforeChange: 'whenAvailable' })
    await db
      .withTransaction(async (tx) => {
        await tx.deleteMany({})
        throw new Error('nothing of this is reported')
      })
      .catch(() => {})
    await db.withTransaction(async (tx) => {
      await tx.updateOne({ _id: 0 }, { $inc: { n: 1 } })
      await tx.insertOne({ _id: 10, n: 10 })
      await tx.deleteOne({ _id: 1 })
      await tx.replaceOne({ _id: 2 }, { n: 2, m: 2 })
      await tx.updateOne({ _id: 3 }, { $set: { n: 3 } })
      // Restored, inserted and deleted: nothing is left of these.
      await tx.updateOne({ _id: 4 }, { $set: { n: 4 } })
      await tx.updateOne({ _id: 4 }, { $set: { n: 0 } })
      await tx.insertOne({ _id: 11 })
      await tx.deleteOne({ _id: 11 })
      await tx.deleteOne({ _id: 5 })
      await tx.insertOne({ _id: 5, n: 5 })
      await tx.updateOne({ _id: 10 }, { $set: { last: true } })
      await tx.updateOne({ _id: 0 }, { $inc: { n: 1 } })
    })
    await db.insertOne({ _id: 12 })
    const events: ChangeEvent[] = []
    for await (const event of changes) {
      if (event.operationType === 'insert' && event.documentKey._id === 12) break
      events.push(event)
    }
    const shown = events.map((event) => {
      const { operationType, documentKey, fullDocument, fullDocumentBeforeChange } = event as Extract<
        ChangeEvent,
        { operationType: 'update' }
      >
      return [operationType, documentKey._id, fullDocumentBeforeChange?.n, fullDocument?.n]
    })
    assert.equal(shown, [
      ['delete', 1, 0, undefined],
      ['replace', 2, 0, 2],
      ['update', 3, 0, 3],
      ['replace', 5, 0, 5],
      ['insert', 10, undefined, 10],
      ['update', 0, 0, 2]
    ])
    const last = events.at(-1)
    assert.equal(last?.operationType === 'update' && last.updateDescription.updatedFields, { n: 2 })
    await db.close()
  })
}

test.run()
