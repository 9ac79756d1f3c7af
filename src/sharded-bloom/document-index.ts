/**
 * What a document store needs of an index over a collection: the contract between `docstore` and this layer.
 *
 * A document has an ordinal, an integer that grows by one per stored version and is never reused. The index answers a
 * PairExpression with ordinals; it never sees `_id`s and never decides a match.
 *
 * Invariants:
 * 1. matches(f) ⊆ upper(f) and lower(f) ⊆ matches(f), for every ordinal that the view holds live.
 * 2. One writer: `add`, `remove`, `maintain` and `close` are never called concurrently with each other.
 * 3. A view sees exactly the ordinals below its limit that were live when it was captured.
 */

import type { HashName } from '../bloom/hash.ts'
import type { PairExpression, TypePair, ValuePair } from '../model/pairs.ts'
import type { Document } from '../model/types.ts'
import type { BuiltSegment, SegmentPlan } from './bulk/bulk-plan.ts'
import type { JsonForm, Told } from './byte-scan/json-form.ts'
import type { NotWritten } from './byte-scan/json-writer.ts'
import type { FlatDocument } from './pairs/flatten.ts'
import type { ColumnOrder } from './ranges/column-order.ts'
import type { StoredSource } from './stored-source.ts'
import type { StoredChoice } from './tune/stored-choice.ts'
import type { TuningOptions } from './tune/tuning.ts'

/** The part of a key-value store that an index keeps its records in; keys are relative to the index. */
export interface IndexStore {
  /** undefined when absent. Synchronous when the store can. */
  get(key: Uint8Array): Uint8Array | undefined | Promise<Uint8Array | undefined>
  /** One atomic batch. A value of undefined deletes the key. The store has read the values when it returns the promise. */
  write(operations: readonly IndexWrite[]): Promise<void>
  /** Deletes every record with `from` ≤ key < `to`. */
  clear(from: Uint8Array, to: Uint8Array): Promise<void>
  /** Records with `from` ≤ key < `to`, ascending. */
  scan(from: Uint8Array, to: Uint8Array): AsyncIterable<readonly [key: Uint8Array, value: Uint8Array]>
}

export interface IndexWrite {
  readonly key: Uint8Array
  readonly value: Uint8Array | undefined
}

/** Where the index re-reads documents: after a crash, and when it chooses new parameters. Ascending by ordinal. */
export interface DocumentSource {
  read(fromOrdinal: number, toOrdinal: number): AsyncIterable<readonly [ordinal: number, document: Document]>

  /** The same documents as they are stored, for those who read all of them. */
  readonly stored?: StoredSource
}

export interface RebuildProgress {
  /** Indexed again. */
  readonly documents: number
  /** Live in the segments that are built again, when that began. */
  readonly total: number
}

/** Segments being built again; see rebuild/rebuild.ts. end() is called whatever happens. */
export interface IndexRebuild {
  /**
   * Builds, in slices, beside writes and reads; nothing of it is visible.
   * @throws AbortedError
   */
  build(signal?: AbortSignal, onProgress?: (progress: RebuildProgress) => void): Promise<void>
  /** Makes what was built the index, in one batch. REQUIRES: build() has ended, and nobody writes. */
  publish(): Promise<void>
  /** Deletes what was built and is not the index. */
  end(): Promise<void>
}

/**
 * Of an index whose ordinals come in any order, and are used again: what is added are versions, which are counted, and each
 * is of the document at some ordinal.
 */
export interface Placement {
  /** The version that was added last is of the document at `ordinal`. @returns a record for the batch that writes it */
  place(version: number, ordinal: number): IndexWrite
  /** Takes back a version whose batch was not written. */
  withdraw(version: number): void
  /** Versions below `limit` are committed: they are visible from now on, and what they replace is gone. */
  commit(limit: number): void
}

export interface DocumentIndex {
  /** Where it is missing, a document's ordinal is the number of its version, and limits are of ordinals. */
  readonly placement?: Placement

  /**
   * Loads what is stored and indexes the documents that came after the last checkpoint.
   * @param nextOrdinal the ordinal that the next document will get; every stored document is below it
   * @param documents how many documents are stored; an index that counts others is built again
   */
  open(nextOrdinal: number, documents: number): Promise<void>

  /**
   * Checks and flattens one document. The result is valid until the next call.
   * @throws PetalError BadValue for a document that cannot be stored (cycle, depth, `__proto__`, unsupported value)
   */
  flatten(document: Document): FlatDocument

  /**
   * Indexes the document at `ordinal`, which must not be below any ordinal added before. Ordinals may be skipped (a
   * batch that failed): a skipped one is never a candidate. Synchronous; not visible before a view with a higher limit.
   */
  add(ordinal: number, flat: FlatDocument): void

  /**
   * The document's record as UTF-8, as byte-scan/json-writer.ts makes it: JSON, or JSON behind a mark. Valid until the next call. addBytes() of these very bytes at the same ordinal, when it comes next, has less to do.
   * @returns why there are none; undefined when that has to be found out in another way
   * @throws what a getter of the document throws
   */
  write?(ordinal: number, document: Document): Uint8Array | NotWritten | undefined

  /**
   * As flatten() and add(), from the document's JSON as UTF-8. An index that has no such way never handles any.
   * @param form 'json' unless told otherwise; see byte-scan/json-form.ts
   * @returns the form in which the bytes may be read again; false when nothing was done, and the document has to be flattened and added as an object
   */
  addBytes?(ordinal: number, bytes: Uint8Array, offset: number, length: number, form?: JsonForm): Told

  /** Records to put into the batch that deletes this document, so that the deletion survives a crash. */
  removal(ordinal: number): IndexWrite

  /** The document is gone: no view captured from now on finds it. Call after its batch is committed. */
  remove(ordinal: number): void

  /**
   * True when maintain() has something due: checkpoint, seal, new parameters; after opening also what add() needs in
   * memory. Cheap. REQUIRED to be false, or maintain() to have been called, before the first add().
   */
  readonly isMaintenanceDue: boolean

  /** Set by whoever calls maintain(): has it called soon, of an index that nobody writes to, and resolves when it has ended. */
  onMaintenanceDue?: (() => Promise<void>) | undefined

  /**
   * Does what is due, in slices that leave the event loop breathing. Every added ordinal below `limit` must be
   * committed. Reads may go on.
   */
  maintain(limit: number): Promise<void>

  /** Persists everything below `limit`, so that the next open re-indexes nothing; frees all memory. */
  close(limit: number): Promise<void>

  /** Synchronous. @param limit ordinals below it are visible */
  capture(limit: number): IndexView

  /** Live documents below `limit`. */
  liveCount(limit: number): number

  stats(): IndexStats

  /**
   * Begins to build all segments again, dead documents left out, small ones together, parameters chosen anew. Every
   * added ordinal below `limit` must be committed, and nobody write until it resolves. An index without segments has none.
   * @throws PetalError IllegalOperation while it is being built again
   */
  beginRebuild?(limit: number): Promise<IndexRebuild>

  /** What parameters are chosen by; an index without parameters has none. */
  readonly tuning?: IndexTuning

  /** Takes segments that were built elsewhere; an index that has no such way is missing it. */
  readonly bulk?: BulkIndex

  /** Changes what the parameters of segments to come, and of the next rebuild, are chosen by; persisted. */
  retune?(choice: StoredChoice): Promise<void>
}

/** Segments of documents that are stored together with them; see bulk/bulk-segments.ts. */
export interface BulkIndex {
  /** What they are to be built by; undefined where only this index can hash pairs. */
  plan(): SegmentPlan | undefined
  /** How many documents the last segment takes before the next one begins. */
  readonly room: number
  /** Whether ordinals above all others may be given to segments that are built elsewhere. */
  readonly mayReserve: boolean
  /** Nothing is due but what the next document needs that is added here: segments that are adopted do not. */
  readonly isAtRest: boolean
  /** Whether segments may be adopted whose ordinals these are: not while segments are built again, or when others are there. */
  mayAdopt(ordinals: OrdinalRange): boolean
  /**
   * Makes segments part of the index: views captured from now on see their documents, below their limits. Their records are
   * stored. REQUIRES: mayAdopt(); their ordinals were reserved, and nothing was added there.
   */
  adopt(segments: readonly BuiltSegment[]): void
}

export interface IndexTuning extends TuningOptions {
  /** M. */
  readonly segmentDocuments: number
  readonly hash: HashName
}

/** Ordinals from ≤ o < to. */
export interface OrdinalRange {
  readonly from: number
  readonly to: number
}

export interface IndexView {
  readonly limit: number
  /** Segments in ascending order of ordinals. */
  readonly segmentCount: number
  /**
   * How many segments from this one on, upwards or downwards, have no candidate, as far as what is in memory tells
   * without reading a row. Where it is missing, each segment is evaluated.
   */
  skip?(segment: number, expression: PairExpression, step: 1 | -1): number
  /**
   * Bounds of one segment; a promise only when rows have to be read asynchronously.
   * @param listed where all candidates are certain, only so many are asked for one by one, the first: to list all takes longer
   *   than to count them
   */
  evaluate(segment: number, expression: PairExpression, listed?: number): SegmentCandidates | Promise<SegmentCandidates>
  /**
   * Columns of the values on a path that a segment keeps, one for each type; a promise only where they have to be read
   * asynchronously. An index that keeps none is missing it.
   */
  orders?(segment: number, path: string): readonly ColumnOrder[] | Promise<readonly ColumnOrder[]>
  /**
   * Values on a path that a segment tells exactly which documents have; there may be others. A promise only where they have to be
   * read asynchronously. An index that is exact about none is missing it.
   */
  values?(segment: number, path: string): readonly ValuePair[] | Promise<readonly ValuePair[]>
  /**
   * All types on all paths that documents of a segment have, each with a row of its own, so that only of documents whose pairs do not
   * mean what they say it is uncertain; undefined where the segment does not know them all. A promise only where they have to be
   * read asynchronously.
   */
  types?(segment: number): readonly TypePair[] | undefined | Promise<readonly TypePair[] | undefined>
  /** As evaluate(), of the ordinals in ascending ranges only; where it is missing, candidates are left out afterwards. */
  evaluateWithin?(segment: number, expression: PairExpression, ranges: readonly OrdinalRange[]): SegmentCandidates
  close(): void
}

/** The live candidates of one segment. A snapshot: later writes do not change it. */
export interface SegmentCandidates {
  /** Number of live ordinals in upper. */
  readonly upperCount: number
  /** Number of live ordinals in lower. */
  readonly lowerCount: number
  /** Ordinals the segment spans: [firstOrdinal, endOrdinal). */
  readonly firstOrdinal: number
  readonly endOrdinal: number
  /** Ordinals of upper, ascending; i < upperCount. */
  ordinal(i: number): number
  /** True when ordinal(i) is in lower: it matches without being confirmed. */
  isCertain(i: number): boolean
  /** True when the ordinal is in upper. REQUIRES: all were to be listed */
  has(ordinal: number): boolean
  /** Rows read and their bytes, for explain(). */
  readonly rowsRead: number
  readonly bytesTouched: number
}

export interface IndexStats {
  readonly kind: 'sharded' | 'embedded' | 'none'
  readonly segments: number
  readonly documents: number
  readonly dead: number
  /** Documents that the last open had to index again. */
  readonly recovered: number
  /** Damage met since the index was opened, at opening included. What was damaged then has been built again. */
  readonly damage: readonly string[]
  /** Bytes by part, as stored. */
  readonly bytes: {
    readonly hashedRows: number
    readonly privateRows: number
    readonly rangeCodes: number
    readonly upperLevel: number
    /** In place of hashed rows and upper level, in segments with `tail: 'fingerprint'`. */
    readonly fingerprints: number
    readonly live: number
    readonly directory: number
    readonly total: number
  }
  readonly cache: {
    readonly budgetBytes: number
    readonly usedBytes: number
    readonly hits: number
    readonly misses: number
  }
  readonly parameters: readonly {
    readonly firstOrdinal: number
    readonly documents: number
    readonly sealed: boolean
    /** What its hashed pairs are kept in. */
    readonly tail: 'bloom' | 'fingerprint'
    /** 0 of fingerprints. */
    readonly shards: number
    readonly rowsPerPair: number
    readonly privatePairs: number
    /** Paths whose values have range codes. */
    readonly columns: number
    readonly density: number
  }[]
}
