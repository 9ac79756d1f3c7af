/** A merge asks before each document whether it is still wanted. */
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import type { Merge } from '../../src/aggregate/stage.ts'
import { Collections } from '../../src/docstore/collections.ts'
import { Database } from '../../src/docstore/database.ts'
import type { OpenCollection } from '../../src/docstore/open-collection.ts'
import { Control } from '../../src/docstore/read/control.ts'
import { mergeDocuments } from '../../src/docstore/write/merge-documents.ts'

const merge: Merge = {
  on: ['_id'],
  valuesOn: ({ _id }) => [_id],
  whenMatched: { kind: 'replace', change: (_, document) => document },
  whenNotMatched: 'insert'
}

for (const [what, stored] of Object.entries({ replaced: 20, inserted: 0 })) {
  test(`documents are ${what} until no more are wanted, and those that were stay`, async () => {
    const collections = await Collections.open('unused', { store: 'memory' })
    await using db = new Database(collections)
    await db.insertMany(Array.from({ length: stored }, (_, i) => ({ _id: i, n: 0 })))
    await db.insertOne({ _id: 'last' })
    const collection = (await collections.openForRead('default')) as OpenCollection
    const documents = Array.from({ length: 20 }, (_, i) => ({ _id: i, n: 1 }))
    let asked = 0
    let begun = 0
    const assertWanted = (): void => {
      if (++asked > 8) throw new Error('no longer wanted')
    }
    const merging = { merge, control: new Control(), assertWanted }
    const merged = mergeDocuments(collection, documents, merging, () => {
      begun++
    })
    assert.is(await merged.catch(({ message }: Error) => message), 'no longer wanted')
    // Once when its turn came, and before each document.
    assert.is(await db.countDocuments({ n: 1 }), 7)
    assert.is(begun, 1)
  })
}

test.run()
