/** Stores in memory for the tests of the tools. */
import { EntryKind } from '../../src/lsm/format/entry.ts'
import { TableBuilder } from '../../src/lsm/format/table-builder.ts'
import { tableName } from '../../src/lsm/fs/file-names.ts'
import type { FileSystem } from '../../src/lsm/fs/file-system.ts'
import { LsmLevel, MemoryFileSystem, type StoreOptions } from '../../src/lsm/index.ts'
import { jobOf, type Version } from './compaction-helpers.ts'
import { documentOf, keyOf, smallOptions } from './tools-content.ts'
import { wholeEntry } from './whole-entry.ts'

export const location = '/db'

export type TestLevel = LsmLevel<string, string>

export async function openLevel(fileSystem: FileSystem, options: StoreOptions = smallOptions): Promise<TestLevel> {
  const db = new LsmLevel<string, string>(location, { ...options, fileSystem })
  await db.open()
  return db
}

/** Writes several versions of 200 keys, deletes every fifth, flushes them, and leaves ten more keys in the log only. */
export async function fillLevel(db: TestLevel): Promise<Map<string, string>> {
  const content = new Map<string, string>()
  for (let round = 0; round < 3; round++) {
    for (let i = round; i < 200; i += round + 1) {
      content.set(keyOf(i), documentOf(i, round))
      await db.put(keyOf(i), documentOf(i, round))
    }
    for (let i = 0; i < 200; i += 5) {
      content.delete(keyOf(i))
      await db.del(keyOf(i))
    }
    await db.flush()
  }
  for (let i = 300; i < 310; i++) {
    content.set(keyOf(i), documentOf(i))
    await db.put(keyOf(i), documentOf(i))
  }
  return content
}

/** A closed store and its content. */
export async function filledStore(options: StoreOptions = smallOptions) {
  const fileSystem = new MemoryFileSystem()
  const db = await openLevel(fileSystem, options)
  const content = await fillLevel(db)
  await db.close()
  return { fileSystem, content }
}

/** A store as left by kill -9, with entries in its log, and its content. */
export async function leftStore() {
  const fileSystem = new MemoryFileSystem()
  const db = await openLevel(fileSystem)
  const content = await fillLevel(db)
  const left = fileSystem.snapshot()
  await db.close()
  return { left, content }
}

/** Tables 1, 2, … with the given versions, without a manifest. */
export function tablesAlone(...tables: readonly (readonly Version[])[]) {
  const fileSystem = new MemoryFileSystem()
  fileSystem.makeDirectory(location)
  const metas = tables.map((versions, i) => {
    const file = fileSystem.open(`${location}/${tableName(i + 1)}`, 'create')
    const builder = new TableBuilder(file, i + 1, jobOf({ firstNumber: 1 }).table)
    for (const { key, sequence, value } of versions) {
      const [keyBytes, bytes] = [Buffer.from(key), Buffer.from(value ?? '')]
      const kind = value === undefined ? EntryKind.tombstone : EntryKind.put
      builder.add(wholeEntry(keyBytes, sequence, kind, bytes))
    }
    const meta = builder.finish()
    file.close()
    return meta
  })
  return { fileSystem, metas }
}

export async function contentOf(fileSystem: FileSystem, options: StoreOptions = smallOptions) {
  const db = await openLevel(fileSystem, options)
  try {
    return new Map(await db.iterator().all())
  } finally {
    await db.close()
  }
}

export async function rejection(promise: Promise<unknown>): Promise<Error & { code?: string }> {
  try {
    await promise
  } catch (error) {
    return error as Error
  }
  throw new Error('It did not reject')
}
