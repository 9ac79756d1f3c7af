/** Stores in memory for the tests of the tools, and damage done to their files. */
import { EntryKind } from '../../src/lsm/format/entry.ts'
import { TableBuilder } from '../../src/lsm/format/table-builder.ts'
import { tableName } from '../../src/lsm/fs/file-names.ts'
import type { FileSystem } from '../../src/lsm/fs/file-system.ts'
import { jsonExtractor, LsmLevel, MemoryFileSystem, type StoreOptions } from '../../src/lsm/index.ts'
import { jobOf, type Version } from './compaction-helpers.ts'
import { wholeEntry } from './whole-entry.ts'

export const location = '/db'

/** Small enough that some hundred entries fill several tables on several levels. */
export const smallOptions: StoreOptions = {
  writeBufferSize: 6000,
  maxFileSize: 3000,
  blockSize: 300,
  level1Bytes: 8000,
  keyFilterBits: 10
}

export const valueOptions: StoreOptions = {
  ...smallOptions,
  values: {
    extractor: jsonExtractor({ fields: ['color', 'n'], zones: ['n'] }),
    filterBits: 4096,
    filterHashes: 4,
    blockFilterBits: 8
  }
}

export type TestLevel = LsmLevel<string, string>

export async function openLevel(fileSystem: FileSystem, options: StoreOptions = smallOptions): Promise<TestLevel> {
  const db = new LsmLevel<string, string>(location, { ...options, fileSystem })
  await db.open()
  return db
}

export function keyOf(i: number): string {
  return `k${String(i).padStart(4, '0')}`
}

export function documentOf(i: number, round = 0): string {
  return JSON.stringify({ color: ['red', 'green', 'blue'][i % 3], n: i, round, text: `text ${i * 7919} of ${round}` })
}

/** Several versions of 200 keys, every fifth of them deleted, in tables of several levels, and some in the log only. */
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

/** A closed store, and what is in it. */
export async function filledStore(options: StoreOptions = smallOptions) {
  const fileSystem = new MemoryFileSystem()
  const db = await openLevel(fileSystem, options)
  const content = await fillLevel(db)
  await db.close()
  return { fileSystem, content }
}

/** Tables 1, 2, … of the versions given, and no manifest. */
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

export function namesOf(fileSystem: FileSystem, pattern: RegExp, directory = location): string[] {
  return fileSystem
    .list(directory)
    .filter((name) => pattern.test(name))
    .sort()
}

export function readBytes(fileSystem: FileSystem, name: string): Buffer {
  const file = fileSystem.open(`${location}/${name}`, 'read')
  const bytes = Buffer.alloc(file.size())
  file.read(bytes, 0)
  file.close()
  return bytes
}

/** Flips bits of one byte; a negative offset counts from the end. */
export function flip(fileSystem: FileSystem, name: string, offset: number): void {
  const bytes = readBytes(fileSystem, name)
  const at = offset < 0 ? bytes.length + offset : offset
  const file = fileSystem.open(`${location}/${name}`, 'update')
  file.write(Uint8Array.of((bytes[at] ?? 0) ^ 0x55), at)
  file.close()
}

export function truncate(fileSystem: FileSystem, name: string, bytes: number): void {
  const file = fileSystem.open(`${location}/${name}`, 'update')
  file.truncate(bytes)
  file.close()
}

export async function rejection(promise: Promise<unknown>): Promise<Error & { code?: string }> {
  try {
    await promise
  } catch (error) {
    return error as Error
  }
  throw new Error('It did not reject')
}
