/**
 * The tail of a segment: it maps the hashes of pairs without a private row to documents. Two kinds:
 *
 * | tail          | keeps                                                | see              |
 * | ------------- | ---------------------------------------------------- | ---------------- |
 * | `bloom`       | P rows of bits, and an upper level of 32 groups      | bloom-*.ts       |
 * | `fingerprint` | for each pair of each document a code and a position | fingerprint-*.ts |
 *
 * A *crowded* document has so many pairs that it would have most of its row bits set, and so be a candidate of every
 * query. A Bloom tail with a limit keeps such documents as fingerprints instead: see split-*.ts.
 *
 * Invariants:
 * 1. A document that has the pair is never missing from the pair's groups, nor from its bits.
 * 2. For data that is damaged or not in memory, the result is all groups, and no bits (undefined).
 * 3. A sealed tail gives the same results as the open one did, except for bits at positions not in use.
 */
import type { RowMemory } from '../../../bloom/kernels/index.ts'
import type { IndexStore, IndexWrite } from '../../document-index.ts'
import type { PairHash } from '../../pairs/pair-hash.ts'
import type { ScratchArena } from '../../records/scratch-arena.ts'
import type { RowPart } from '../and-groups.ts'
import type { Geometry } from '../geometry.ts'
import type { HashedPair } from '../private-table.ts'
import type { SegmentRecord } from '../segment-record.ts'

/** The tail's part of a segment's record. */
export type TailRecord = Pick<
  SegmentRecord,
  'shards' | 'rowsPerPair' | 'upper' | 'fingerprints' | 'crowdedPairs' | 'crowded'
>

export type TailKind = 'bloom' | 'fingerprint'

export type TailWrite = IndexWrite & { readonly value: Uint8Array }

/** Dependencies of an open segment's tail. */
export interface TailContext {
  readonly memory: RowMemory
  readonly geometry: Geometry
  readonly pairHash: PairHash
}

/** Hashed pairs of a document as a scan of its bytes leaves them. */
export interface ScannedHashes {
  /** P bits: the rows of all pairs. */
  readonly signature: Uint32Array
  /** lo and hi in turn, `hashCount` of each: of values and sizes; of facts, too, if there is no signature. */
  readonly hashes: Int32Array
  readonly hashCount: number
}

/** What a tail is restored from. */
export interface Checkpoint {
  readonly record: SegmentRecord
  readonly store: IndexStore
  /** Creates the error for records that are missing or do not fit the segment's record. */
  readonly damaged: (what: string) => Error
  /** Called when damage is found after restore(): nothing is known of the documents then. */
  readonly onDamage: (message: string) => void
  /** Called when a query uses what is not in memory. */
  readonly onMiss: () => void
}

/** The tail of the open segment. */
export interface OpenTail {
  readonly record: TailRecord

  /** True when it takes no more documents. */
  readonly isFull: boolean

  /** Number of crowded documents. */
  readonly crowdedDocuments: number

  /** Whether a document with this many hashed pairs is crowded. */
  isCrowded(hashedPairs: number): boolean

  /** Begins the next document. */
  beginDocument(isCrowded: boolean): void

  /** Converts facts, which documents of one shape share, for addFacts(). @param hashes lo and hi in turn */
  prepareFacts(hashes: Int32Array): Int32Array

  /** REQUIRES: `prepared` is from prepareFacts(), and the document is not crowded. */
  addFacts(prepared: Int32Array): void

  /** Adds a value or a size; of a crowded document, a fact, too. */
  add(lo: number, hi: number): void

  /** Adds all pairs of the document. REQUIRES: of a crowded one, `hashes` are all. */
  addScanned(scanned: ScannedHashes): void

  endDocument(): void

  /** Returns the groups that may have documents with the pair, one bit each. */
  groups(pair: HashedPair): number

  /** As Segment.andHashed(); `out` has room for all documents. @param groups at least one */
  and(pair: HashedPair, out: number, groups: number): boolean

  /**
   * Yields a checkpoint's records of a chunk's first `documents`; undefined between the steps of a record that takes
   * longer. Some values are allocated from `arena`.
   */
  chunkWrites(
    firstOrdinal: number,
    chunk: number,
    documents: number,
    arena: ScratchArena
  ): Generator<TailWrite | undefined>

  /** Yields the keys of all that chunkWrites() wrote for a chunk. */
  chunkKeys(firstOrdinal: number, chunk: number): Generator<Uint8Array>

  /**
   * Restores the first documents of a segment from checkpoint records; some are read when load() asks for them.
   * REQUIRES: nothing was added.
   * @throws the checkpoint's error of damage
   */
  restore(checkpoint: Checkpoint): Promise<void>

  /** Loads what and() needs for a pair; returns a promise only when that takes time. */
  load(pair: HashedPair): void | Promise<void>

  /** Loads everything: sealedWrites() and whoever deletes the checkpoint need it. */
  loadAll(): void | Promise<void>

  /**
   * Yields the records of the sealed segment; undefined between the steps of a record that takes longer.
   * REQUIRES: everything is loaded, and nothing is added meanwhile.
   * @param documents of the segment
   * @param arena called for each value
   */
  sealedWrites(
    storedAt: number,
    documents: number,
    arena: () => ScratchArena
  ): Generator<TailWrite | undefined, TailRecord>

  /** Frees the memory. The tail must not be used afterwards. */
  free(): void
}

/** Frames of a sealed segment; the first ones are its tail's. */
export interface TailFrames {
  /** Whether the frame is in memory. Unlike addressOf() and load(), does not count as a use of it. */
  has(frame: number): boolean
  /** As has(); also pins the frame for the current evaluation. */
  pin(frame: number): boolean
  /** The frame's address in row memory; 0 when it is not there, or damaged. */
  addressOf(frame: number): number
  /** Loads the frame; returns a promise only when the store cannot answer at once. */
  load(frame: number): void | Promise<void>
}

/** The tail of a sealed segment. It uses no frames before the segment is completely constructed. */
export interface SealedTail {
  /** Number of its frames. */
  readonly frameCount: number

  keyOf(frame: number): Uint8Array

  /** Copies a stored frame into row memory. @returns false when it is damaged */
  place(frame: number, bytes: Uint8Array, address: number): boolean

  /** As the methods of these names in Segment, for a hashed pair. */
  loadGroups(pair: HashedPair): void | Promise<void>
  groups(pair: HashedPair): number
  load(pair: HashedPair): void | Promise<void>
  narrowGroups(pair: HashedPair, groups: number): number
  andHashed(pair: HashedPair, out: number, part: RowPart): boolean | undefined
}
