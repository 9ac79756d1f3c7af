/** Point lookups: search the places newest first and stop at the first that has the key. */
import { compareKeys, EntryKind } from '../format/entry.ts'
import { Found } from '../format/found.ts'
import { keyHash } from '../format/key-filter.ts'
import type { Table } from '../format/table.ts'
import { textOf } from '../format/text.ts'
import type { TableCache } from '../version/table-cache.ts'
import type { TableMeta } from '../version/table-meta.ts'
import type { Version } from '../version/version.ts'
import type { WriteBuffer } from './write-buffer.ts'

/** The places that hold entries, captured at one moment. */
export interface Places {
  /** Memtables, newest first. */
  readonly buffers: readonly WriteBuffer[]
  readonly version: Version
  readonly tables: TableCache
}

/** For reads that finish without yielding. */
const scratch = new Found()

/**
 * Finds the newest version of the key with a sequence number ≤ maxSequence; it may be a tombstone.
 * @returns false if there is none
 * @throws LEVEL_CORRUPTION, LEVEL_IO_ERROR
 */
export function findVersion(
  places: Places,
  key: Uint8Array,
  maxSequence: number,
  into: Found,
  fillCache = true
): boolean {
  for (const buffer of places.buffers) {
    if (buffer.memtable.get(key, maxSequence, into)) return true
  }
  const hash = keyHash(key, 0, key.length)
  const { version, tables } = places
  for (const meta of version.level0TablesFor(key)) {
    if (compareKeys(meta.smallest, key) > 0 || compareKeys(meta.largest, key) < 0) continue
    if (tables.table(meta).get(key, hash, maxSequence, into, fillCache)) return true
  }
  for (let level = 1; level < version.levels.length; level++) {
    const meta = version.tableFor(level, key)
    if (meta !== undefined && tables.table(meta).get(key, hash, maxSequence, into, fillCache)) return true
  }
  return false
}

/**
 * Returns a predicate, valid until the next event-loop turn, that tells whether a key has no version with a sequence
 * number > `sequence`. It reads nothing that is older.
 * @throws as findVersion()
 */
export function isUnchangedSince(present: Places & { readonly sequence: number }, sequence: number) {
  const { buffers, version, tables } = present
  const isNewer = ({ largestSequence }: { readonly largestSequence: number }): boolean => largestSequence > sequence
  const memtables = buffers.map(({ memtable }) => memtable).filter(isNewer)
  const level0 = version.tables(0).filter(isNewer)
  // There may be thousands of tables: those of deeper levels are searched.
  const levels = [...version.levels.keys()].filter((level) => level > 0 && version.tables(level).some(isNewer))
  const newerTables = (key: Uint8Array): readonly TableMeta[] => [
    ...level0.filter(({ smallest, largest }) => compareKeys(smallest, key) <= 0 && compareKeys(largest, key) >= 0),
    ...levels.flatMap((level) => version.tableFor(level, key) ?? []).filter(isNewer)
  ]
  const isInTable = (meta: TableMeta, key: Uint8Array): boolean =>
    tables.table(meta).get(key, keyHash(key, 0, key.length), present.sequence, scratch, false) &&
    scratch.sequence > sequence
  return (key: Uint8Array): boolean =>
    !memtables.some((memtable) => memtable.get(key, present.sequence, scratch) && scratch.sequence > sequence) &&
    !newerTables(key).some((meta) => isInTable(meta, key))
}

/** A copy of the value; undefined if there is none. @throws LEVEL_CORRUPTION, LEVEL_IO_ERROR */
export function readValue(places: Places, key: Uint8Array, sequence: number, fillCache = true): Buffer | undefined {
  if (!findVersion(places, key, sequence, scratch, fillCache) || scratch.kind !== EntryKind.put) return undefined
  const { valueBytes, valueStart, valueEnd } = scratch
  // Neither cached blocks nor the arena may be exposed.
  const value = Buffer.allocUnsafe(valueEnd - valueStart)
  value.set(valueBytes.subarray(valueStart, valueEnd))
  return value
}

/** The value decoded from UTF-8; undefined if there is none. @throws LEVEL_CORRUPTION, LEVEL_IO_ERROR */
export function readText(places: Places, key: Uint8Array, sequence: number): string | undefined {
  if (!findVersion(places, key, sequence, scratch) || scratch.kind !== EntryKind.put) return undefined
  return textOf(scratch.valueBytes, scratch.valueStart, scratch.valueEnd)
}

/** Whether there is a value. @throws LEVEL_CORRUPTION, LEVEL_IO_ERROR */
export function hasValue(places: Places, key: Uint8Array, sequence: number, fillCache = true): boolean {
  return findVersion(places, key, sequence, scratch, fillCache) && scratch.kind === EntryKind.put
}

/**
 * Reads a value into the start of `target`, bypassing the block cache; a large one without an intermediate copy.
 * @returns the value's length in bytes, or undefined if there is none; a value longer than `target` is not copied
 * @throws LEVEL_CORRUPTION, LEVEL_IO_ERROR
 */
export function readInto(places: Places, key: Uint8Array, sequence: number, target: Uint8Array): number | undefined {
  for (const buffer of places.buffers) {
    if (!buffer.memtable.get(key, sequence, scratch)) continue
    if (scratch.kind !== EntryKind.put) return undefined
    const bytes = scratch.valueEnd - scratch.valueStart
    if (bytes <= target.length) target.set(scratch.valueBytes.subarray(scratch.valueStart, scratch.valueEnd))
    return bytes
  }
  const hash = keyHash(key, 0, key.length)
  for (const table of tablesWith(places, key)) {
    const bytes = table.valueInto(key, hash, sequence, target, 0)
    if (bytes !== undefined) return bytes < 0 ? undefined : bytes
  }
  return undefined
}

/** Tables whose range contains the key, newest first; use each before requesting the next. */
function* tablesWith({ version, tables }: Places, key: Uint8Array): Generator<Table, void> {
  for (const meta of version.overlapping(0, key, key)) yield tables.table(meta)
  for (let level = 1; level < version.levels.length; level++) {
    const meta = version.tableFor(level, key)
    if (meta !== undefined) yield tables.table(meta)
  }
}
