/** Which partitions have tables of their own, and that a store of many small ones has few tables. */
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { partitionRules } from '../../src/lsm/compaction/own-partitions.ts'
import { LsmLevel, MemoryFileSystem } from '../../src/lsm/index.ts'
import type { TableMeta } from '../../src/lsm/version/table-meta.ts'
import { closeAll, closeLater } from '../support/temporary-directory.ts'
import { ingestTables, put, tableNames } from './ingest-helpers.ts'

test.after.each(closeAll)

const options = { partitionDepth: 1, minPartitionSize: 1000 }

function table(smallest: string, largest: string, rawBytes: number): TableMeta {
  return { smallest: Buffer.from(smallest), largest: Buffer.from(largest), rawBytes } as unknown as TableMeta
}

async function openStore(more: { writeBufferSize?: number } = {}) {
  const fileSystem = new MemoryFileSystem()
  const db = closeLater(new LsmLevel<string, string>('/db', { ...options, ...more, fileSystem }))
  await db.open()
  return { db, fileSystem }
}

test('a partition has its own tables if those that it has are large enough together', () => {
  const tables = [
    table('!a!1', '!a!5', 600),
    table('!a!6', '!a!9', 400),
    table('!b!1', '!b!2', 999),
    table('!c!1', '!c!2', 1000),
    table('!d!1', '!e!1', 5000)
  ]
  assert.equal([...partitionRules(options, [tables]).own], ['!a!', '!c!'])
  assert.is(partitionRules({ ...options, minPartitionSize: 0 }, [tables]).own.size, 0)
  assert.is(partitionRules({ ...options, partitionDepth: 0 }, [tables]).own.size, 0)
})

test('a thousand small partitions share a table, and a large one among them has its own', async () => {
  const { db, fileSystem } = await openStore()
  for (let n = 0; n < 1000; n++) await db.put(`!${n}!key`, 'value')
  for (let n = 0; n < 100; n++) await db.put(`!500!${n}`, 'x'.repeat(50))
  await db.flush()
  assert.is(tableNames(fileSystem).length, 3)
  // Four: what changes in the large one and what is appended to it are apart from the others and from each other.
  for (let n = 0; n < 1000; n++) await db.put(`!${n}!key`, 'again')
  await db.put('!500!z', 'x')
  await db.flush()
  assert.is(tableNames(fileSystem).length, 7)
  assert.equal((await db.verify()).problems, [])
  assert.is((await db.keys().all()).length, 1101)
})

test('small partitions that are written again and again have few tables, and grow out of them', async () => {
  const { db, fileSystem } = await openStore({ writeBufferSize: 4000 })
  for (let round = 0; round < 30; round++) {
    for (let n = 0; n < 40; n++) await db.put(`!${n}!${String(round).padStart(3, '0')}`, 'x'.repeat(n === 7 ? 200 : 10))
  }
  await db.flush()
  await db.compactRange('', '~')
  assert.equal((await db.verify()).problems, [])
  assert.is((await db.keys().all()).length, 1200)
  assert.ok(tableNames(fileSystem).length <= 5, `${tableNames(fileSystem).length} tables`)
})

test('tombstones of one partition do not keep another one that shares their table from being ingested into', async () => {
  const { db, fileSystem } = await openStore()
  await db.batch([
    { type: 'put', key: '!a!1', value: 'a' },
    { type: 'put', key: '!c!1', value: 'c' },
    { type: 'put', key: '!b!9', value: 'b' }
  ])
  await db.flush()
  await db.batch([
    { type: 'put', key: '!a!2', value: 'a' },
    { type: 'del', key: '!b!9' },
    { type: 'put', key: '!c!2', value: 'c' }
  ])
  await db.flush()
  assert.is(tableNames(fileSystem).length, 2)
  const ingest = await db.beginIngest()
  const ingested = async (...keys: string[]): Promise<boolean> => {
    const tables = ingestTables(ingest, fileSystem)
    for (const key of keys) put(tables, [key, 'new'])
    return ingest.install(await tables.finish())
  }
  assert.ok(await ingested('!a!3', '!a!4'))
  assert.ok(await ingested('!b!1', '!b!2'))
  assert.not(await ingested('!b!8', '!b!9'))
  assert.is(await db.get('!b!9'), undefined)
  assert.is(await db.get('!b!2'), 'new')
  assert.equal((await db.verify()).problems, [])
})

test.run()
