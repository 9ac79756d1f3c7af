import { readdirSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { type CompactProgress, type Document, open } from '../../src/index.ts'
import { runCli } from '../cli/run-cli.ts'
import { rejects, scratchPath } from './scratch.ts'

const documents = (count: number): Document[] =>
  Array.from({ length: count }, (_, i) => ({ _id: i, n: i % 7, text: `number ${i} ${Math.sin(i)}` }))

function tableBytes(location: string): number {
  const tables = readdirSync(location).filter((name) => /\.(sst|ldb)$/.test(name))
  return tables.reduce((sum, name) => sum + statSync(join(location, name)).size, 0)
}

for (const store of ['lsm', 'level'] as const) {
  test(`compacting a database on ${store} frees deleted data, and changes no answer`, async () => {
    const location = scratchPath()
    const db = await open(location, { store })
    await db.insertMany(documents(10_000))
    await db.collection('dropped').insertMany(documents(5000))
    await db.deleteMany({ n: { $ne: 3 } })
    await db.dropCollection('dropped')
    const progress: CompactProgress[] = []
    const expected = await db.find({}).toArray()
    const compacting = db.compact({ onProgress: (each) => progress.push(each) })
    await db.collection('meanwhile').insertOne({ _id: 1 })
    const { bytesBefore = 0, bytesAfter = 0 } = await compacting
    assert.ok(bytesBefore > 2 * bytesAfter && bytesAfter > 0, `${bytesBefore} to ${bytesAfter}`)
    const sizes = progress.map(({ bytes }) => bytes)
    assert.equal(
      sizes,
      [...sizes].sort((a, b) => a - b)
    )
    assert.ok(progress.every(({ bytes, totalBytes }) => bytes <= totalBytes && totalBytes === bytesBefore))
    assert.is(sizes.at(-1), bytesBefore)
    assert.equal(await db.find({}).toArray(), expected)
    assert.equal((await db.verify()).problems, [])
    const again = await db.compact()
    assert.ok((again.bytesAfter ?? 0) <= bytesAfter + 1000, `${again.bytesAfter}`)
    await rejects(db.compact({ signal: AbortSignal.abort() }), 'Aborted')
    const ending = new AbortController()
    await rejects(db.compact({ signal: ending.signal, onProgress: () => ending.abort() }), 'Aborted')
    await db.close()
    await rejects(db.compact(), 'DatabaseNotOpen')
    assert.ok(tableBytes(location) < bytesBefore)
    const { code, stdout, stderr } = await runCli(['compact', location])
    assert.is(code, 0, stderr)
    assert.match(stdout, /^compacted [\d.]+ [KM]?i?B to [\d.]+ [KM]?i?B, in /)
    const readOnly = await open(location, { readOnly: true })
    await rejects(readOnly.compact(), 'IllegalOperation')
    assert.equal(await readOnly.find({}).toArray(), expected)
    await readOnly.close()
  })
}

test('many small collections are compacted together, without a change of their content', async () => {
  const location = scratchPath()
  const names = Array.from({ length: 100 }, (_, i) => `c${i}`)
  await using db = await open(location)
  for (const name of names) await db.collection(name).insertMany(documents(3))
  await db.compact()
  for (const name of names) await db.collection(name).updateMany({ n: { $lt: 2 } }, { $set: { of: name } })
  await db.dropCollection('c50')
  let pieces = 0
  await db.compact({ onProgress: () => pieces++ })
  // Of each collection by itself, it was three merges and their syncs.
  assert.ok(pieces < 20, `${pieces}`)
  for (const name of names) {
    const expected =
      name === 'c50' ? [] : documents(3).map((each) => ({ ...each, ...(Number(each.n) < 2 && { of: name }) }))
    assert.equal(
      await db
        .collection(name)
        .find({}, { sort: { _id: 1 } })
        .toArray(),
      expected
    )
  }
  assert.equal((await db.verify()).problems, [])
})

test('compact() of a database in memory has nothing to do', async () => {
  await using db = await open('m', { store: 'memory' })
  await db.insertMany(documents(10))
  assert.equal(await db.compact(), { bytesBefore: undefined, bytesAfter: undefined })
})

test.run()
