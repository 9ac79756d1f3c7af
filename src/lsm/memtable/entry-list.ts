/**
 * The entries of a memtable in insertion order: the positions of key and value in the arena, and the links between
 * versions of a key. Forty bytes each, in one growing typed array.
 *
 * A key is identified by its first entry, the oldest version. The versions form a ring: `older` leads from the newest
 * to the oldest, and from the oldest back to the newest.
 */
import { compareRanges, EntryKind, type EntryRanges, type EntryRecord } from '../format/entry.ts'
import type { Found } from '../format/found.ts'
import type { Arena } from './arena.ts'

/** Words per entry of data(), and their meaning: the flush kernel reads them, too. */
export const entryWords = 10
const width = entryWords
const chunkWord = 0
const keyStartWord = 1
const keyEndWord = 2
const valueStartWord = 3
const valueEndWord = 4
const sequenceLowWord = 5
const sequenceHighWord = 6
const olderWord = 7
const newerWord = 8
const hashWord = 9

/** The chunk word also holds flags: whether the entry is a put, and whether it is the first of its key. */
const putFlag = 1
const firstFlag = 2
const chunkShift = 2

/** Memory cost of an entry, including its share of the hash table. */
export const entryBytes = width * 4 + 10

const twoTo32 = 2 ** 32

/** Capacity of a list that was never grown, in words. */
const firstWords = 256 * width
/**
 * Buffers that lists no longer need, kept by the thread for later ones, by how often the first capacity was doubled:
 * new ones would be much garbage, for which V8 marks the whole heap again and again.
 */
const idleWords: Int32Array[][] = []
/** No buffer that was doubled more often is kept: 5 MiB. Of each capacity, one is, or as many as these limits allow. */
const maxDoublings = 9
const maxIdle = 4
const maxIdleWords = 1 << 20
const noWords = new Int32Array(0)

export class EntryList {
  readonly #arena: Arena
  // Signed, because V8 keeps 32-bit signed integers out of the heap.
  #words: Int32Array
  #length = 0

  /** @param data of another list, over an arena with the same contents; the list takes ownership */
  constructor(arena: Arena, data?: Int32Array) {
    this.#arena = arena
    this.#words = data ?? takeWords(0)
    if (data !== undefined) this.#length = data.length / width
  }

  /** Keeps the buffer for a later list. REQUIRES: nobody reads this one any more. May be called twice. */
  release(): void {
    keepIdle(this.#words)
    this.#words = noWords
    this.#length = 0
  }

  /** A copy of the entries, for creating another list. */
  data(): Int32Array {
    return this.#words.slice(0, this.#length * width)
  }

  /** As data(), without copying: valid until an entry is added or the list is released. */
  view(): Int32Array {
    return this.#words.subarray(0, this.#length * width)
  }

  get length(): number {
    return this.#length
  }

  /** Bytes of the entries, excluding the arena. */
  get memoryBytes(): number {
    return this.#words.byteLength
  }

  /**
   * Appends the first version of a key; returns its number, which identifies the key from now on.
   * @param chunk of the arena in which the entry's ranges lie
   */
  addKey(chunk: number, entry: EntryRanges, hash: number): number {
    const key = this.#add(chunk, entry)
    const at = key * width
    this.#words[at]! |= firstFlag
    this.#words[at + olderWord] = key
    this.#words[at + newerWord] = key
    this.#words[at + hashWord] = hash
    return key
  }

  /** Appends a newer version of a key. @param chunk as in addKey() */
  addVersion(chunk: number, entry: EntryRanges, key: number): void {
    const version = this.#add(chunk, entry)
    const words = this.#words
    const newest = words[key * width + olderWord]!
    words[version * width + olderWord] = newest
    words[version * width + newerWord] = key
    words[newest * width + newerWord] = version
    words[key * width + olderWord] = version
  }

  isFirst(entry: number): boolean {
    return (this.#words[entry * width]! & firstFlag) !== 0
  }

  /** The newest version of a key. */
  newest(key: number): number {
    return this.#words[key * width + olderWord]!
  }

  /** The next older version. REQUIRES: not the oldest, which is the key itself. */
  older(entry: number): number {
    return this.#words[entry * width + olderWord]!
  }

  /** The next newer version. REQUIRES: not the newest. */
  newer(entry: number): number {
    return this.#words[entry * width + newerWord]!
  }

  /** The hash that a key was added with. */
  hash(key: number): number {
    return this.#words[key * width + hashWord]!
  }

  sequence(entry: number): number {
    const at = entry * width
    return this.#words[at + sequenceHighWord]! * twoTo32 + (this.#words[at + sequenceLowWord]! >>> 0)
  }

  keyEquals(entry: number, bytes: Uint8Array, start: number, end: number): boolean {
    return this.compareKeyWith(entry, bytes, start, end) === 0
  }

  /** Order of an entry's key and bytes[start, end). */
  compareKeyWith(entry: number, bytes: Uint8Array, start: number, end: number): number {
    const at = entry * width
    const own = this.#arena.chunk(this.#words[at]! >>> chunkShift)
    return compareRanges(own, this.#words[at + keyStartWord]!, this.#words[at + keyEndWord]!, bytes, start, end)
  }

  /** Order of the keys of two entries, whose first `shared` bytes are equal. */
  compareKeys(a: number, b: number, shared = 0): number {
    const words = this.#words
    const aAt = a * width
    const bAt = b * width
    const aBytes = this.#arena.chunk(words[aAt]! >>> chunkShift)
    const bBytes = this.#arena.chunk(words[bAt]! >>> chunkShift)
    const aStart = words[aAt + keyStartWord]! + shared
    const bStart = words[bAt + keyStartWord]! + shared
    return compareRanges(aBytes, aStart, words[aAt + keyEndWord]!, bBytes, bStart, words[bAt + keyEndWord]!)
  }

  keyLength(entry: number): number {
    return this.#words[entry * width + keyEndWord]! - this.#words[entry * width + keyStartWord]!
  }

  /** The byte of a key at `offset`, plus 1; 0 past its end. */
  byteAt(entry: number, offset: number): number {
    const at = entry * width
    const from = this.#words[at + keyStartWord]! + offset
    return from < this.#words[at + keyEndWord]! ? this.#arena.chunk(this.#words[at]! >>> chunkShift)[from]! + 1 : 0
  }

  /** Sets marks[b] for the bytes b of a key in [offset, offset + length). */
  markBytes(entry: number, offset: number, length: number, marks: Uint16Array): void {
    const at = entry * width
    const bytes = this.#arena.chunk(this.#words[at]! >>> chunkShift)
    const from = this.#words[at + keyStartWord]! + offset
    const end = Math.min(from + length, this.#words[at + keyEndWord]!)
    for (let i = from; i < end; i++) marks[bytes[i]!] = 1
  }

  /** The bytes of a key in [offset, offset + length) as a number; past the key's end, digits are zero. */
  keyNumber(entry: number, offset: number, length: number, digits: Uint16Array, base: number): number {
    const at = entry * width
    const bytes = this.#arena.chunk(this.#words[at]! >>> chunkShift)
    const from = this.#words[at + keyStartWord]! + offset
    const end = this.#words[at + keyEndWord]!
    let number = 0
    for (let i = from; i < from + length; i++) number = number * base + (i < end ? digits[bytes[i]!]! : 0)
    return number
  }

  /** Length of the common prefix of two keys, up to `limit`; the bytes before `from` are known to be equal. */
  commonPrefix(a: number, b: number, from: number, limit: number): number {
    const words = this.#words
    const aBytes = this.#arena.chunk(words[a * width]! >>> chunkShift)
    const bBytes = this.#arena.chunk(words[b * width]! >>> chunkShift)
    const aStart = words[a * width + keyStartWord]!
    const bStart = words[b * width + keyStartWord]!
    const shared = Math.min(limit, words[a * width + keyEndWord]! - aStart, words[b * width + keyEndWord]! - bStart)
    let length = from
    while (length < shared && aBytes[aStart + length] === bBytes[bStart + length]) length++
    return length
  }

  /** Reads an entry into `into`. */
  read(entry: number, into: EntryRecord): void {
    const words = this.#words
    const at = entry * width
    const bytes = this.#arena.chunk(words[at]! >>> chunkShift)
    into.keyBytes = bytes
    into.keyStart = words[at + keyStartWord]!
    into.keyEnd = words[at + keyEndWord]!
    into.valueBytes = bytes
    into.valueStart = words[at + valueStartWord]!
    into.valueEnd = words[at + valueEndWord]!
    into.sequence = words[at + sequenceHighWord]! * twoTo32 + (words[at + sequenceLowWord]! >>> 0)
    into.kind = (words[at]! & putFlag) === 0 ? EntryKind.tombstone : EntryKind.put
  }

  /** Reads a version into `into`, without the key. */
  readVersion(entry: number, into: Found): void {
    const words = this.#words
    const at = entry * width
    into.valueBytes = this.#arena.chunk(words[at]! >>> chunkShift)
    into.valueStart = words[at + valueStartWord]!
    into.valueEnd = words[at + valueEndWord]!
    into.sequence = words[at + sequenceHighWord]! * twoTo32 + (words[at + sequenceLowWord]! >>> 0)
    into.kind = (words[at]! & putFlag) === 0 ? EntryKind.tombstone : EntryKind.put
  }

  #add(chunk: number, { keyStart, keyEnd, valueStart, valueEnd, sequence, kind }: EntryRanges): number {
    const entry = this.#length++
    const at = entry * width
    if (at + width > this.#words.length) this.#grow()
    const words = this.#words
    words[at + chunkWord] = (chunk << chunkShift) | (kind === EntryKind.put ? putFlag : 0)
    words[at + keyStartWord] = keyStart
    words[at + keyEndWord] = keyEnd
    words[at + valueStartWord] = valueStart
    words[at + valueEndWord] = valueEnd
    words[at + sequenceLowWord] = sequence | 0
    words[at + sequenceHighWord] = Math.floor(sequence / twoTo32)
    return entry
  }

  #grow(): void {
    const words = this.#words
    // The words given to the constructor may have any length.
    this.#words = takeWords(Math.floor(Math.log2(Math.max(1, words.length / firstWords))) + 1)
    this.#words.set(words)
    keepIdle(words)
  }
}

function takeWords(doublings: number): Int32Array {
  return idleWords[doublings]?.pop() ?? new Int32Array(firstWords * 2 ** doublings)
}

function keepIdle(words: Int32Array): void {
  const doublings = Math.log2(words.length / firstWords)
  if (!Number.isInteger(doublings) || doublings < 0 || doublings > maxDoublings) return
  idleWords[doublings] ??= []
  const { length } = idleWords[doublings]
  if (length === 0 || (length < maxIdle && (length + 1) * words.length <= maxIdleWords))
    idleWords[doublings].push(words)
}
