/** The manifest's description of a table. Immutable; sent to threads by structured clone. */
export interface TableMeta {
  /** File number, part of the file's name; never reused. */
  readonly number: number
  readonly bytes: number
  /** First and last key, inclusive. */
  readonly smallest: Uint8Array
  readonly largest: Uint8Array
  readonly smallestSequence: number
  readonly largestSequence: number
  readonly entries: number
  readonly tombstones: number
  /** Bytes of keys and values before prefix compression and codec. */
  readonly rawBytes: number
}
