/** Wherever a file first fails to be read, the error is the store's failure, and nothing is damaged. */
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { type Database, type OpenOptions, open } from '../../src/index.ts'
import { MemoryFileSystem } from '../../src/lsm/fs/memory-file-system.ts'
import { LsmLevel } from '../../src/lsm/index.ts'
import { PetalError } from '../../src/model/errors.ts'
import { FaultyFileSystem } from '../support/faulty-file-system.ts'

const options: OpenOptions = { index: { segmentBits: 512 } }
const others = ['a', 'b', 'c']

/** A database whose collections are in tables that have not been opened yet. */
async function storedDisk(): Promise<MemoryFileSystem> {
  const disk = new MemoryFileSystem()
  const store = new LsmLevel('/db', { fileSystem: disk })
  const db = await open(store, options)
  for (const name of ['documents', ...others]) {
    const documents = Array.from({ length: 40 }, (_, i) => ({ _id: i, n: i % 5 }))
    await db.collection(name).insertMany(documents)
    await db.collection(name).createIndex({ n: 1 })
  }
  await db.close()
  await store.compactRange('', '~')
  await store.close()
  return disk
}

/** Calls that open a collection first. */
const calls: readonly ((db: Database) => Promise<unknown>)[] = [
  (db) => db.collection('a').find({ n: 1 }).toArray(),
  (db) => db.collection('a').insertOne({ n: 1 }),
  (db) =>
    db
      .collection('b')
      .aggregate([{ $out: 'a' }])
      .toArray(),
  (db) => db.dropCollection('c')
]

/** @returns whether the fault was reached */
async function callWithFault(fileSystem: FaultyFileSystem, call: (db: Database) => Promise<unknown>, at: number) {
  const store = new LsmLevel('/db', { fileSystem })
  await store.open()
  fileSystem.fail({ at, operations: ['open', 'read'], path: /\.sst$/, code: 'EIO' })
  let error: unknown
  try {
    const db = await open(store, options)
    await call(db).catch((reason: unknown) => {
      error = reason
    })
    await db.close().catch((reason: unknown) => {
      error ??= reason
    })
  } catch (reason) {
    error = reason
  }
  const isMet = fileSystem.matches >= at
  fileSystem.heal()
  await store.close()
  if (error !== undefined) {
    assert.instance(error, PetalError, `call ${at}: ${String(error)}`)
    assert.is((error as PetalError).codeName, 'StoreFailure')
  }
  return isMet
}

for (const [i, call] of calls.entries()) {
  test(`whichever read fails first, the call fails with a PetalError: call ${i}`, async () => {
    const stored = await storedDisk()
    for (let at = 1; ; at++) {
      const disk = stored.snapshot()
      if (!(await callWithFault(new FaultyFileSystem(disk), call, at))) break
      const store = new LsmLevel('/db', { fileSystem: disk })
      const db = await open(store, options)
      assert.equal((await db.verify()).problems, [], `after call ${at}`)
      assert.is(await db.collection('documents').countDocuments({ n: 1 }), 8)
      await db.close()
      await store.close()
    }
  })
}

test.run()
