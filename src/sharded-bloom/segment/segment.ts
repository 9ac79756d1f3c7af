/**
 * What a segment is to the evaluation of bounds, open or sealed: a set of positions, and rows over them.
 */

import type { TaggedPair } from '../pairs/pair-tags.ts'
import type { ColumnSpec } from '../ranges/column-spec.ts'
import type { RangeColumn } from '../ranges/range-column.ts'
import type { RowPart } from './and-groups.ts'
import type { HashedPair } from './private-table.ts'

/** P, r and the pairs that get a row of their own. Chosen before the first document of the segment is added. */
export interface SegmentParameters {
  /** P: hashed rows, a multiple of 64. */
  readonly shards: number
  /** r: hashed rows that every pair sets. */
  readonly rowsPerPair: number
  readonly privatePairs: readonly HashedPair[]
  /** Values that are kept as columns, for ranges. */
  readonly columns: readonly ColumnSpec[]
  /** Frames of the upper level; 0 for none. */
  readonly upperFrames: number
  /** H: bits of a fingerprint. With it the segment has a tail of fingerprints, and neither rows nor upper level. */
  readonly fingerprintBits?: number | undefined
}

/** Where a segment keeps what it knows of a pair. */
export type Location =
  /** No document of the segment has the pair. */
  | { readonly kind: 'absent' }
  /** Exactly the documents of this private row have it; how the segment numbers its rows is its own affair. */
  | { readonly kind: 'private'; readonly slot: number }
  | HashedLocation
  /** Nothing can be said: the rows are damaged. */
  | { readonly kind: 'unknown' }

/** Documents that have the pair are in all of its hashed rows, among others. */
export interface HashedLocation {
  readonly kind: 'hashed'
  readonly pair: HashedPair
}

export interface Segment {
  readonly firstOrdinal: number
  /** Positions in use: [0, documents). */
  readonly documents: number
  /** 0 of a tail of fingerprints. */
  readonly shards: number
  /** What a hashed pair is read from: of a tail of fingerprints one bucket, made a row. */
  readonly rowsPerPair: number
  /** Of a tail of fingerprints. */
  readonly fingerprintBits: number | undefined
  /** Length of an evaluated row in bytes, a multiple of 16. */
  readonly rowBytes: number
  /** Positions whose pairs are not all known, ascending: always candidates, never certain. */
  readonly alwaysCandidates: readonly number[]

  /** Hashed pairs of all documents. */
  readonly hashedPairs: number

  /** How many pairs have a row of their own. */
  readonly privatePairCount: number

  /** The pairs that have a row of their own. REQUIRES: prepare() */
  privatePairs(): readonly HashedPair[]

  /** Those of them that are values on the path. REQUIRES: prepare() */
  privateValues(path: string): readonly TaggedPair[]

  /**
   * The pairs of all types on all paths, which all have a row of their own; undefined where documents may have others.
   * REQUIRES: prepare()
   */
  typePairs(): readonly TaggedPair[] | undefined

  /** What is kept as columns. */
  readonly columnSpecs: readonly ColumnSpec[]

  /** The column of the values of a type on a path; without one, type rows are all that bounds a range. */
  rangeColumn(path: string, type: number): RangeColumn | undefined

  /** All columns of a path. */
  rangeColumns(path: string): readonly RangeColumn[]

  readonly upperFrames: number

  /** Documents of a group. */
  readonly groupDocuments: number

  /** False until prepare() has ended. */
  readonly isReady: boolean

  /** Brings into memory what locate() needs; a promise only where the store cannot answer at once. */
  prepare(): void | Promise<void>

  /** REQUIRES: prepare() */
  locate(pair: HashedPair): Location

  /** Brings what groups() needs into memory; a promise only where the store cannot answer at once. */
  loadGroups(location: Location): void | Promise<void>

  /**
   * The groups that may have documents with the pair, one bit each (see upper-level.ts), as far as what is in memory
   * tells: all of them where loadGroups() has something to bring.
   */
  groups(location: Location): number

  /**
   * Of sparse groups (see and-groups.ts) those in which hashed rows leave a document, as far as they are in memory. It takes
   * a fraction of what an evaluation takes, which most segments then do not need.
   */
  narrowed(location: HashedLocation, groups: number): number

  /** Brings the rows of a location into memory, as many as it takes to tell that no document has it. REQUIRES: loadGroups() */
  load(location: Location): void | Promise<void>

  /**
   * Address of `rowBytes` bytes that hold the part of the private row: loaded rows as they are, others written to `scratch`
   * (8 KiB), to where it is in a row. The bytes at the address must not be changed; undefined when the row is not in memory, or damaged.
   */
  privateRow(slot: number, scratch: number, part: RowPart): number | undefined

  /**
   * Writes a part of the AND of hashed rows to `out`, to where it is in a row; rows that are damaged, or not in memory, are
   * left out. Returns false when all of it is zero, and `out` is anything then, undefined when no row is left.
   */
  andHashed(location: HashedLocation, out: number, part: RowPart): boolean | undefined
}
