/**
 * The tail of a segment: what stands behind the hashes of the pairs that have no private row. Two implementations.
 *
 * | tail          | keeps                                                | see              |
 * | ------------- | ---------------------------------------------------- | ---------------- |
 * | `bloom`       | P rows of bits, and an upper level of 32 groups      | bloom-*.ts       |
 * | `fingerprint` | for each pair of each document a code and a position | fingerprint-*.ts |
 *
 * Invariants:
 * 1. A document that has the pair is never missing from what is said of the pair: not from its groups, not from its bits.
 * 2. What is damaged, or not in memory, says nothing: all groups, and no bits at all (undefined).
 * 3. A sealed tail answers as the open one did, but for bits at positions that are not in use.
 */
import type { RowMemory } from '../../../bloom/kernels/index.ts'
import type { IndexStore, IndexWrite } from '../../document-index.ts'
import type { PairHash } from '../../pairs/pair-hash.ts'
import type { Room } from '../../records/room.ts'
import type { RowPart } from '../and-groups.ts'
import type { Geometry } from '../geometry.ts'
import type { HashedPair } from '../private-table.ts'
import type { SegmentRecord } from '../segment-record.ts'

/** What a segment's record says of its tail. */
export type TailRecord = Pick<SegmentRecord, 'shards' | 'rowsPerPair' | 'upper' | 'fingerprints'>

export type TailKind = 'bloom' | 'fingerprint'

export type TailWrite = IndexWrite & { readonly value: Uint8Array }

/** What a tail of an open segment works with. */
export interface TailContext {
  readonly memory: RowMemory
  readonly geometry: Geometry
  readonly pairHash: PairHash
}

/** Hashed pairs as a scan of a document's bytes leaves them. */
export interface ScannedHashes {
  /** P bits, the rows of all of them. */
  readonly signature: Uint32Array
  /** lo and hi in turn, the first `hashCount`: of values and sizes, and where there is no signature of facts, too. */
  readonly hashes: Int32Array
  readonly hashCount: number
}

/** The tail of the segment that grows. */
export interface OpenTail {
  readonly record: TailRecord

  /** True when it takes no more documents. */
  readonly isFull: boolean

  /** The next document. */
  beginDocument(): void

  /** Facts, which the documents of one shape share, as addFacts() takes them. @param hashes lo and hi in turn */
  prepareFacts(hashes: Int32Array): Int32Array

  /** REQUIRES: what prepareFacts() gave. */
  addFacts(prepared: Int32Array): void

  /** A value or a size. */
  add(lo: number, hi: number): void

  /** All pairs of the document. */
  addScanned(scanned: ScannedHashes): void

  endDocument(): void

  /** The groups that may have documents with the pair, one bit each. */
  groups(pair: HashedPair): number

  /** As Segment.andHashed(); `out` has room for all documents. @param groups at least one */
  and(pair: HashedPair, out: number, groups: number): boolean

  /**
   * What a checkpoint writes of a chunk's first `documents`; undefined between the steps of a record that takes longer. Some
   * values are in the room.
   */
  chunkWrites(firstOrdinal: number, chunk: number, documents: number, room: Room): Generator<TailWrite | undefined>

  /** Of all that chunkWrites() has written of a chunk. */
  chunkKeys(firstOrdinal: number, chunk: number): Generator<Uint8Array>

  /**
   * Takes back what checkpoints wrote of the first documents of a segment. REQUIRES: nothing was added.
   * @throws what `damaged` makes, where records are missing or do not fit the segment's
   */
  restore(record: SegmentRecord, store: IndexStore, damaged: (what: string) => Error): Promise<void>

  /**
   * What is stored of the sealed segment, as it is now; undefined between the steps of a record that takes longer.
   * REQUIRES: nothing is added meanwhile.
   * @param documents of the segment
   * @param room asked for each value
   */
  sealedWrites(storedAt: number, documents: number, room: () => Room): Generator<TailWrite | undefined, TailRecord>

  /** Gives the memory back. The tail must not be used afterwards. */
  free(): void
}

/** Frames of a sealed segment, of which the first ones are its tail's. */
export interface TailFrames {
  /** Whether it is in memory. Unlike addressOf() and load() this is no sign that it is of use. */
  has(frame: number): boolean
  /** As has(); what is evaluated now keeps it until it is. */
  hold(frame: number): boolean
  /** Where it is in row memory; 0 when it is not there, or damaged. */
  addressOf(frame: number): number
  /** Brings it into memory; a promise only where the store cannot answer at once. */
  load(frame: number): void | Promise<void>
}

/** The tail of a sealed segment. It asks nothing of the frames before all parts of the segment are there. */
export interface SealedTail {
  /** How many it has. */
  readonly frameCount: number

  keyOf(frame: number): Uint8Array

  /** Puts a stored frame into row memory. @returns false when it is damaged */
  place(frame: number, bytes: Uint8Array, address: number): boolean

  /** As Segment's methods of these names, for a hashed pair. */
  loadGroups(pair: HashedPair): void | Promise<void>
  groups(pair: HashedPair): number
  load(pair: HashedPair): void | Promise<void>
  narrowed(pair: HashedPair, groups: number): number
  andHashed(pair: HashedPair, out: number, part: RowPart): boolean | undefined
}
