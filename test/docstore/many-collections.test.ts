/**
 * Thousands of small collections share the 512 MiB of row memory of a process; once, each took a quarter of a MiB. They
 * also share tables; once, each had three.
 */
import { readdirSync } from 'node:fs'
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { open } from '../../src/index.ts'
import { temporaryDirectory } from '../support/temporary-directory.ts'

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

test('hundreds of small collections are a few files', async () => {
  const path = temporaryDirectory()
  for (let round = 0; round < 3; round++) {
    await using db = await open(path)
    for (let c = 0; c < 300; c++) await db.collection(`c${c}`).insertMany([{ c, round, name: `of ${c}` }])
    for (let c = 0; c < 300; c += 30) assert.is(await db.collection(`c${c}`).countDocuments({ c }), round + 1)
    if (round === 2) await db.collection('c7').deleteMany({})
  }
  const tables = readdirSync(path).filter((name) => name.endsWith('.sst'))
  assert.ok(tables.length > 0 && tables.length <= 10, `${tables.length} tables`)
  await using db = await open(path)
  assert.is((await db.listCollections()).length, 300)
  assert.equal((await db.verify()).problems, [])
})

test.run()
