/** What an entry is, and how entries are ordered. */

/** A version of a key: a value, or the news that there is none. Numbers are stored in files. */
export const EntryKind = { tombstone: 0, put: 1 } as const
export type EntryKind = (typeof EntryKind)[keyof typeof EntryKind]

/** Sequence numbers are integers below 2^52: with the kind they fit into one exact double. */
export const maxSequence = 2 ** 52 - 1

/** Shorter than this, a loop beats the call into C++. */
const shortKey = 32

/** Bytewise order of a[aStart, aEnd) and b[bStart, bEnd): negative, 0 or positive. */
export function compareRanges(
  a: Uint8Array,
  aStart: number,
  aEnd: number,
  b: Uint8Array,
  bStart: number,
  bEnd: number
): number {
  const aLength = aEnd - aStart
  const bLength = bEnd - bStart
  const shared = aLength < bLength ? aLength : bLength
  for (let i = 0; i < shared && i < shortKey; i++) {
    const difference = a[aStart + i]! - b[bStart + i]!
    if (difference !== 0) return difference
  }
  if (shared <= shortKey) return aLength - bLength
  return Buffer.compare(a.subarray(aStart + shortKey, aEnd), b.subarray(bStart + shortKey, bEnd))
}

/** Bytewise order of whole keys. */
export function compareKeys(a: Uint8Array, b: Uint8Array): number {
  return compareRanges(a, 0, a.length, b, 0, b.length)
}
