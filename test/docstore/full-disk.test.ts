/** Databases on a disk that fills up: a small tmpfs. Skipped where mounting is refused. */
import { spawnSync } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { existsSync, readdirSync, rmSync, statSync, truncateSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { Readable } from 'node:stream'
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { type Database, type Document, type OpenOptions, open } from '../../src/index.ts'
import { PetalError } from '../../src/model/errors.ts'
import { generateTweets } from '../../src/workload/index.ts'
import { canMount, onTmpfs } from '../support/mounted.ts'

const testMounted = canMount ? test : test.skip

/** Documents known to be stored, by `_id`. */
type Acknowledged = Map<number, Document>

/** Writes until an error is thrown. */
type Fill = (db: Database, acknowledged: Acknowledged) => Promise<void>

/** Small memtables and tables: the disk fills up with tables and merges instead of one log. */
const smallStore = { lsm: { writeBufferSize: 200_000, maxFileSize: 100_000, level0CompactionTrigger: 1 } }
const stored = 500

function documentOf(i: number): Document {
  return { _id: i, n: i % 10, text: randomBytes(100 + (i % 7) * 50).toString('hex') }
}

const insertOne: Fill = async (db, acknowledged) => {
  for (let round = 0; ; round++) {
    const documents = Array.from({ length: 50 }, (_, i) => documentOf(round * 50 + i))
    const outcomes = await Promise.allSettled(documents.map((document) => db.insertOne(document)))
    for (const [i, { status }] of outcomes.entries()) if (status === 'fulfilled') note(acknowledged, documents[i]!)
    const refused = outcomes.find((outcome) => outcome.status === 'rejected')
    if (refused !== undefined) throw refused.reason
  }
}

function updateOne(count: number): Fill {
  return async (db, acknowledged) => {
    const documents = Array.from({ length: count }, (_, i) => documentOf(i))
    await db.insertMany(documents)
    for (const document of documents) note(acknowledged, document)
    for (let i = 0; ; i++) {
      const next = documentOf(i % count)
      await db.updateOne({ _id: next._id }, { $set: { text: next.text } })
      note(acknowledged, next)
    }
  }
}

const insertMany: Fill = async (db, acknowledged) => {
  for (let round = 0; ; round++) {
    const documents = Array.from({ length: 100 }, (_, i) => documentOf(round * 100 + i))
    await db.insertMany(documents)
    for (const document of documents) note(acknowledged, document)
  }
}

/** Lines; each progress report acknowledges as many of them as it says. */
function importLines(threads: number): Fill {
  return async (db, acknowledged) => {
    const documents: Document[] = []
    function* lines() {
      for (let i = 0; i < 300_000; i++) {
        documents.push(documentOf(i))
        yield Buffer.from(`${JSON.stringify(documents[i])}\n`)
      }
    }
    const onProgress = ({ insertedCount }: { readonly insertedCount: number }): void => {
      while (acknowledged.size < insertedCount) note(acknowledged, documents[acknowledged.size]!)
    }
    await db.importLines(Readable.from(lines()), { threads, onProgress })
  }
}

function note(acknowledged: Acknowledged, document: Document): void {
  acknowledged.set(document._id as number, document)
}

/** Every acknowledged document is there, nothing is there in part, and the index agrees with a scan. */
async function check(db: Database, acknowledged: Acknowledged): Promise<void> {
  const found = new Map((await db.find({}, { hint: 'scan' }).toArray()).map((document) => [document._id, document]))
  for (const [id, document] of acknowledged) assert.equal(found.get(id), document)
  for (const document of found.values()) assert.equal(Object.keys(document), ['_id', 'n', 'text'])
  assert.is(await db.estimatedDocumentCount(), found.size)
  assert.is(await db.countDocuments({ n: 3 }), await db.countDocuments({ n: 3 }, { hint: 'scan' }))
}

async function failureOf(promise: Promise<unknown>): Promise<PetalError> {
  const error = await promise.then(
    () => undefined,
    (reason: unknown) => reason
  )
  assert.instance(error, PetalError)
  return error as PetalError
}

function assertNamesFile(error: PetalError, directory: string): void {
  assert.is(error.codeName, 'StoreFailure', error.message)
  assert.is(error.details.systemCode, 'ENOSPC', error.message)
  const { file } = error.details
  assert.ok(typeof file === 'string' && file.startsWith(directory) && error.message.includes(file), error.message)
}

function grow(directory: string): void {
  assert.is(spawnSync('mount', ['-o', 'remount,size=64m', directory]).status, 0)
}

function claim(title: string, size: string, fill: Fill, options: OpenOptions): void {
  testMounted(title, () =>
    onTmpfs(`size=${size}`, async (directory) => {
      const location = join(directory, 'db')
      const acknowledged: Acknowledged = new Map()
      const db = await open(location, options)
      assertNamesFile(await failureOf(fill(db, acknowledged)), directory)
      assert.ok(acknowledged.size >= stored)
      await check(db, acknowledged)
      // Closing writes what is left of the index, which the full disk refuses.
      await db.close().catch((error) => assertNamesFile(error, directory))
      await using reader = await open(location, { ...options, readOnly: true })
      await check(reader, acknowledged)
      await reader.close()
      grow(directory)
      await using again = await open(location, options)
      await check(again, acknowledged)
      assert.equal((await again.verify()).problems, [])
      await again.insertOne({ _id: -1, n: 0, text: '' })
      await again.compact()
      await check(again, acknowledged)
    })
  )
}

claim('single inserts that fill the disk lose nothing that was acknowledged', '4m', insertOne, {})
claim('synced inserts that fill the disk with tables lose nothing', '4m', insertOne, { ...smallStore, sync: true })
claim('updates that fill the disk leave each document as it was acknowledged last', '4m', updateOne(stored), {})
// Half of the disk: there is no room for all of it twice.
claim('updates whose merges find no room lose nothing', '4m', updateOne(4000), smallStore)
claim('insertMany() that fills the disk loses no completed call', '4m', insertMany, smallStore)
claim('an import that fills the disk keeps every line it has reported', '16m', importLines(0), {})
claim('an import with threads that fills the disk keeps every line it has reported', '16m', importLines(2), smallStore)

testMounted('a database that a full disk has no room for leaves no file behind', () =>
  onTmpfs('size=1m', async (directory) => {
    const filling = join(directory, 'filling')
    assert.throws(() => writeFileSync(filling, randomBytes(2 << 20)), /ENOSPC/)
    const location = join(directory, 'db')
    // A directory takes no page of this file system, a file's contents do.
    await open(location).then(
      () => assert.unreachable('opened without room'),
      (error) => assert.instance(error, PetalError)
    )
    assert.equal(existsSync(location) ? readdirSync(location) : [], [])
    rmSync(filling)
    await (await open(location)).close()
  })
)

testMounted('a rebuild by a thread that finds no room fails alone: writing goes on', () =>
  onTmpfs('size=96m', async (directory) => {
    const index = { segmentBits: 16_384 }
    await using db = await open(join(directory, 'db'), { index, autoRebuild: false })
    await db.insertMany(generateTweets({ count: 17_000 }), { threads: 0 })
    await db.compact()
    const { parameters } = await db.index.stats()
    const filling = join(directory, 'filling')
    assert.throws(() => writeFileSync(filling, randomBytes(100 << 20)), /ENOSPC/)
    // Room for the log, but not for a table.
    truncateSync(filling, statSync(filling).size - (256 << 10))
    const tables = (): string[] => readdirSync(join(directory, 'db')).filter((name) => name.endsWith('.sst'))
    const before = new Set(tables())
    assertNamesFile(await failureOf(db.index.rebuild({ threads: 1 })), directory)
    assert.ok(tables().every((name) => before.has(name)))
    assert.equal((await db.index.stats()).parameters, parameters)
    rmSync(filling)
    await db.insertOne({ lang: 'new' })
    await db.index.rebuild({ threads: 1 })
    assert.is(await db.countDocuments({ lang: 'new' }), 1)
    assert.equal((await db.verify()).problems, [])
  })
)

test.run()
