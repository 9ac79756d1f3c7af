/**
 * Checks that newer versions are in front of older ones. Reads stop at the first place that has a key: memtables,
 * level 0 newest first, the levels below. So all versions of a key in one place have to be newer than all versions in
 * the places after it.
 *
 * Two tables with overlapping keys but disjoint, correctly ordered sequence numbers need not be read. The other tables
 * are merged, and the versions of each key compared from place to place.
 */
import { join } from 'node:path'
import { BlockCache } from '../cache/block-cache.ts'
import { overlaps } from '../compaction/key-span.ts'
import { level0Runs } from '../compaction/level0-runs.ts'
import type { Cursor } from '../format/cursor.ts'
import { compareRanges } from '../format/entry.ts'
import { Table } from '../format/table.ts'
import { tableName } from '../fs/file-names.ts'
import type { FileSystem } from '../fs/file-system.ts'
import type { Memtable } from '../memtable/memtable.ts'
import { LevelCursor } from '../read/level-cursor.ts'
import type { TableMeta } from '../version/table-meta.ts'
import type { Version } from '../version/version.ts'
import type { ProblemList } from './problems.ts'

/** The places that reads search, newest first. */
export interface ReadPlaces {
  readonly version: Version
  readonly buffers: readonly { readonly memtable: Memtable }[]
}

/** Entries per slice between yields. */
const entriesPerSlice = 512

/**
 * @param damaged numbers of tables that cannot be read completely: they are left out. Yields where the caller may
 * pause.
 */
export function* checkShadowing(
  places: ReadPlaces,
  damaged: ReadonlySet<number>,
  fileSystem: FileSystem,
  directory: string,
  problems: ProblemList
): Generator<void, void> {
  const suspects = findSuspects(places)
  const isSuspect = (table: TableMeta) => suspects.tables.has(table) && !damaged.has(table.number)
  const { version, buffers } = places
  const runs = [...level0Runs(version.tables(0)), ...version.levels.slice(1)]
    .map((run) => run.filter(isSuspect))
    .filter((run) => run.length > 0)
  const memtables = suspects.hasMemtables ? buffers.filter(({ memtable }) => !memtable.isEmpty) : []
  const sources = [
    ...memtables.map(({ memtable }) => new Source(memtable.cursor(), () => 'a memtable')),
    ...runs.map((run) => tableSource(run, fileSystem, directory))
  ]
  try {
    yield* compare(sources, directory, problems)
  } catch (error) {
    problems.addError('block', directory, error)
  } finally {
    for (const source of sources) source.close()
  }
}

/** A place, and its name for the cursor's current position. */
class Source {
  readonly cursor: Cursor
  readonly name: () => string
  readonly #onClose: () => void

  constructor(cursor: Cursor, name: () => string, onClose: () => void = () => undefined) {
    this.cursor = cursor
    this.name = name
    this.#onClose = onClose
  }

  close(): void {
    this.cursor.close()
    this.#onClose()
  }
}

function tableSource(run: readonly TableMeta[], fileSystem: FileSystem, directory: string): Source {
  let open: Table | undefined
  let path = directory
  const cursor = new LevelCursor(run, (meta) => {
    open?.close()
    path = join(directory, tableName(meta.number))
    open = Table.open(fileSystem.open(path, 'read'), meta, new BlockCache(0))
    return open.cursor({ fillCache: 'none', readahead: true })
  })
  return new Source(
    cursor,
    () => path,
    () => open?.close()
  )
}

function* compare(sources: readonly Source[], directory: string, problems: ProblemList): Generator<void, void> {
  for (const { cursor } of sources) cursor.seekToFirst()
  let entries = 0
  for (let least = leastOf(sources); least !== undefined; least = leastOf(sources)) {
    const { keyBytes, keyStart, keyEnd } = least.cursor
    let above: Source | undefined
    let oldest = Number.POSITIVE_INFINITY
    for (const source of sources) {
      const { cursor } = source
      let isFirst = true
      while (cursor.isValid && isSameKey(cursor, keyBytes, keyStart, keyEnd)) {
        if (isFirst && cursor.sequence >= oldest) {
          const what = `hides sequence ${cursor.sequence} of the same key in ${source.name()}`
          problems.add('levels', above?.name() ?? directory, `a version with sequence ${oldest} ${what}`)
        }
        isFirst = false
        oldest = Math.min(oldest, cursor.sequence)
        above = source
        cursor.next()
        if (++entries % entriesPerSlice === 0) yield
      }
    }
  }
}

/** The first of the sources with the smallest key; undefined when all are exhausted. */
function leastOf(sources: readonly Source[]): Source | undefined {
  let least: Source | undefined
  for (const source of sources) {
    if (!source.cursor.isValid) continue
    if (least === undefined || compareCursors(source.cursor, least.cursor) < 0) least = source
  }
  return least
}

function compareCursors(a: Cursor, b: Cursor): number {
  return compareRanges(a.keyBytes, a.keyStart, a.keyEnd, b.keyBytes, b.keyStart, b.keyEnd)
}

function isSameKey(cursor: Cursor, bytes: Uint8Array, start: number, end: number): boolean {
  return compareRanges(cursor.keyBytes, cursor.keyStart, cursor.keyEnd, bytes, start, end) === 0
}

interface Suspects {
  readonly tables: ReadonlySet<TableMeta>
  readonly hasMemtables: boolean
}

/** Places whose order cannot be told from sequence numbers alone. */
function findSuspects({ version, buffers }: ReadPlaces): Suspects {
  const tables = new Set<TableMeta>()
  let newest = 0
  for (const [level, list] of version.levels.entries()) {
    for (const [at, newer] of list.entries()) {
      newest = Math.max(newest, newer.largestSequence)
      for (const older of searchedAfter(version, level, at, newer)) {
        if (newer.smallestSequence > older.largestSequence) continue
        tables.add(newer)
        tables.add(older)
      }
    }
  }
  const filled = buffers.map(({ memtable }) => memtable).filter((memtable) => !memtable.isEmpty)
  const isInOrder = filled.every(
    (memtable, i) => memtable.smallestSequence > Math.max(newest, filled[i + 1]?.largestSequence ?? 0)
  )
  if (!isInOrder) for (const table of version.allTables()) tables.add(table)
  return { tables, hasMemtables: !isInOrder }
}

/** Tables that are searched after this one for keys in its range. */
function* searchedAfter(version: Version, level: number, at: number, table: TableMeta): Generator<TableMeta, void> {
  if (level === 0) {
    for (const other of version.tables(0).slice(at + 1)) if (overlaps(other, table)) yield other
  }
  for (let below = level + 1; below < version.levels.length; below++) {
    yield* version.overlapping(below, table.smallest, table.largest)
  }
}
