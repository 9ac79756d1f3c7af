/** Writes tables of given entries and ingests them into a store. */
import type { Ingest } from '../../src/lsm/engine/ingest.ts'
import type { FileSystem, LsmLevel } from '../../src/lsm/index.ts'
import { IngestTables } from '../../src/lsm/ingest/ingest-tables.ts'

export type Entries = readonly (readonly [key: string, value: string])[]

/** More file numbers than any test uses. */
const numbers = 64
const nothing = new Uint8Array(0)

export function ingestTables(ingest: Ingest, fileSystem: FileSystem): IngestTables {
  return new IngestTables(ingest.plan, ingest.takeNumbers(numbers), numbers, fileSystem)
}

/** Passes the first `!group!` of a key, if it has one, as the prefix. */
export function put(tables: IngestTables, [key, value]: Entries[number]): void {
  const end = key.startsWith('!') ? key.indexOf('!', 1) + 1 : 0
  tables.put(end === 0 ? nothing : Buffer.from(key.slice(0, end)), Buffer.from(key.slice(end)), Buffer.from(value))
}

/**
 * Ingests tables with the entries, flushing each list separately.
 * @returns whether they were installed; if not, they are discarded
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

/** Names of the table files in the directory. */
export function tableNames(fileSystem: FileSystem, directory = '/db'): string[] {
  return fileSystem.list(directory).filter((name) => name.endsWith('.sst'))
}

/** Entries with every `step`th key from k<from> to below k<to>. */
export function range(from: number, to: number, value: string, step = 1): Entries {
  const entries: [string, string][] = []
  for (let n = from; n < to; n += step) entries.push([`k${String(n).padStart(4, '0')}`, `${value} ${n}`])
  return entries
}
