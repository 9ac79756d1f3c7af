/** A segment, open or sealed, as the evaluation of bounds sees it: a set of positions, and rows over them. */

import type { TaggedPair } from '../pairs/pair-tags.ts'
import type { ColumnSpec } from '../ranges/column-spec.ts'
import type { RangeColumn } from '../ranges/range-column.ts'
import type { RowPart } from './and-groups.ts'
import type { HashedPair } from './private-table.ts'

/** P, r and the pairs with private rows. Chosen before the first document of the segment is added. */
export interface SegmentParameters {
  /** P: hashed rows, a multiple of 64. */
  readonly shards: number
  /** r: hashed rows that every pair sets. */
  readonly rowsPerPair: number
  readonly privatePairs: readonly HashedPair[]
  /** Values kept as columns, for ranges. */
  readonly columns: readonly ColumnSpec[]
  /** Frames of the upper level; 0 for none. */
  readonly upperFrames: number
  /** H: bits of a fingerprint. If given, the tail is one of fingerprints, without hashed rows and upper level. */
  readonly fingerprintBits?: number | undefined
  /** In a Bloom tail: a document with more hashed pairs is crowded (see tail/). If not given, none is. */
  readonly crowdedPairs?: number | undefined
}

/** Where a segment keeps a pair. */
export type Location =
  /** No document of the segment has the pair. */
  | { readonly kind: 'absent' }
  /** Exactly the documents of this private row have it. Slot numbers are internal to the segment. */
  | { readonly kind: 'private'; readonly slot: number }
  | HashedLocation
  /** Nothing is known: the rows are damaged, or not restored yet. */
  | { readonly kind: 'unknown' }

export const absent: Location = { kind: 'absent' }

/** All documents that have the pair are in all of its hashed rows; others may be, too. */
export interface HashedLocation {
  readonly kind: 'hashed'
  readonly pair: HashedPair
}

export interface Segment {
  readonly firstOrdinal: number
  /** Positions in use: [0, documents). */
  readonly documents: number
  /** 0 for a fingerprint tail. */
  readonly shards: number
  /** Number of rows a hashed pair is read from: 1 for a fingerprint tail, whose bucket yields one row. */
  readonly rowsPerPair: number
  /** Defined for a fingerprint tail. */
  readonly fingerprintBits: number | undefined
  /** Length of an evaluated row in bytes, a multiple of 16. */
  readonly rowBytes: number
  /** Positions whose pairs are not all known, ascending: always candidates, never certain. */
  readonly alwaysCandidates: readonly number[]

  /** Hashed pairs of all documents that are not crowded. */
  readonly hashedPairs: number

  /** Number of crowded documents. */
  readonly crowdedDocuments: number

  /** Number of pairs with a private row. */
  readonly privatePairCount: number

  /** The pairs with a private row. REQUIRES: prepare() */
  privatePairs(): readonly HashedPair[]

  /** Those of them that are values on the path. REQUIRES: prepare() */
  privateValues(path: string): readonly TaggedPair[]

  /**
   * The TYPE pairs of all paths, if all of them have private rows; undefined if documents may have others.
   * REQUIRES: prepare()
   */
  typePairs(): readonly TaggedPair[] | undefined

  /** Specs of its columns. */
  readonly columnSpecs: readonly ColumnSpec[]

  /** The column of the values of a type on a path; without one, only the type's row bounds a range. */
  rangeColumn(path: string, type: number): RangeColumn | undefined

  /** All columns of a path. */
  rangeColumns(path: string): readonly RangeColumn[]

  readonly upperFrames: number

  /** Number of documents in a group. */
  readonly groupDocuments: number

  /** False until prepare() has ended. */
  readonly isReady: boolean

  /** Loads what locate() needs; returns a promise only when the store cannot answer at once. */
  prepare(): void | Promise<void>

  /** REQUIRES: prepare() @param hashed returned if the pair has no private row, so that none has to be made */
  locate(pair: HashedPair, hashed?: HashedLocation): Location

  /** Loads what groups() needs; returns a promise only when the store cannot answer at once. */
  loadGroups(location: Location): void | Promise<void>

  /**
   * Returns the groups that may have documents with the pair, one bit each (see upper-level.ts), from what is in
   * memory: all groups if loadGroups() has something to load.
   */
  groups(location: Location): number

  /**
   * Returns those of the given sparse groups (see and-groups.ts) in which the hashed rows in memory leave a document.
   * Costs a fraction of a full evaluation, which it saves most segments.
   */
  narrowGroups(location: HashedLocation, groups: number): number

  /**
   * Loads the rows of a location, or just enough of them to tell that no document has the pair. REQUIRES: loadGroups()
   */
  load(location: Location): void | Promise<void>

  /**
   * Returns the address of `rowBytes` bytes that hold the given part of the private row: a loaded row in place, any
   * other written to `scratch` (8 KiB) at the part's offset. The bytes must not be changed. Returns undefined when the
   * row is damaged or not in memory.
   */
  privateRow(slot: number, scratch: number, part: RowPart): number | undefined

  /**
   * Writes the given part of the AND of the hashed rows to `out`, at the part's offset; rows that are damaged or not in
   * memory are left out. Returns false when the part is all zero, in which case `out` is unspecified, and undefined
   * when no row is left.
   */
  andHashed(location: HashedLocation, out: number, part: RowPart): boolean | undefined
}
