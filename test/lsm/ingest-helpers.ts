/** Tables of given entries, for a store to take in. */
import type { Ingest } from '../../src/lsm/engine/ingest.ts'
import type { FileSystem, LsmLevel } from '../../src/lsm/index.ts'
import { IngestTables } from '../../src/lsm/ingest/ingest-tables.ts'

export type Entries = readonly (readonly [key: string, value: string])[]

/** More than any test has flushes and partitions. */
const numbers = 64
const nothing = new Uint8Array(0)

export function ingestTables(ingest: Ingest, fileSystem: FileSystem): IngestTables {
  return new IngestTables(ingest.plan, ingest.takeNumbers(numbers), numbers, fileSystem)
}

/** The prefix of a key is a group of its own, if it has one. */
export function put(tables: IngestTables, [key, value]: Entries[number]): void {
  const end = key.startsWith('!') ? key.indexOf('!', 1) + 1 : 0
  tables.put(end === 0 ? nothing : Buffer.from(key.slice(0, end)), Buffer.from(key.slice(end)), Buffer.from(value))
}

/**
 * Tables with the entries, each list written out on its own.
 * @returns whether the store has taken them; if not, they are gone
 */
export async function ingestAll(
  db: LsmLevel<string, string>,
  fileSystem: FileSystem,
  lists: readonly Entries[]
): Promise<boolean> {
  const ingest = await db.beginIngest()
  const tables = ingestTables(ingest, fileSystem)
  for (const entries of lists) {
    for (const entry of entries) put(tables, entry)
    await tables.flush()
  }
  const isInstalled = await ingest.install(await tables.finish())
  if (!isInstalled) await tables.discard()
  return isInstalled
}

export function tablesByLevel(db: LsmLevel<string, string>): string {
  return db
    .stats()
    .levels.map(({ tables }) => tables)
    .join(' ')
}

/** Names of tables in the directory. */
export function tableNames(fileSystem: FileSystem, directory = '/db'): string[] {
  return fileSystem.list(directory).filter((name) => name.endsWith('.sst'))
}

/** Entries of the keys k<from> to k<to>, one in `step`. */
export function range(from: number, to: number, value: string, step = 1): Entries {
  const entries: [string, string][] = []
  for (let n = from; n < to; n += step) entries.push([`k${String(n).padStart(4, '0')}`, `${value} ${n}`])
  return entries
}
