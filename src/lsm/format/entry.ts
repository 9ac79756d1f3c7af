/** Entries and their order. */

/** The kind of a version of a key: a value, or the key's deletion. Numbers are stored in files. */
export const EntryKind = { tombstone: 0, put: 1 } as const
export type EntryKind = (typeof EntryKind)[keyof typeof EntryKind]

/** A version of a key, in place: byte ranges whose lifetime is defined by their provider. */
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

/** A reusable entry: nothing is allocated per entry read. */
export class EntryRecord implements EntryRanges {
  keyBytes: Uint8Array = nothing
  keyStart = 0
  keyEnd = 0
  sequence = 0
  kind: EntryKind = EntryKind.tombstone
  valueBytes: Uint8Array = nothing
  valueStart = 0
  valueEnd = 0

  /** Refers to the same ranges as `other`. */
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

/** Sequence numbers are integers below 2^52: combined with the kind they still fit exactly into a double. */
export const maxSequence = 2 ** 52 - 1

/** For shorter keys a loop beats the call into C++. */
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

/** The smaller of two keys; undefined stands for one above all others. */
export function smaller(a: Uint8Array | undefined, b: Uint8Array | undefined): Uint8Array | undefined {
  if (a === undefined || b === undefined) return a ?? b
  return compareKeys(b, a) < 0 ? b : a
}

/** Bytewise order of whole keys. */
export function compareKeys(a: Uint8Array, b: Uint8Array): number {
  return compareRanges(a, 0, a.length, b, 0, b.length)
}
