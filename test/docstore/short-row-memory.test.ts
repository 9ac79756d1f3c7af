/**
 * All collections of a process share 512 MiB for rows. When they run short, growing segments of idle collections are
 * sealed and cached rows are released: no call fails, and answers stay the same.
 */
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { rowMemory } from '../../src/bloom/kernels/index.ts'
import { type Database, open } from '../../src/index.ts'
import { temporaryDirectory } from '../support/temporary-directory.ts'

const memory = rowMemory()
const collections = 60
const documents = 1200

/** Runs with only so many frames of row memory free. */
async function withFrames(frames: number, run: () => Promise<void>): Promise<void> {
  const taken: number[] = []
  while (memory.freeFrames > frames) taken.push(memory.allocate())
  try {
    await run()
  } finally {
    for (const address of taken) memory.free(address)
  }
}

async function fill(db: Database, c: number): Promise<void> {
  const list = Array.from({ length: documents }, (_, i) => ({ _id: i, c, name: `n${i}`, parity: i % 2 }))
  assert.is((await db.collection(`c${c}`).insertMany(list)).insertedCount, documents)
}

async function check(db: Database): Promise<void> {
  for (let c = 0; c < collections; c++) {
    const collection = db.collection(`c${c}`)
    const found = await collection.find({ name: `n${c}`, parity: c % 2 }).toArray()
    assert.equal(found, [{ _id: c, c, name: `n${c}`, parity: c % 2 }])
    assert.is(await collection.countDocuments({ parity: 1 }), documents / 2)
  }
}

test('more data can be written than fits into row memory', async () => {
  const directory = temporaryDirectory()
  const free = memory.freeFrames
  await withFrames(900, async () => {
    await using db = await open(directory, { lsm: { cacheSize: 1 << 20 } })
    for (let c = 0; c < collections; c++) await fill(db, c)
    await check(db)
    // Sealed collections take more documents.
    for (let c = 0; c < 10; c++) {
      await db.collection(`c${c}`).insertOne({ _id: 'late', name: 'late' })
      assert.is(await db.collection(`c${c}`).countDocuments({ name: 'late' }), 1)
      assert.is((await db.collection(`c${c}`).deleteOne({ name: 'late' })).deletedCount, 1)
    }
  })
  assert.is(memory.freeFrames, free, 'all frames are given back')
})

test('more data can be queried than fits into row memory', async () => {
  const directory = temporaryDirectory()
  {
    await using db = await open(directory)
    for (let c = 0; c < collections; c++) await fill(db, c)
  }
  await withFrames(900, async () => {
    await using db = await open(directory)
    await check(db)
    await check(db)
  })
  await withFrames(900, async () => {
    await using db = await open(directory, { readOnly: true })
    await check(db)
  })
  await using db = await open(directory)
  await check(db)
  assert.equal((await db.verify()).problems, [])
})

test('cached rows make room for writes', async () => {
  await using db = await open('cached', { store: 'memory', index: { segmentBits: 2048 } })
  await db.insertMany(Array.from({ length: 30_000 }, (_, i) => ({ _id: i, name: `n${i}`, group: `g${i % 500}` })))
  await withFrames(200, async () => {
    const other = db.collection('other')
    for (let round = 0; round < 12; round++) {
      for (let g = 0; g < 500; g += 7) assert.is(await db.countDocuments({ group: `g${g}` }), 60)
      await other.insertMany(Array.from({ length: 1000 }, (_, i) => ({ round, name: `n${i}` })))
      assert.is(await other.countDocuments({ name: 'n7' }), round + 1)
    }
  })
})

test.run()
