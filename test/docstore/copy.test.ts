import { readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { Decimal128, Long, ObjectId } from 'bson'
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { AbortedError, copyDatabase, type Document, open } from '../../src/index.ts'
import { FailingLevel } from './odd-stores.ts'
import { rejects, scratchPath } from './scratch.ts'

const odd: readonly Document[] = [
  { _id: new ObjectId(), nothing: null },
  { _id: 'text', at: new Date(5), big: Long.fromString('9007199254740993'), nan: Number.NaN, zero: -0 },
  { _id: 3, $literal: { $date: 'no date' }, 'a.b': [1, [2]], amount: Decimal128.fromString('1.10') },
  { _id: { part: 1 }, pattern: /x/i, bytes: new Uint8Array([1, 2, 3]) }
]

for (const [from, to] of [
  ['level', 'lsm'],
  ['lsm', 'level'],
  ['memory', 'lsm']
] as const) {
  test(`everything of a database on ${from} is in its copy on ${to}`, async () => {
    const source = await open(scratchPath(), { store: from })
    await source.insertMany(Array.from({ length: 2500 }, (_, i) => ({ _id: i * 7, n: i % 10 })))
    await source.deleteMany({ n: 3 })
    await source.collection('odd', { index: 'none' }).insertMany([...odd])
    await source.collection('empty').insertOne({ _id: 1 })
    await source.collection('empty').deleteOne({ _id: 1 })
    await source.createIndex({ n: 1, _id: -1 }, { unique: true, name: 'by n' })
    const location = scratchPath()
    let target = await open(location, { store: to })
    let last = 0
    const result = await copyDatabase(source, target, {
      onProgress: ({ documents }) => {
        last = documents
      }
    })
    assert.equal(result, { collections: 3, documents: 2250 + odd.length })
    assert.ok(last > 0)
    await target.close()
    target = await open(location)
    assert.equal(
      target
        .listCollections()
        .map(({ name }) => name)
        .sort(),
      ['default', 'empty', 'odd']
    )
    for (const name of ['default', 'odd', 'empty']) {
      const [copied, original] = await Promise.all(
        [target, source].map((db) =>
          db
            .collection(name)
            .find({}, { sort: { $natural: 1 } })
            .toArray()
        )
      )
      assert.equal(copied, original)
    }
    assert.is((await target.collection('odd').index.stats()).kind, 'none')
    assert.equal([...target.listIndexes()], [...source.listIndexes()])
    await rejects(copyDatabase(source, target), 'IllegalOperation')
    await Promise.all([source.close(), target.close()])
  })
}

test('an index that only the LSM store supports becomes the default one on another store', async () => {
  const source = await open(scratchPath(), { index: 'embedded' })
  await source.insertMany(Array.from({ length: 300 }, (_, i) => ({ _id: i, n: i % 10 })))
  const target = await open(scratchPath(), { store: 'level' })
  await copyDatabase(source, target)
  assert.is((await target.index.stats()).kind, 'sharded')
  assert.is(await target.countDocuments({ n: 3 }), 30)
  await Promise.all([source.close(), target.close()])
})

test('an aborted copy stops, and the source is unchanged', async () => {
  const source = await open('unused', { store: 'memory' })
  await source.insertMany(Array.from({ length: 5000 }, (_, i) => ({ _id: i })))
  const target = await open('unused', { store: 'memory' })
  const controller = new AbortController()
  await copyDatabase(source, target, { signal: controller.signal, onProgress: () => controller.abort() }).then(
    () => assert.unreachable(),
    (error) => assert.instance(error, AbortedError)
  )
  assert.is(await source.countDocuments(), 5000)
  await Promise.all([source.close(), target.close()])
})

test('a copy made at a path is complete or does not exist', async () => {
  await using source = await open('unused', { store: 'memory' })
  await source.insertMany(Array.from({ length: 5000 }, (_, i) => ({ _id: i, n: i % 7 })))
  for (const store of ['lsm', 'level'] as const) {
    const parent = scratchPath()
    const location = join(parent, 'copy')
    const controller = new AbortController()
    const onProgress = () => controller.abort()
    await copyDatabase(source, location, { store, signal: controller.signal, onProgress }).then(
      () => assert.unreachable(),
      (error) => assert.instance(error, AbortedError)
    )
    assert.equal(readdirSync(parent), [])
    assert.equal(await copyDatabase(source, location, { store }), { collections: 1, documents: 5000 })
    assert.equal(readdirSync(parent), ['copy'])
    await rejects(copyDatabase(source, location, { store }), 'DatabaseExists')
    await using copy = await open(location)
    assert.is(JSON.parse(readFileSync(join(location, 'PETALDB'), 'utf8')).store, store)
    assert.is(await copy.countDocuments({ n: 3 }), await source.countDocuments({ n: 3 }))
  }
})

test('a copy that ends while its target fails leaves no unhandled rejection', async () => {
  await using source = await open('source', { store: 'memory' })
  await source.insertMany(Array.from({ length: 5000 }, (_, i) => ({ _id: i })))
  const unhandled: unknown[] = []
  const keep = (reason: unknown): void => void unhandled.push(reason)
  process.on('unhandledRejection', keep)
  for (let round = 0; round < 4; round++) {
    const store = new FailingLevel()
    const target = await open(store)
    const copying = copyDatabase(source, target, {
      onProgress: () => {
        store.successes = 0
        throw new Error('enough')
      }
    })
    const error = await copying.catch((reason: unknown) => reason)
    assert.match(String(error), 'enough')
    await sleep(20)
    store.successes = Number.POSITIVE_INFINITY
    await target.close()
  }
  process.off('unhandledRejection', keep)
  assert.equal(unhandled, [])
})

test('invalid and existing targets of a copy are refused', async () => {
  await using source = await open('unused', { store: 'memory' })
  await rejects(copyDatabase(source, ''), 'BadValue')
  await rejects(copyDatabase(source, scratchPath(), { store: 'memory' as 'lsm' }), 'BadValue')
  const file = scratchPath()
  writeFileSync(file, 'mine')
  await rejects(copyDatabase(source, file), 'DatabaseExists')
  await rejects(copyDatabase(source, join(file, 'below')), 'StoreFailure')
  assert.is(readFileSync(file, 'utf8'), 'mine')
})

test('a batch that cannot be written while the next one is read is an error of the call alone', async () => {
  const unhandled: unknown[] = []
  const note = (reason: unknown): void => void unhandled.push(reason)
  process.on('unhandledRejection', note)
  await using source = await open('any name', { store: 'memory' })
  // Reading them takes longer than failing to write the first of them.
  await source.insertMany(Array.from({ length: 5000 }, (_, i) => ({ _id: i, list: Array(300).fill('text') })))
  for (let successes = 0; successes < 6; successes++) {
    const failing = new FailingLevel()
    failing.delay = 0
    const target = await open(failing)
    // Batches that create the collection are among them.
    failing.successes = successes
    await rejects(copyDatabase(source, target), 'StoreFailure')
    await sleep(10)
    failing.successes = Number.POSITIVE_INFINITY
    await target.close()
  }
  process.off('unhandledRejection', note)
  assert.equal(unhandled, [])
})

test.run()
