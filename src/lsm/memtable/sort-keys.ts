/**
 * Sorts keys of a memtable.
 *
 * Comparing keys pairwise costs a walk through two keys each time. Instead: skip the common prefix of a group of keys,
 * map the next bytes of each to a number with the same order, pack it with the key's position into 64 bits, and let
 * the engine sort those natively. Keys with equal numbers form the groups of the next round.
 *
 * The number's base depends on the bytes that occur: it holds twelve decimal digits, or five arbitrary bytes. Digit
 * zero means that the key has ended.
 *
 * Keys that are already in order are left as they are, and a few interleaved series, each in order by itself, are
 * merely separated: documents and ids of a collection differ in one byte after their common prefix.
 */
import type { EntryList } from './entry-list.ts'

/** Bits for a key's position within its group; the rest are for the number. */
const positionBits = 21
const numberBits = 64 - positionBits
const lowNumbers = 2 ** (32 - positionBits)

/** Maximum number of keys that can be sorted at once. */
export const maxSortedKeys = 2 ** positionBits

/** Maximum number of bytes that a number is made of. */
const maxNumberBytes = 12

/**
 * Keys are separated by a byte that takes at most `maxSeries` values, at most `maxSplits` times: beyond that, numbers
 * are faster.
 */
const maxSeries = 8
const maxSplits = 3
/** Number of results of EntryList.byteAt(). */
const byteValues = 257

/** Groups up to this size are sorted by insertion. */
const smallGroup = 16

const isLittleEndian = new Uint8Array(Uint32Array.of(1).buffer)[0] === 1
const lowWord = isLittleEndian ? 0 : 1
const highWord = 1 - lowWord

/** Sorts keys (first entries) ascending, in place. REQUIRES: at most maxSortedKeys, no two equal. */
export function sortKeys(keys: Uint32Array, entries: EntryList): void {
  sortSeries(keys, 0, keys.length, 0, 0, entries)
}

/** Sorts keys[from, to), whose first `offset` bytes are equal and which were separated `splits` times. */
function sortSeries(
  keys: Uint32Array,
  from: number,
  to: number,
  offset: number,
  splits: number,
  entries: EntryList
): void {
  if (isSorted(keys, from, to, offset, entries)) return
  if (to - from <= smallGroup || splits === maxSplits) {
    sortGroup(keys, from, to, offset, entries)
    return
  }
  const unsorted = keys.slice(from, to)
  const start = sharedBytes(unsorted, offset, entries)
  const ends = new Uint32Array(byteValues + 1)
  let series = 0
  for (const key of unsorted) if (ends[entries.byteAt(key, start) + 1]!++ === 0) series++
  if (series > maxSeries) {
    sortGroup(keys, from, to, start, entries)
    return
  }
  // From here on, ends[b] is the position of the next key of series b, and in the end that of its end.
  ends[0] = from
  for (let byte = 1; byte < byteValues; byte++) ends[byte]! += ends[byte - 1]!
  const starts = ends.slice()
  for (const key of unsorted) keys[ends[entries.byteAt(key, start)]!++] = key
  for (let byte = 0; byte < byteValues; byte++) {
    if (ends[byte]! - starts[byte]! > 1) sortSeries(keys, starts[byte]!, ends[byte]!, start, splits + 1, entries)
  }
}

function isSorted(keys: Uint32Array, from: number, to: number, offset: number, entries: EntryList): boolean {
  for (let i = from + 1; i < to; i++) {
    if (entries.compareKeys(keys[i - 1]!, keys[i]!, offset) > 0) return false
  }
  return true
}

/** Sorts keys[from, to), whose first `offset` bytes are equal. */
function sortGroup(keys: Uint32Array, from: number, to: number, offset: number, entries: EntryList): void {
  if (to - from <= smallGroup) {
    insertionSort(keys, from, to, entries)
    return
  }
  const unsorted = keys.slice(from, to)
  const start = sharedBytes(unsorted, offset, entries)
  const digits = new Uint16Array(256)
  for (const key of unsorted) entries.markBytes(key, start, maxNumberBytes, digits)
  const base = numberDigits(digits)
  const length = Math.min(maxNumberBytes, Math.floor((numberBits * Math.LN2) / Math.log(base)))

  const packed = new BigUint64Array(unsorted.length)
  const words = new Uint32Array(packed.buffer)
  for (let i = 0; i < unsorted.length; i++) {
    const number = entries.keyNumber(unsorted[i]!, start, length, digits, base)
    words[2 * i + lowWord] = ((number % lowNumbers) << positionBits) | i
    words[2 * i + highWord] = Math.floor(number / lowNumbers)
  }
  packed.sort()

  let groupStart = 0
  for (let i = 0; i < unsorted.length; i++) {
    const low = words[2 * i + lowWord]!
    keys[from + i] = unsorted[low & (maxSortedKeys - 1)]!
    const groupLow = words[2 * groupStart + lowWord]!
    if (
      low >>> positionBits === groupLow >>> positionBits &&
      words[2 * i + highWord] === words[2 * groupStart + highWord]
    ) {
      continue
    }
    if (i - groupStart > 1) sortGroup(keys, from + groupStart, from + i, start + length, entries)
    groupStart = i
  }
  if (unsorted.length - groupStart > 1) sortGroup(keys, from + groupStart, to, start + length, entries)
}

/** Length of the common prefix of all keys; the bytes before `offset` are known to be equal. */
function sharedBytes(keys: Uint32Array, offset: number, entries: EntryList): number {
  const first = keys[0]!
  let shared = entries.keyLength(first)
  for (let i = 1; i < keys.length && shared > offset; i++) {
    shared = entries.commonPrefix(first, keys[i]!, offset, shared)
  }
  return shared
}

/** Assigns digits to the marked bytes, from 1 on in byte order; returns the base. */
function numberDigits(digits: Uint16Array): number {
  let base = 1
  for (let byte = 0; byte < 256; byte++) {
    if (digits[byte] !== 0) digits[byte] = base++
  }
  return base
}

function insertionSort(keys: Uint32Array, from: number, to: number, entries: EntryList): void {
  for (let i = from + 1; i < to; i++) {
    const key = keys[i]!
    let at = i
    for (; at > from && entries.compareKeys(keys[at - 1]!, key) > 0; at--) keys[at] = keys[at - 1]!
    keys[at] = key
  }
}
