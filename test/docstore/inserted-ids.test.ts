/** `insertedIds` of a result, also of so many that they are put together only when somebody reads them. */
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { InsertedIds } from '../../src/docstore/write/inserted-ids.ts'
import { BulkWriteError, type Document, open } from '../../src/index.ts'
import { testSeed } from '../support/arbitraries.ts'
import { randomFrom } from '../support/random.ts'

const random = randomFrom(testSeed())
const below = (limit: number): number => Math.floor(random() * limit)

test('ids set, added where missing and deleted in ranges are those of a plain object', () => {
  for (let round = 0; round < 20; round++) {
    const ids = new InsertedIds()
    const expected: Record<number, unknown> = {}
    let taken = 0
    for (let step = 0; step < 10; step++) {
      const [count, from] = [below(4000), below(taken + 1)]
      const given = Array.from({ length: count }, () => (below(9) === 0 ? undefined : below(1000)))
      if (step % 3 === 2) {
        ids.delete(from, from + count)
        for (let i = from; i < from + count; i++) delete expected[i]
        continue
      }
      ids.addMissing(from, given)
      for (const [i, id] of given.entries()) if (id !== undefined) expected[from + i] ??= id
      taken = Math.max(taken, from + count)
      ids.set(taken, 'set')
      expected[taken++] = 'set'
    }
    const { insertedIds } = ids.addTo({ other: 1 })
    assert.equal(Object.entries(insertedIds), Object.entries(expected))
  }
})

for (const count of [3, 20_000]) {
  test(`the ids of ${count} documents are an object by position, in results and errors`, async () => {
    await using db = await open('ids', { store: 'memory' })
    const list = Array.from({ length: count }, (_, i): Document => ({ _id: i * 2 }))
    const result = await db.insertMany(list)
    const { insertedIds } = result
    assert.is(result.insertedIds, insertedIds, 'the same object each time')
    assert.equal(Object.keys(result), ['acknowledged', 'insertedCount', 'insertedIds'])
    assert.equal(Object.keys(insertedIds).map(Number), Array.from(list.keys()))
    assert.is(insertedIds[count - 1], 2 * count - 2)
    assert.equal(structuredClone(result), { acknowledged: true, insertedCount: count, insertedIds })

    const others = list.map((_, i): Document => ({ _id: i * 2 + (i === 1 ? 0 : 1) }))
    const failed = await db.insertMany(others, { ordered: false }).catch((error: unknown) => error)
    assert.instance(failed, BulkWriteError)
    const { result: counts } = failed as BulkWriteError
    assert.equal(Object.keys(counts.insertedIds).map(Number), [0, ...Array.from(list.keys()).slice(2)])
    assert.is(counts.insertedIds[count - 1], 2 * count - 1)
  })
}

test.run()
