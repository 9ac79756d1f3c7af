/**
 * Thousands of small collections share the 512 MiB of row memory of a process; once, each took a quarter of a MiB. They
 * also share tables; once, each had three.
 */
import { readdirSync } from 'node:fs'
import v8 from 'node:v8'
import { runInNewContext } from 'node:vm'
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { open } from '../../src/index.ts'
import { temporaryDirectory } from '../support/temporary-directory.ts'

v8.setFlagsFromString('--expose-gc')
const collect = runInNewContext('gc') as () => void

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

test('an open collection of twenty documents takes less than 50 KB', async () => {
  await using db = await open(temporaryDirectory())
  const fill = async (from: number, to: number): Promise<number> => {
    for (let c = from; c < to; c++) {
      const users = db.collection(`c${c}`)
      await users.insertMany(
        Array.from({ length: 20 }, (_, i) => ({ _id: i, name: `user ${i}`, tags: ['a', `b${c}`] }))
      )
      assert.is(await users.countDocuments({ name: 'user 7' }), 1)
    }
    collect()
    const { heapUsed, arrayBuffers } = process.memoryUsage()
    return heapUsed + arrayBuffers
  }
  // What the first collections take is shared by the others.
  const before = await fill(0, 300)
  const each = ((await fill(300, 1300)) - before) / 1000
  assert.ok(each < 50_000, `${Math.round(each)} bytes`)
})

test.run()
