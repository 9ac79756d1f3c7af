/**
 * The newest entries of the store, in memory: those that are in the log but not yet in a table.
 *
 * Keys and values are the bytes of the log's records in the arena; the memtable stores their positions. A hash table
 * serves gets; keys are sorted only when a cursor is created, into runs that are kept.
 *
 * Invariants:
 * 1. Sequence numbers ascend in the order of add().
 * 2. Entries are never removed or changed: a cursor stays correct while others add.
 */
import type { MemtableSnapshot } from '../compaction/job.ts'
import type { KeySpan } from '../compaction/key-span.ts'
import type { Cursor } from '../format/cursor.ts'
import { compareRanges, EntryKind, type EntryRanges, EntryRecord } from '../format/entry.ts'
import type { Found } from '../format/found.ts'
import { mergeCursors } from '../read/merging-cursor.ts'
import type { Arena } from './arena.ts'
import { EntryList, entryBytes } from './entry-list.ts'
import { hashOfKey, KeyTable } from './key-table.ts'
import { RunCursor } from './run-cursor.ts'
import { SortedRuns } from './sorted-runs.ts'
import { SuppliedPairs } from './supplied-pairs.ts'

/** Keys that sortSlice() sorts: less than a millisecond's work, or a few before the code is compiled. */
const sortedAtOnce = 1024

export class Memtable {
  /** Where to encode new entries. */
  readonly arena: Arena
  /** Pair hashes supplied with puts. */
  readonly pairs = new SuppliedPairs()
  readonly #entries: EntryList
  readonly #keys: KeyTable
  readonly #runs: SortedRuns
  #tombstones = 0
  #smallestSequence = 0
  #largestSequence = 0

  constructor(arena: Arena) {
    this.arena = arena
    this.#entries = new EntryList(arena)
    this.#keys = new KeyTable(this.#entries)
    this.#runs = new SortedRuns(this.#entries)
  }

  get isEmpty(): boolean {
    return this.#entries.length === 0
  }

  /** Number of entries, counting all versions. */
  get entryCount(): number {
    return this.#entries.length
  }

  /** Number of distinct keys. */
  get keyCount(): number {
    return this.#keys.size
  }

  get tombstones(): number {
    return this.#tombstones
  }

  /** 0 if empty. */
  get smallestSequence(): number {
    return this.#smallestSequence
  }

  get largestSequence(): number {
    return this.#largestSequence
  }

  /** Bytes of entries and lookup structures, excluding unused parts. */
  get bytes(): number {
    return this.arena.usedBytes + this.#entries.length * entryBytes
  }

  /** Bytes of memory held, including unused parts. */
  get memoryBytes(): number {
    return this.arena.memoryBytes + this.#entries.memoryBytes + this.#keys.memoryBytes + this.#runs.memoryBytes
  }

  /**
   * Adds a version.
   * @param chunk number of the arena chunk; key and value are ranges of its bytes
   * @param entry with a sequence number higher than all before
   */
  add(chunk: number, entry: EntryRanges): void {
    const { keyBytes, keyStart, keyEnd } = entry
    const hash = hashOfKey(keyBytes, keyStart, keyEnd)
    const known = this.#keys.find(keyBytes, keyStart, keyEnd, hash)
    if (known >= 0) this.#entries.addVersion(chunk, entry, known)
    else this.#keys.add(this.#entries.addKey(chunk, entry, hash), hash)
    if (entry.kind === EntryKind.tombstone) this.#tombstones++
    if (this.#entries.length === 1) this.#smallestSequence = entry.sequence
    this.#largestSequence = entry.sequence
  }

  /** Finds the newest version of the key with a sequence number ≤ maxSequence; false if there is none here. */
  get(key: Uint8Array, maxSequence: number, into: Found): boolean {
    const entries = this.#entries
    const first = this.#keys.find(key, 0, key.length, hashOfKey(key, 0, key.length))
    if (first < 0) return false
    let version = entries.newest(first)
    while (entries.sequence(version) > maxSequence) {
      if (version === first) return false
      version = entries.older(version)
    }
    entries.readVersion(version, into)
    return true
  }

  /**
   * Sorts some of the keys added since the last cursor was created; false if few are left for the next one. Callers
   * that can wait call it repeatedly until then.
   */
  sortSlice(): boolean {
    if (this.#runs.unseen <= sortedAtOnce) return false
    this.#runs.sortSlice(sortedAtOnce)
    return true
  }

  /**
   * A cursor over all entries, in order. Entries added later may or may not appear; their sequence numbers are greater
   * than the present `largestSequence`.
   */
  cursor(): Cursor {
    return mergeCursors(this.#runs.current().map((run) => new RunCursor(this.#entries, run)))
  }

  /** A copy of the current state for another thread. REQUIRES: the arena is not released meanwhile. */
  snapshot(): MemtableSnapshot {
    return { chunks: this.arena.snapshot(), entries: this.#entries.data(), pairs: this.pairs.data() }
  }

  /**
   * Visits entries at regular intervals of their order of insertion, at most `count`.
   * @param visit called with the key, valid during the call, and the bytes that this entry stands for
   */
  sample(count: number, visit: (key: Uint8Array, bytes: number) => void): void {
    const entry = new EntryRecord()
    const step = Math.max(1, Math.ceil(this.#entries.length / count))
    for (let number = 0; number < this.#entries.length; number += step) {
      this.#entries.read(number, entry)
      const { keyBytes, keyStart, keyEnd, valueStart, valueEnd } = entry
      visit(keyBytes.subarray(keyStart, keyEnd), step * (keyEnd - keyStart + valueEnd - valueStart))
    }
  }

  /** Whether any tombstone's key is within one of the spans, even if it has newer versions. */
  hasTombstonesIn(spans: readonly KeySpan[]): boolean {
    if (this.#tombstones === 0) return false
    const entry = new EntryRecord()
    const isInside = ({ smallest, largest }: KeySpan): boolean => {
      const { keyBytes, keyStart, keyEnd } = entry
      if (compareRanges(keyBytes, keyStart, keyEnd, smallest, 0, smallest.length) < 0) return false
      return compareRanges(keyBytes, keyStart, keyEnd, largest, 0, largest.length) <= 0
    }
    for (let number = 0; number < this.#entries.length; number++) {
      this.#entries.read(number, entry)
      if (entry.kind === EntryKind.tombstone && spans.some(isInside)) return true
    }
    return false
  }

  /** Recycles the memory of entries and arena. REQUIRES: nobody reads this memtable any more. */
  release(): void {
    this.#keys.release()
    this.#entries.release()
    this.arena.release()
  }

  /** Reads an entry by insertion order, 0 ≤ number < entryCount. */
  entryAt(number: number, into: EntryRecord): void {
    this.#entries.read(number, into)
  }
}
