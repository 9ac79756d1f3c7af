/** A bulkWrite() whose collection goes away stops between two operations, says why, and writes nothing elsewhere. */
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { type BulkWriteOperation, type Collection, type Database, type Document, open } from '../../src/index.ts'
import { rejects, scratchPath } from './scratch.ts'

const count = 100
/** The operation during which the collection goes away. */
const middle = 60

const ways: Readonly<Record<string, (collection: Collection) => Promise<unknown>>> = {
  dropped: (collection) => collection.drop(),
  renamed: (collection) => collection.rename('renamed')
}

function allOf(db: Database, name: string): Promise<Document[]> {
  const sorted = db.collection(name).find({}, { sort: { _id: 1 } })
  return sorted.toArray()
}

for (const [way, goAway] of Object.entries(ways)) {
  for (const ordered of [true, false]) {
    test(`the collection is ${way} during a bulkWrite() with ordered: ${ordered}`, async () => {
      await using db = await open(scratchPath())
      const collection = db.collection('c')
      let going: Promise<unknown> | undefined
      const goes = (): boolean => {
        going ??= goAway(collection)
        return true
      }
      const operations: BulkWriteOperation[] = Array.from({ length: count }, (_, i) =>
        i === middle
          ? { updateOne: { filter: { _id: i - 1, $where: goes }, update: { $set: { isLast: true } } } }
          : { insertOne: { document: { _id: i } } }
      )
      // Unordered operations are carried out a thousand at a time.
      const others = Array.from({ length: 1000 }, () => ({ deleteOne: { filter: { _id: 'none' } } }))
      const error = await rejects(collection.bulkWrite([...operations, ...others], { ordered }), 'DatabaseNotOpen')
      assert.match(error.message, /the collection was dropped, renamed or replaced/)
      await going
      const done = Array.from({ length: ordered ? middle : count }, (_, i) => i).filter((i) => i !== middle)
      const documents = done.map((_id) => (_id === middle - 1 ? { _id, isLast: true } : { _id }))
      assert.equal(await allOf(db, 'renamed'), way === 'renamed' ? documents : [])
      assert.not(db.listCollections().some(({ name }) => name === 'c'))
      // The next call creates the collection.
      await collection.bulkWrite([{ insertOne: { document: { _id: 'next' } } }])
      assert.equal(await allOf(db, 'c'), [{ _id: 'next' }])
    })
  }
}

test.run()
