/** Memory stays bounded however much is written or read. */
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { open } from '../../src/index.ts'
import { scratchPath } from './scratch.ts'

const count = 100_000
const megabyte = 2 ** 20

function* documents() {
  for (let i = 0; i < count; i++) yield { _id: i, group: i % 1000, text: `document number ${i} `.repeat(12) }
}

/** Runs a task. @returns by how many bytes the process grew at most meanwhile */
async function growth(task: () => Promise<unknown>): Promise<number> {
  const before = process.memoryUsage().rss
  let highest = before
  const timer = setInterval(() => {
    highest = Math.max(highest, process.memoryUsage().rss)
  }, 5)
  await task()
  clearInterval(timer)
  return Math.max(highest, process.memoryUsage().rss) - before
}

test('100,000 documents are inserted, scanned without an index, counted and sorted in bounded memory', async () => {
  const location = scratchPath()
  const db = await open(location, { index: 'none' })
  await db.insertMany(documents())
  let seen = 0
  const scanUpTo = async (limit: number): Promise<void> => {
    const all = { $where: (document: { _id?: unknown }) => Number(document._id) >= 0 }
    for await (const { group } of db.find(all, { limit })) if (Number(group) >= 0) seen++
  }
  // What merges take is not a scan's; and what every scan takes, V8's space for young objects above all, is there before it
  // is measured.
  await db.compact()
  await scanUpTo(count / 4)
  seen = 0
  const scan = await growth(() => scanUpTo(count))
  assert.is(seen, count)
  assert.ok(scan < 100 * megabyte, `a scan took ${(scan / megabyte).toFixed(0)} MiB`)
  const counting = await growth(() => db.countDocuments({ $where: () => false }))
  assert.ok(counting < 100 * megabyte, `counting took ${(counting / megabyte).toFixed(0)} MiB`)
  const top = await growth(() => db.find().sort({ text: -1 }).limit(10).toArray())
  assert.ok(top < 100 * megabyte, `a sort with a limit took ${(top / megabyte).toFixed(0)} MiB`)
  console.log([scan, counting, top].map((bytes) => `${(bytes / megabyte).toFixed(0)} MiB`).join(', '))
  await db.close()
})

test('records of large documents are freed batch by batch within one insertMany()', async () => {
  const db = await open(scratchPath())
  const text = 'x'.repeat(6 * megabyte)
  let highest = 0
  const timer = setInterval(() => {
    highest = Math.max(highest, process.memoryUsage().arrayBuffers)
  }, 1)
  await db.insertMany(Array.from({ length: 40 }, (_, _id) => ({ _id, text })))
  clearInterval(timer)
  // Held to the end they would be 40 times 18 MiB, or 720; freed, they are 230 to 270, depending on the collector.
  assert.ok(highest < 500 * megabyte, `${(highest / megabyte).toFixed(0)} MiB`)
  console.log(`${(highest / megabyte).toFixed(0)} MiB`)
  await db.close()
})

test.run()
