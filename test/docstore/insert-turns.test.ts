/** Inserts and imports let the event loop turn, however small, large or bad the documents are. */
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { BulkWriteError, type Document, open } from '../../src/index.ts'
import { turnsDuring } from '../support/loop-turns.ts'

/** How often the loop turns during inserts if the clock advances 3 ms each time it is read. */
async function turnsOf(documents: readonly Document[]): Promise<number> {
  const db = await open('unused', { store: 'memory' })
  // The first documents are checked one by one.
  await db.insertMany(Array.from({ length: 1000 }, (_, i) => ({ _id: `first ${i}` })))
  const turns = await turnsDuring(async () => {
    await db.insertMany(documents, { ordered: false }).catch((error: unknown) => {
      assert.instance(error, BulkWriteError)
    })
  })
  await db.close()
  return turns
}

test('inserting documents of a hundred characters allows a turn after every eight', async () => {
  const turns = await turnsOf(Array.from({ length: 2000 }, (_, i) => ({ _id: i, text: 'x'.repeat(80) })))
  assert.ok(turns >= 250, `${turns} turns`)
})

test('inserting documents of thousands of characters allows a turn after each', async () => {
  const turns = await turnsOf(Array.from({ length: 200 }, (_, i) => ({ _id: i, text: 'x'.repeat(5000) })))
  assert.ok(turns >= 200, `${turns} turns`)
})

test('inserting refused documents allows a turn after each', async () => {
  const cyclic = (): Document => {
    const document: Document = {}
    document.self = document
    return document
  }
  const turns = await turnsOf(Array.from({ length: 200 }, cyclic))
  assert.ok(turns >= 200, `${turns} turns`)
})

for (const [what, line] of [
  ['blank lines', '\n'],
  ['lines that are not JSON', 'a,b\n']
] as const) {
  test(`importing ${what} allows a turn after each`, async () => {
    const db = await open('unused', { store: 'memory' })
    const turns = await turnsDuring(() => db.importLines([Buffer.from(line.repeat(200))], { threads: 0 }))
    await db.close()
    assert.ok(turns >= 200, `${turns} turns`)
  })
}

test.run()
