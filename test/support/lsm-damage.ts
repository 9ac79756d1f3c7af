/**
 * A small database with a file of every kind, and what must hold when a file is damaged:
 *
 * 1. Opening and every read give the right answer or LEVEL_CORRUPTION: never a wrong value, another error, a hanging
 *    process, or more memory than the files justify. All answers belong to one state.
 * 2. That state is the last one; only damage to a log may lose its last writes. Damage that leaves the bytes after it
 *    in place loses no write known to be synced. A log without its end no longer knows what was synced.
 * 3. verify() finds a problem wherever a read was refused.
 * 4. Two more codes are allowed where they are documented: LEVEL_NOT_SUPPORTED where a format version or a magic is
 *    damaged, LEVEL_LOCKED for a LOCK that cannot be read.
 */
import { getHeapStatistics } from 'node:v8'
import * as assert from 'uvu/assert'
import { hasCode } from '../../src/lsm/errors.ts'
import { MemoryFileSystem } from '../../src/lsm/fs/memory-file-system.ts'
import type { LsmLevel, StoreOptions } from '../../src/lsm/index.ts'
import { location, nextTurn, openStore } from './lsm-crash-points.ts'
import { asLevelOperation, History, type PrefixBounds, type TestOperation } from './lsm-history.ts'
import { optionSets } from './lsm-traces.ts'

export interface Specimen {
  readonly disk: MemoryFileSystem
  readonly history: History
  readonly options: StoreOptions
  /** The last write in tables. */
  readonly flushed: number
  /** The last write that the log knows to be synced. */
  readonly synced: number
}

const options: StoreOptions = {
  ...optionSets['value filters in tables'],
  // Nothing is merged, so that reads meet the damage and merges do not.
  writeBufferSize: 1 << 20,
  level0CompactionTrigger: 8,
  maxFileSize: 1 << 20
}

export const specimens = {
  'filters in tables': options,
  'filters in side files': { ...options, values: { ...optionSets['value filters in side files'].values } }
} satisfies Record<string, StoreOptions>

const keys = ['a', 'ab', 'b', 'c', 'd', 'e'] as const
const colors = ['red', 'green'] as const

/** A table at the bottom, one in level 0 that hides some of it, and a log, as a killed process leaves them. */
export async function createSpecimen(options: StoreOptions): Promise<Specimen> {
  const disk = new MemoryFileSystem()
  const history = new History()
  const db = await openStore(disk, options)
  const write = async (sync: boolean, ...operations: TestOperation[]): Promise<void> => {
    history.begin(operations)
    await db.batch(operations.map(asLevelOperation), { sync })
  }
  await write(false, put('a', 'red', 1), put('ab', 'red', 2), put('b', 'green', 3), put('c', 'red', 4))
  await db.compactRange('', '~')
  await write(false, put('a', 'green', 5), { key: 'ab' }, put('d', 'green', 6))
  await db.flush()
  const flushed = history.length
  await write(false, put('b', 'red', 7))
  await write(true, { key: 'c' }, put('d', 'red', 8))
  const synced = history.length
  await write(false, put('e', 'green', 9))
  await write(false, { key: 'a' })
  // Obsolete files are removed in the background.
  for (let turn = 0; turn < 20; turn++) await nextTurn()
  const specimen = { disk: disk.snapshot(), history, options, flushed, synced }
  await db.close()
  return specimen
}

function put(key: string, color: string, n: number): TestOperation {
  return { key, value: JSON.stringify({ n, color, text: `${key.repeat(12)}` }) }
}

export function filesOf({ disk }: Specimen): readonly { readonly name: string; readonly bytes: number }[] {
  const names = disk.list(location).sort()
  return names.map((name) => ({ name, bytes: disk.size(`${location}/${name}`) ?? 0 }))
}

/** Milliseconds within which a case must end. */
const patience = 60_000
/** A case needs an arena chunk and a few windows; the specimen's files could justify a few KiB more. */
const maxNewBytes = 32 * 1024 * 1024

export interface Damage {
  readonly file: string
  /** For messages. */
  readonly description: string
  apply(disk: MemoryFileSystem, path: string): void
  /** Whether the bytes after the damaged ones still exist. Default false. */
  readonly keepsEnd?: boolean
}

/**
 * @param first runs before anything is read; may be refused as reads may
 * @returns whether the damage was noticed
 */
export async function checkDamage(
  specimen: Specimen,
  damage: Damage,
  first: (db: LsmLevel) => Promise<unknown> = async () => {}
): Promise<boolean> {
  try {
    let { wasNoticed, newBytes } = await measured(specimen, damage, first)
    // Memory that is allocated at the first flush and kept is not due to the damage; a second run does not allocate it.
    if (newBytes >= maxNewBytes) ({ wasNoticed, newBytes } = await measured(specimen, damage, first))
    assert.ok(newBytes < maxNewBytes, `${newBytes} bytes allocated`)
    return wasNoticed
  } catch (error) {
    throw new Error(`${damage.file}, ${damage.description}: ${(error as Error).stack}`, { cause: error })
  }
}

async function measured(
  specimen: Specimen,
  damage: Damage,
  first: (db: LsmLevel) => Promise<unknown>
): Promise<{ wasNoticed: boolean; newBytes: number }> {
  const disk = specimen.disk.snapshot()
  damage.apply(disk, `${location}/${damage.file}`)
  // All memory outside the heap, including buffers; process.memoryUsage() takes longer than most cases.
  const before = getHeapStatistics().external_memory
  let timer: NodeJS.Timeout | undefined
  const tooLong = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new Error('takes too long')), patience)
  })
  try {
    const wasNoticed = await Promise.race([readEverything(disk, specimen, damage, first), tooLong])
    return { wasNoticed, newBytes: getHeapStatistics().external_memory - before }
  } finally {
    clearTimeout(timer)
  }
}

async function readEverything(
  disk: MemoryFileSystem,
  { history, options, synced, flushed }: Specimen,
  { file, keepsEnd = false }: Damage,
  first: (db: LsmLevel) => Promise<unknown>
): Promise<boolean> {
  let db: LsmLevel
  try {
    db = await openStore(disk, options)
  } catch (error) {
    checkCode((error as Error).cause, file)
    return true
  }
  try {
    await first(db).catch((error) => checkCode(error, file))
    const reads = await Promise.all([
      ...keys.map((key) => readKey(db, key, file)),
      ...colors.map((color) => look(db, color, file))
    ])
    reads.push(await scan(db, file))
    const atLeast = !file.endsWith('.wal') ? history.length : keepsEnd ? synced : flushed
    checkAnswers(reads, history, { atLeast, atMost: history.length })
    const wasRefused = reads.some((read) => read.wasRefused)
    const { problems } = await db.verify()
    assert.ok(problems.length > 0 || !wasRefused, 'verify() names what reads refuse')
    return problems.length > 0
  } finally {
    await db.close()
  }
}

/** The result of one way of reading, and whether it failed with an error. */
interface Answer {
  readonly what: string
  readonly wasRefused: boolean
  /** Whether the result is right in a state. */
  readonly fits: (state: ReadonlyMap<string, string>) => boolean
}

async function readKey(db: LsmLevel, key: string, name: string): Promise<Answer> {
  try {
    const value = await db.get(key)
    return { what: `${key} is ${value}`, wasRefused: false, fits: (state) => state.get(key) === value }
  } catch (error) {
    return refused(`get of ${key}`, error, name)
  }
}

async function scan(db: LsmLevel, name: string): Promise<Answer> {
  const found: [string, string][] = []
  let wasRefused = false
  try {
    for await (const entry of db.iterator({ highWaterMarkBytes: 1 } as object)) found.push(entry)
  } catch (error) {
    checkCode(error, name)
    wasRefused = true
  }
  const fits = (state: ReadonlyMap<string, string>): boolean => {
    const expected = [...state].sort(([a], [b]) => (a < b ? -1 : 1))
    return JSON.stringify(wasRefused ? expected.slice(0, found.length) : expected) === JSON.stringify(found)
  }
  return { what: `scan gave ${JSON.stringify(found)}`, wasRefused, fits }
}

async function look(db: LsmLevel, color: string, name: string): Promise<Answer> {
  const found: string[] = []
  try {
    for await (const [key] of db.lookup(['color', color])) found.push(key)
  } catch (error) {
    return refused(`lookup of ${color}`, error, name)
  }
  const fits = (state: ReadonlyMap<string, string>): boolean => {
    const expected = [...state].filter(([, value]) => value.includes(`"color":"${color}"`)).map(([key]) => key)
    return expected.sort().join() === found.sort().join()
  }
  return { what: `lookup of ${color} gave ${found.join()}`, wasRefused: false, fits }
}

function refused(what: string, error: unknown, name: string): Answer {
  checkCode(error, name)
  return { what, wasRefused: true, fits: () => true }
}

function checkAnswers(answers: readonly Answer[], history: History, { atLeast, atMost }: PrefixBounds): void {
  for (let prefix = atMost; prefix >= atLeast; prefix--) {
    if (answers.every(({ fits }) => fits(history.contentAfter(prefix)))) return
  }
  const list = answers.map(({ what, wasRefused }) => `${what}${wasRefused ? ', refused' : ''}`).join('\n')
  throw new Error(`no state from ${atLeast} to ${atMost} fits\n${list}`)
}

function checkCode(error: unknown, name: string): void {
  if (hasCode(error, 'LEVEL_CORRUPTION')) return
  if (hasCode(error, 'LEVEL_NOT_SUPPORTED') && !name.endsWith('.wal')) return
  if (hasCode(error, 'LEVEL_LOCKED') && name === 'LOCK') return
  throw error
}

/** Damage to one byte. */
export function change(file: string, offset: number, mask: number): Damage {
  return {
    file,
    description: `byte ${offset} xor 0x${mask.toString(16)}`,
    keepsEnd: true,
    apply: (disk, path) => {
      const bytes = contentOfFile(disk, path)
      bytes[offset]! ^= mask
      replaceContent(disk, path, bytes)
    }
  }
}

/** Truncates the file. */
export function cut(file: string, length: number): Damage {
  return {
    file,
    description: `cut off at ${length}`,
    apply: (disk, path) => replaceContent(disk, path, contentOfFile(disk, path).subarray(0, length))
  }
}

/** Appends zeros. */
export function grow(file: string, count: number): Damage {
  return {
    file,
    description: `${count} more bytes`,
    keepsEnd: true,
    apply: (disk, path) => {
      replaceContent(disk, path, Buffer.concat([contentOfFile(disk, path), new Uint8Array(count)]))
    }
  }
}

export function remove(file: string): Damage {
  return { file, description: 'removed', apply: (disk, path) => disk.remove(path) }
}

/** Replaces the file's bytes with another file's. */
export function replace(file: string, other: string): Damage {
  return {
    file,
    description: `replaced by ${other}`,
    apply: (disk, path) => replaceContent(disk, path, contentOfFile(disk, `${location}/${other}`))
  }
}

function contentOfFile(disk: MemoryFileSystem, path: string): Uint8Array {
  const file = disk.open(path, 'read')
  const bytes = new Uint8Array(file.size())
  file.read(bytes, 0)
  file.close()
  return bytes
}

function replaceContent(disk: MemoryFileSystem, path: string, bytes: Uint8Array): void {
  const file = disk.open(path, 'create')
  file.write(bytes, 0)
  file.close()
}
