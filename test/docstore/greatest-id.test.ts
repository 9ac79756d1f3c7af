/** The greatest `_id` of a collection is read only when an insert needs it. */
import { MemoryLevel } from 'memory-level'
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { open, PetalError } from '../../src/index.ts'

/** Counts requests for `_id`s, and fails them on demand. */
class KeyLevel extends MemoryLevel {
  asked = 0
  isBroken = false

  // Private API of abstract-level, missing from its types.
  _keys(options: { readonly lt: Uint8Array }): unknown {
    const asksForIds = Buffer.from(options.lt).includes('.ids')
    if (asksForIds) this.asked++
    if (asksForIds && this.isBroken)
      throw Object.assign(new Error('the device does not answer'), { code: 'LEVEL_IO_ERROR' })
    return (MemoryLevel.prototype as unknown as { _keys(options: unknown): unknown })._keys.call(this, options)
  }
}

async function withOneDocument(): Promise<KeyLevel> {
  const store = new KeyLevel()
  const db = await open(store)
  await db.insertOne({ _id: 7 })
  await db.close()
  store.asked = 0
  return store
}

test('the first insert reads the greatest _id, once; opening and reading do not', async () => {
  const store = await withOneDocument()
  const db = await open(store)
  assert.equal(await db.find({ _id: 7 }).toArray(), [{ _id: 7 }])
  assert.is(store.asked, 0)
  await db.insertOne({ _id: 8 })
  await db.insertOne({ _id: 9 })
  assert.is(store.asked, 1)
  await db.close()
})

test('after reopening, the first insert refuses stored ids and takes others, even below the greatest', async () => {
  const store = await withOneDocument()
  const db = await open(store)
  const refused = await db.insertMany([{ _id: 7 }, { _id: 5 }, { _id: 9 }, { _id: 9 }], { ordered: false }).then(
    () => [],
    (error: { readonly writeErrors: readonly { readonly index: number }[] }) => error.writeErrors
  )
  assert.equal(
    refused.map(({ index }) => index),
    [0, 3]
  )
  assert.is(await db.countDocuments(), 3)
  await db.close()
})

test('an insert fails if the greatest _id cannot be read, and the next insert tries again', async () => {
  const store = await withOneDocument()
  const db = await open(store)
  store.isBroken = true
  try {
    await db.insertOne({ _id: 8 })
    assert.unreachable()
  } catch (error) {
    assert.instance(error, PetalError)
  }
  store.isBroken = false
  await db.insertOne({ _id: 8 })
  assert.is(await db.countDocuments(), 2)
  await db.close()
})

test.run()
