import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { EncodedBatch, LsmLevel } from '../../src/lsm/index.ts'
import { testSeed } from '../support/arbitraries.ts'
import { randomFrom } from '../support/random.ts'
import { temporaryDirectory } from '../support/temporary-directory.ts'
import { rejection } from './tools-stores.ts'

type Store = LsmLevel<Uint8Array, Uint8Array>

async function withStore(work: (db: Store, reopen: () => Promise<Store>) => Promise<void>): Promise<void> {
  const location = temporaryDirectory()
  const openStore = (): Store =>
    new LsmLevel<Uint8Array, Uint8Array>(location, { keyEncoding: 'view', valueEncoding: 'view' })
  let db = openStore()
  await db.open()
  const reopen = async (): Promise<Store> => {
    await db.close()
    db = openStore()
    await db.open()
    return db
  }
  await work(db, reopen)
  await db.close()
}

const text = (value: string): Buffer => Buffer.from(value)

async function contentOf(db: Store): Promise<string[]> {
  const entries = await db.iterator().all()
  return entries.map(
    ([key, value]) => `${Buffer.from(key).toString('latin1')}=${Buffer.from(value).toString('latin1')}`
  )
}

test('write() of an encoded batch equals batch() with the same operations, before and after a reopen', async () => {
  const random = randomFrom(testSeed())
  await withStore(async (encoded, reopenEncoded) => {
    await withStore(async (plain) => {
      const batch = new EncodedBatch()
      for (let round = 0; round < 20; round++) {
        batch.clear()
        const operations: ({ type: 'put'; key: Buffer; value: Buffer } | { type: 'del'; key: Buffer })[] = []
        for (let i = 0; i < 100; i++) {
          const key = text(`!p!${'k'.repeat(random() < 0.1 ? 200 : 1)}${Math.floor(random() * 50)}`)
          const prefix = random() < 0.5 ? key.subarray(0, 3) : key.subarray(0, 0)
          if (random() < 0.3) {
            operations.push({ type: 'del', key })
            batch.del(key.subarray(prefix.length), prefix)
          } else {
            const value = text('v'.repeat(Math.floor(random() ** 4 * 20_000)) + round)
            operations.push({ type: 'put', key, value })
            batch.put(key.subarray(prefix.length), value, prefix)
          }
        }
        assert.is(batch.count, operations.length)
        await Promise.all([encoded.write(batch, { sync: round % 5 === 0 }), plain.batch(operations)])
      }
      assert.equal(await contentOf(encoded), await contentOf(plain))
      assert.equal(await contentOf(await reopenEncoded()), await contentOf(plain))
    })
  })
})

test('a batch and the buffers put into it can be reused as soon as write() is called', async () => {
  await withStore(async (db) => {
    const batch = new EncodedBatch()
    const key = text('a')
    const value = text('1')
    const writes: Promise<void>[] = []
    for (const name of 'abc') {
      key.write(name)
      value.write(name.toUpperCase())
      batch.clear()
      batch.put(key, value)
      key.fill(0)
      value.fill(0)
      writes.push(db.write(batch))
    }
    batch.clear()
    await Promise.all(writes)
    assert.equal(await contentOf(db), ['a=A', 'b=B', 'c=C'])
  })
})

test('an empty batch writes nothing, and a closed store rejects every batch', async () => {
  await withStore(async (db) => {
    const batch = new EncodedBatch()
    await db.write(batch)
    assert.equal(await contentOf(db), [])
    batch.put(text('a'), text('1'))
    await db.close()
    await db.write(batch).then(
      () => assert.unreachable(),
      (error) => assert.is(error.code, 'LEVEL_DATABASE_NOT_OPEN')
    )
  })
})

test('readText() returns what getSync() returns, also with a snapshot', async () => {
  await withStore(async (db) => {
    await db.batch([
      { type: 'put', key: text('a'), value: text('größer, 日本, \ud83d\ude00') },
      { type: 'put', key: text('b'), value: text('') }
    ])
    const snapshot = db.snapshot()
    await db.put(text('a'), text('new'))
    await db.del(text('b'))
    assert.is(db.readText(text('a')), 'new')
    assert.is(db.readText(text('b')), undefined)
    assert.is(db.readText(text('a'), snapshot), 'größer, 日本, \ud83d\ude00')
    assert.is(db.readText(text('b'), snapshot), '')
    await db.flush()
    assert.is(db.readText(text('a'), snapshot), 'größer, 日本, \ud83d\ude00')
    assert.is(db.readText(text('a')), db.getSync(text('a'), { valueEncoding: 'utf8' }))
    await snapshot.close()
  })
})

test('write() and readText() throw TypeErrors for invalid batches and keys, and the store goes on', async () => {
  await withStore(async (db) => {
    for (const batch of [null, undefined, 5, [], { count: 1 }]) {
      const error = await rejection(db.write(batch as never))
      assert.instance(error, TypeError)
      assert.match(error.message, /'batch' must be an EncodedBatch/)
    }
    for (const key of [null, undefined, 5, 'a']) {
      assert.throws(() => db.readText(key as never), /'key' must be a Uint8Array/)
    }
    const batch = new EncodedBatch()
    batch.put(text('a'), text('x'))
    await db.write(batch)
    assert.is(db.readText(text('a')), 'x')
  })
})

test.run()
