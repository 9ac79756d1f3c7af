/** What an entry is, and how entries are ordered. */

/** A version of a key: a value, or the news that there is none. Numbers are stored in files. */
export const EntryKind = { tombstone: 0, put: 1 } as const
export type EntryKind = (typeof EntryKind)[keyof typeof EntryKind]

/** A version of a key where it lies: ranges of bytes, of which the one who shows them says how long they are valid. */
export interface EntryRanges {
  readonly keyBytes: Uint8Array
  readonly keyStart: number
  readonly keyEnd: number
  readonly sequence: number
  readonly kind: EntryKind
  readonly valueBytes: Uint8Array
  readonly valueStart: number
  /** Equal to valueStart for a tombstone. */
  readonly valueEnd: number
}

const nothing: Uint8Array = Buffer.alloc(0)

/** One entry after another, read out of wherever they are: nothing is allocated per entry. */
export class EntryRecord implements EntryRanges {
  keyBytes: Uint8Array = nothing
  keyStart = 0
  keyEnd = 0
  sequence = 0
  kind: EntryKind = EntryKind.tombstone
  valueBytes: Uint8Array = nothing
  valueStart = 0
  valueEnd = 0

  /** Shows what `other` shows. */
  set(other: EntryRanges): void {
    this.keyBytes = other.keyBytes
    this.keyStart = other.keyStart
    this.keyEnd = other.keyEnd
    this.sequence = other.sequence
    this.kind = other.kind
    this.valueBytes = other.valueBytes
    this.valueStart = other.valueStart
    this.valueEnd = other.valueEnd
  }
}

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

/** The smaller one of two keys; undefined stands for one above all others. */
export function smaller(a: Uint8Array | undefined, b: Uint8Array | undefined): Uint8Array | undefined {
  if (a === undefined || b === undefined) return a ?? b
  return compareKeys(b, a) < 0 ? b : a
}

/** Bytewise order of whole keys. */
export function compareKeys(a: Uint8Array, b: Uint8Array): number {
  return compareRanges(a, 0, a.length, b, 0, b.length)
}
