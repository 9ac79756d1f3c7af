/** Thousands of small collections share the 512 MiB of row memory of a process; once, each took a quarter of a MiB. */
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { open } from '../../src/index.ts'

const count = 2100

test('thousands of collections can be written, queried and grow', async () => {
  await using db = await open('many', { store: 'memory' })
  for (let c = 0; c < count; c++) {
    await db.collection(`c${c}`).insertMany([
      { _id: 1, c, name: 'first' },
      { _id: 2, c, name: `of ${c}` }
    ])
  }
  for (let c = 0; c < count; c += 50) {
    assert.equal(
      await db
        .collection(`c${c}`)
        .find({ name: `of ${c}` })
        .toArray(),
      [{ _id: 2, c, name: `of ${c}` }]
    )
  }
  const grown = db.collection(`c${count - 1}`)
  await grown.insertMany(Array.from({ length: 3000 }, (_, i) => ({ name: `of ${i}` })))
  assert.is(await grown.countDocuments({ name: 'of 2099' }), 2)
})

test.run()
