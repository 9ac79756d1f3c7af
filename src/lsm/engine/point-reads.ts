/** Finding one key: newest places first, and no further than the first place that knows it. */
import { compareKeys, EntryKind } from '../format/entry.ts'
import { Found } from '../format/found.ts'
import { keyHash } from '../format/key-filter.ts'
import type { Table } from '../format/table.ts'
import { textOf } from '../format/text.ts'
import type { TableCache } from '../version/table-cache.ts'
import type { Version } from '../version/version.ts'
import type { WriteBuffer } from './write-buffer.ts'

/** Where entries are, captured at one moment. */
export interface Places {
  /** Memtables, newest first. */
  readonly buffers: readonly WriteBuffer[]
  readonly version: Version
  readonly tables: TableCache
}

/** For reads that end before anybody else has a turn. */
const scratch = new Found()

/**
 * Finds the newest version of the key with a sequence number ≤ maxSequence; it may be a tombstone.
 * @returns false when there is none
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
  for (const meta of version.youngTablesFor(key)) {
    if (compareKeys(meta.smallest, key) > 0 || compareKeys(meta.largest, key) < 0) continue
    if (tables.table(meta).get(key, hash, maxSequence, into, fillCache)) return true
  }
  for (let level = 1; level < version.levels.length; level++) {
    const meta = version.tableFor(level, key)
    if (meta !== undefined && tables.table(meta).get(key, hash, maxSequence, into, fillCache)) return true
  }
  return false
}

/** Says of a key, until another turn, whether its newest version was there at a sequence number. @throws as findVersion() */
export function isUnchangedSince(present: Places & { readonly sequence: number }, sequence: number) {
  return (key: Uint8Array): boolean =>
    findVersion(present, key, present.sequence, scratch, false) && scratch.sequence <= sequence
}

/** The value in bytes of its own; undefined when there is none. @throws LEVEL_CORRUPTION, LEVEL_IO_ERROR */
export function readValue(places: Places, key: Uint8Array, sequence: number, fillCache = true): Buffer | undefined {
  if (!findVersion(places, key, sequence, scratch, fillCache) || scratch.kind !== EntryKind.put) return undefined
  const { valueBytes, valueStart, valueEnd } = scratch
  // Neither a block of the cache nor the arena may be handed out.
  const value = Buffer.allocUnsafe(valueEnd - valueStart)
  value.set(valueBytes.subarray(valueStart, valueEnd))
  return value
}

/** The value as a string of UTF-8; undefined when there is none. @throws LEVEL_CORRUPTION, LEVEL_IO_ERROR */
export function readText(places: Places, key: Uint8Array, sequence: number): string | undefined {
  if (!findVersion(places, key, sequence, scratch) || scratch.kind !== EntryKind.put) return undefined
  return textOf(scratch.valueBytes, scratch.valueStart, scratch.valueEnd)
}

/** Whether there is a value. @throws LEVEL_CORRUPTION, LEVEL_IO_ERROR */
export function hasValue(places: Places, key: Uint8Array, sequence: number, fillCache = true): boolean {
  return findVersion(places, key, sequence, scratch, fillCache) && scratch.kind === EntryKind.put
}

/**
 * Brings a value to the beginning of `target`, past the block cache; a large one without a copy in between.
 * @returns bytes of the value, undefined when there is none; when there is no room for so many, they are not written
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

/** Tables whose range holds the key, newest first; each is to be used before the next is asked for. */
function* tablesWith({ version, tables }: Places, key: Uint8Array): Generator<Table, void> {
  for (const meta of version.overlapping(0, key, key)) yield tables.table(meta)
  for (let level = 1; level < version.levels.length; level++) {
    const meta = version.tableFor(level, key)
    if (meta !== undefined) yield tables.table(meta)
  }
}
