/**
 * The newest entries of the store, in memory: what is in the log and not yet in a table.
 *
 * Keys and values are the bytes of the log's records in the arena; the memtable holds where they are. A hash table
 * answers gets; order is made when a cursor asks for it, in sorted runs.
 *
 * Invariants:
 * 1. Sequence numbers ascend in the order of add().
 * 2. Entries are never removed or changed: a cursor stays right while others add.
 */
import type { MemtableSnapshot } from '../compaction/job.ts'
import type { KeySpan } from '../compaction/key-span.ts'
import type { Cursor } from '../format/cursor.ts'
import { compareRanges, EntryKind, type EntryRanges, EntryRecord } from '../format/entry.ts'
import type { Found } from '../format/found.ts'
import { mergeCursors } from '../read/merging-cursor.ts'
import type { Arena } from './arena.ts'
import { EntryList, entryBytes } from './entry-list.ts'
import { HandedPairs } from './handed-pairs.ts'
import { hashOfKey, KeyTable } from './key-table.ts'
import { RunCursor } from './run-cursor.ts'
import { SortedRuns } from './sorted-runs.ts'

/** What sortSome() sorts: less than a millisecond's work, and a few where the code is not compiled yet. */
const sortedAtOnce = 1024

export class Memtable {
  /** Where to encode what is added. */
  readonly arena: Arena
  /** Hashes that came along with entries. */
  readonly pairs = new HandedPairs()
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

  /** Entries, all versions counted. */
  get entryCount(): number {
    return this.#entries.length
  }

  /** Different keys. */
  get keyCount(): number {
    return this.#keys.size
  }

  get tombstones(): number {
    return this.#tombstones
  }

  /** Of the entries there are; 0 when empty. */
  get smallestSequence(): number {
    return this.#smallestSequence
  }

  get largestSequence(): number {
    return this.#largestSequence
  }

  /** Bytes of keys, values and what finds them: what writeBufferSize limits. */
  get bytes(): number {
    return this.arena.usedBytes + this.#entries.length * entryBytes
  }

  /** Bytes of memory held, unused parts included. */
  get memoryBytes(): number {
    return this.arena.memoryBytes + this.#entries.memoryBytes + this.#keys.memoryBytes + this.#runs.memoryBytes
  }

  /**
   * Adds a version.
   * @param chunk number of the arena's chunk; key and value are ranges of its bytes
   * @param entry with a sequence number higher than every one before
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

  /** The newest version of the key with a sequence number ≤ maxSequence; false when there is none here. */
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
   * Sorts some of the keys that were added since the last cursor was made; false when the next one has few left to sort.
   * Whoever may wait calls it until then, a slice at a time.
   */
  sortSome(): boolean {
    if (this.#runs.unseen <= sortedAtOnce) return false
    this.#runs.sortSome(sortedAtOnce)
    return true
  }

  /**
   * All entries there are, in order. Entries added later may or may not appear; their sequence numbers are above
   * `largestSequence` as it is now.
   */
  cursor(): Cursor {
    return mergeCursors(this.#runs.current().map((run) => new RunCursor(this.#entries, run)))
  }

  /** All there is, for another thread; what is added later is not in it. REQUIRES: the arena is not released meanwhile. */
  snapshot(): MemtableSnapshot {
    return { chunks: this.arena.snapshot(), entries: this.#entries.data(), pairs: this.pairs.data() }
  }

  /** Whether some key, deleted or not, is within [smallest, largest]. */
  hasKeysIn(smallest: Uint8Array, largest: Uint8Array): boolean {
    const cursor = this.cursor()
    cursor.seek(smallest)
    return (
      cursor.isValid && compareRanges(cursor.keyBytes, cursor.keyStart, cursor.keyEnd, largest, 0, largest.length) <= 0
    )
  }

  /** Whether some tombstone's key is within one of the spans, be there newer versions of it or not. */
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

  /** Gives the memory of entries and arena to memtables to come. Nobody reads this one any more. */
  release(): void {
    this.#keys.release()
    this.#entries.release()
    this.arena.release()
  }

  /** Reads out an entry by the order of adding, 0 ≤ number < entryCount. */
  entryAt(number: number, into: EntryRecord): void {
    this.#entries.read(number, into)
  }
}
