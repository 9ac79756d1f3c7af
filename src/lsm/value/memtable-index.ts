/**
 * The value index of a memtable: maps pairs, and zone field values, to entries.
 *
 * Built on first use and updated incrementally: writes pay nothing for it.
 *
 * Invariants:
 * 1. Chains lead from newer entries to older ones.
 * 2. An entry on which the extractor fails is a candidate for every query.
 */
import { EntryKind, EntryRecord } from '../format/entry.ts'
import type { Memtable } from '../memtable/memtable.ts'
import type { Extractor, PairSink, ZoneValue } from './extractor.ts'
import { isInRange, type ZoneRange } from './zone-maps.ts'

/** Words of a posting: the hash halves, the entry, and the next posting of the same bucket or −1. */
const width = 4
const entryWord = 2
const nextWord = 3

/** Entries indexed between two checks of the clock. */
const stride = 32

export class MemtableIndex implements PairSink {
  readonly #memtable: Memtable
  readonly #extractor: Extractor
  /** Number of memtable entries indexed so far. */
  #indexed = 0
  #postings = new Int32Array(1024 * width)
  #count = 0
  /** First posting of each bucket, or −1; the length is a power of two. */
  #buckets = new Int32Array(1024).fill(-1)
  readonly #zones: { readonly entries: number[]; readonly values: ZoneValue[] }[]
  readonly #unknown: number[] = []
  readonly #entry = new EntryRecord()

  constructor(memtable: Memtable, extractor: Extractor) {
    this.#memtable = memtable
    this.#extractor = extractor
    this.#zones = extractor.zoneFields.map(() => ({ entries: [], values: [] }))
  }

  get memoryBytes(): number {
    return this.#postings.byteLength + this.#buckets.byteLength
  }

  /**
   * Indexes new entries, at least a few; returns false if it reached the deadline (on performance.now()'s clock) with
   * more to do.
   */
  update(deadline: number): boolean {
    const entry = this.#entry
    while (this.#indexed < this.#memtable.entryCount) {
      const number = this.#indexed
      this.#memtable.entryAt(number, entry)
      if (entry.kind === EntryKind.put) this.#extract(entry, number)
      this.#indexed++
      if (this.#indexed % stride === 0 && performance.now() > deadline) break
    }
    return this.#indexed === this.#memtable.entryCount
  }

  /** Entries that may have the pair, newest first. REQUIRES: update() has returned true. */
  entriesWith(lo: number, hi: number): number[] {
    const found: number[] = []
    const postings = this.#postings
    let at = this.#buckets[this.#bucketOf(lo, hi)]!
    for (; at >= 0; at = postings[at + nextWord]!) {
      if (postings[at] !== lo || postings[at + 1] !== hi) continue
      const entry = postings[at + entryWord]!
      // An entry may have a pair twice.
      if (found.at(-1) !== entry) found.push(entry)
    }
    return this.#withUnknown(found)
  }

  /**
   * Entries that may have all of the pairs, newest first; all entries if there are no pairs. REQUIRES: as
   * entriesWith().
   * @param hashes lower and upper halves of the pairs' hashes, alternating
   */
  entriesWithAll(hashes: Int32Array): number[] {
    let common: number[] | undefined
    for (let i = 0; i < hashes.length; i += 2) {
      const found = this.entriesWith(hashes[i]!, hashes[i + 1]!)
      const known: ReadonlySet<number> | undefined = common && new Set(common)
      common = known === undefined ? found : found.filter((entry) => known.has(entry))
    }
    return common ?? Array.from({ length: this.#indexed }, (_, i) => this.#indexed - 1 - i)
  }

  /** Entries that may have a value of the zone field in the range, newest first. REQUIRES: as entriesWith(). */
  entriesInRange(field: number, range: ZoneRange): number[] {
    const found: number[] = []
    const { entries, values } = this.#zones[field] ?? { entries: [], values: [] }
    for (let i = entries.length - 1; i >= 0; i--) {
      if (found.at(-1) !== entries[i] && isInRange(values[i]!, range)) found.push(entries[i]!)
    }
    return this.#withUnknown(found)
  }

  pair(lo: number, hi: number): void {
    if ((this.#count + 1) * width > this.#postings.length) this.#grow()
    this.#postings[this.#count * width] = lo
    this.#postings[this.#count * width + 1] = hi
    this.#postings[this.#count * width + entryWord] = this.#indexed
    this.#link(this.#count * width)
    this.#count++
  }

  zone(field: number, value: ZoneValue): void {
    this.#zones[field]?.entries.push(this.#indexed)
    this.#zones[field]?.values.push(value)
  }

  #extract(entry: EntryRecord, number: number): void {
    const pairs = this.#memtable.pairs.get(entry.sequence)
    if (pairs !== undefined) {
      for (let i = 0; i < pairs.length; i += 2) this.pair(pairs[i]!, pairs[i + 1]!)
      return
    }
    try {
      this.#extractor.extract(
        entry.keyBytes,
        entry.keyStart,
        entry.keyEnd,
        entry.valueBytes,
        entry.valueStart,
        entry.valueEnd,
        this
      )
    } catch {
      // The user's module failed: invariant 2.
      this.#unknown.push(number)
    }
  }

  #link(at: number): void {
    const bucket = this.#bucketOf(this.#postings[at]!, this.#postings[at + 1]!)
    this.#postings[at + nextWord] = this.#buckets[bucket]!
    this.#buckets[bucket] = at
  }

  /** Doubles the capacity; relinking the postings in insertion order preserves invariant 1. */
  #grow(): void {
    const larger = new Int32Array(this.#postings.length * 2)
    larger.set(this.#postings)
    this.#postings = larger
    this.#buckets = new Int32Array(this.#buckets.length * 2).fill(-1)
    for (let i = 0; i < this.#count; i++) this.#link(i * width)
  }

  #bucketOf(lo: number, hi: number): number {
    return (lo ^ Math.imul(hi, 0x9e3779b1)) & (this.#buckets.length - 1)
  }

  #withUnknown(found: number[]): number[] {
    if (this.#unknown.length === 0) return found
    return [...new Set([...found, ...this.#unknown])].sort((a, b) => b - a)
  }
}
