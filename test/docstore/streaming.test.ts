/** Memory stays bounded however much is written or read. */
import { Worker } from 'node:worker_threads'
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { open } from '../../src/index.ts'
import { program } from '../support/program.ts'
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

/** The least of up to three measurements, fewer if one is below the limit: what the collector puts off only adds. */
async function least(limit: number, measure: () => Promise<number>): Promise<number> {
  let result = Number.POSITIVE_INFINITY
  for (let n = 0; n < 3 && result >= limit; n++) result = Math.min(result, await measure())
  return result
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
  const limit = 100 * megabyte
  const scan = await least(limit, () => {
    seen = 0
    return growth(() => scanUpTo(count))
  })
  assert.is(seen, count)
  assert.ok(scan < limit, `a scan took ${(scan / megabyte).toFixed(0)} MiB`)
  const counting = await least(limit, () => growth(() => db.countDocuments({ $where: () => false })))
  assert.ok(counting < limit, `counting took ${(counting / megabyte).toFixed(0)} MiB`)
  const top = await least(limit, () => growth(() => db.find().sort({ text: -1 }).limit(10).toArray()))
  assert.ok(top < limit, `a sort with a limit took ${(top / megabyte).toFixed(0)} MiB`)
  console.log([scan, counting, top].map((bytes) => `${(bytes / megabyte).toFixed(0)} MiB`).join(', '))
  await db.close()
})

/** Opens a database in a thread whose heap is a fraction of the documents. @throws Error if it does not suffice */
function inSmallHeap(location: string, read: string): Promise<unknown> {
  const code = `
    const { parentPort, workerData } = require('node:worker_threads')
    import(workerData.module).then(async ({ open }) => {
      const db = await open(workerData.location, { readOnly: true, documentCacheBytes: 0 })
      parentPort.postMessage(await (${read})(db))
      await db.close()
    })`
  const workerData = { module: program('src/index.ts'), location }
  const thread = new Worker(code, { eval: true, workerData, resourceLimits: { maxOldGenerationSizeMb: 40 } })
  return new Promise((resolve, reject) => {
    thread.once('message', resolve).once('error', reject)
  }).finally(() => thread.terminate())
}

test('documents of three times the heap are scanned, counted and sorted; to collect them takes more than it has', async () => {
  const location = scratchPath()
  const db = await open(location, { index: 'none' })
  const text = 'x'.repeat(1200)
  await db.insertMany(Array.from({ length: count }, (_, _id) => ({ _id, n: (_id * 7919) % count, text })))
  await db.close()
  const all = '{ $where: (document) => document.n >= 0 }'
  const scan = `async (db) => { let seen = 0; for await (const _ of db.find(${all})) seen++; return seen }`
  assert.is(await inSmallHeap(location, scan), count)
  assert.is(await inSmallHeap(location, `(db) => db.countDocuments(${all})`), count)
  const first = '(db) => db.find().sort({ n: -1 }).limit(1).map(({ n }) => n).toArray()'
  assert.equal(await inSmallHeap(location, first), [count - 1])
  const collect = '(db) => db.find().toArray().then(({ length }) => length)'
  const error = await inSmallHeap(location, collect).catch(({ code }: NodeJS.ErrnoException) => code)
  assert.is(error, 'ERR_WORKER_OUT_OF_MEMORY')
})

test('records of large documents are freed batch by batch within one insertMany()', async () => {
  const db = await open(scratchPath())
  const text = 'x'.repeat(6 * megabyte)
  let inserted = 0
  const insert = async (): Promise<number> => {
    let highest = 0
    const timer = setInterval(() => {
      highest = Math.max(highest, process.memoryUsage().arrayBuffers)
    }, 1)
    await db.insertMany(Array.from({ length: 40 }, () => ({ _id: inserted++, text })))
    clearInterval(timer)
    return highest
  }
  // Held to the end they would be 40 times 18 MiB, or 720; freed, they are 230 to 270, depending on the collector.
  const limit = 500 * megabyte
  const highest = await least(limit, insert)
  assert.ok(highest < limit, `${(highest / megabyte).toFixed(0)} MiB`)
  console.log(`${(highest / megabyte).toFixed(0)} MiB`)
  await db.close()
})

test.run()
