/**
 * What a segment is to the evaluation of bounds, open or sealed: a set of positions, and rows over them.
 */
import type { HashedPair } from './private-table.ts'

/** P, r and the pairs that get a row of their own. Chosen before the first document of the segment is added. */
export interface SegmentParameters {
  /** P: hashed rows, a multiple of 64. */
  readonly shards: number
  /** r: hashed rows that every pair sets. */
  readonly rowsPerPair: number
  readonly privatePairs: readonly HashedPair[]
}

/** Where a segment keeps what it knows of a pair. */
export type Location =
  /** No document of the segment has the pair. */
  | { readonly kind: 'absent' }
  /** Exactly the documents of this private row have it. */
  | { readonly kind: 'private'; readonly slot: number }
  /** Documents that have it are in all of these rows, among others. */
  | { readonly kind: 'hashed'; readonly rows: Int32Array }
  /** Nothing can be said: the rows are damaged. */
  | { readonly kind: 'unknown' }

export interface Segment {
  readonly firstOrdinal: number
  /** Positions in use: [0, documents). */
  readonly documents: number
  readonly shards: number
  readonly rowsPerPair: number
  /** Length of an evaluated row in bytes, a multiple of 16. */
  readonly rowBytes: number
  /** Positions whose pairs are not all known, ascending: always candidates, never certain. */
  readonly alwaysCandidates: readonly number[]

  /** Hashed pairs of all documents. */
  readonly hashedPairs: number

  /** The pairs that have a row of their own. */
  privatePairs(): readonly HashedPair[]

  locate(pair: HashedPair): Location

  /** Brings the rows of a location into memory; a promise only where the store cannot answer at once. */
  load(location: Location): void | Promise<void>

  /**
   * Address of `rowBytes` bytes holding the private row: loaded rows as they are, others written to `scratch`
   * (8 KiB). The bytes at the address must not be changed; undefined when the row turned out damaged.
   */
  privateRow(slot: number, scratch: number): number | undefined

  /**
   * Writes the AND of hashed rows to `out`; returns false when all of it is zero, undefined when a row turned out
   * damaged.
   */
  andHashed(rows: Int32Array, out: number): boolean | undefined
}
