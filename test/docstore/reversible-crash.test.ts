/** With computed ordinals, deletions outlast a crash after a merge that did not touch their segments. */
import { cpSync } from 'node:fs'
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { open } from '../../src/index.ts'
import { scratchPath } from './scratch.ts'

const options = { ids: 'reversible', index: { segmentBits: 512 }, autoRebuild: false } as const
const documents = (from: number, to: number) =>
  Array.from({ length: to - from }, (_, i) => ({ _id: from + i, n: i % 9 }))

test('documents deleted before a merge elsewhere stay deleted after a crash, and the index is not built again', async () => {
  const path = scratchPath()
  const copy = scratchPath()
  {
    await using db = await open(path, options)
    await db.insertMany(documents(0, 8192))
    await db.index.rebuild()
  }
  await using db = await open(path, options)
  await db.deleteMany({ _id: { $gte: 100, $lt: 110 } })
  const before = (await db.stats()).collections[0]!.index.segments
  // Far from the deleted ones; the merge comes with the third.
  for (let i = 0; i < 3; i++) await db.insertMany(documents(40_960 + i * 1024, 40_960 + (i + 1) * 1024))
  for (let waited = 0; (await db.stats()).collections[0]!.index.segments < before + 4; waited++) {
    assert.ok(waited < 10_000, 'no merge')
    await new Promise((resolve) => setTimeout(resolve, 1))
  }
  cpSync(path, copy, { recursive: true, filter: (file) => !file.endsWith('LOCK') })
  await using crashed = await open(copy, options)
  assert.equal((await crashed.stats()).collections[0]!.index.damage, [])
  assert.is(await crashed.countDocuments({}), 8192 - 10 + 3 * 1024)
  assert.equal((await crashed.verify()).problems, [])
})

test.run()
