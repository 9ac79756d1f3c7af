/**
 * The index over a collection as the document store sees it: the contract between `docstore` and this layer.
 *
 * Every stored version of a document has an ordinal, an integer that grows by one per version and is never reused. The
 * index answers a PairExpression with ordinals; it never sees `_id`s and never decides a match.
 *
 * Invariants:
 * 1. matches(f) ⊆ upper(f) and lower(f) ⊆ matches(f), for every ordinal that the view holds live.
 * 2. One writer: `add`, `remove`, `maintain` and `close` are never called concurrently with each other.
 * 3. A view sees exactly the ordinals below its limit that were live when it was captured, and that it does not hide.
 */

import type { HashName } from '../bloom/hash.ts'
import type { PairExpression, TypePair, ValuePair } from '../model/pairs.ts'
import type { Document } from '../model/types.ts'
import type { BuiltSegment, SegmentPlan } from './bulk/bulk-plan.ts'
import type { AcceptedForm, JsonForm } from './byte-scan/json-form.ts'
import type { NotWritten } from './byte-scan/json-writer.ts'
import type { OrdinalSet } from './ordinal-set.ts'
import type { FlatDocument } from './pairs/flatten.ts'
import type { ColumnOrder } from './ranges/column-order.ts'
import type { RemoteBuilder } from './rebuild/remote-builder.ts'
import type { StoredSource } from './stored-source.ts'
import type { StoredChoice } from './tune/stored-choice.ts'
import type { TuningOptions } from './tune/tuning-options.ts'

/** The part of a key-value store that holds an index's records; keys are relative to the index. */
export interface IndexStore {
  /** Returns undefined for an absent key. Synchronous when the store can be. */
  get(key: Uint8Array): Uint8Array | undefined | Promise<Uint8Array | undefined>
  /**
   * As get(), but the next read from any store may overwrite the bytes, unless they come in a promise: see
   * records/read-transient.ts.
   */
  getTransient?(key: Uint8Array): Uint8Array | undefined | Promise<Uint8Array | undefined>
  /** Writes one atomic batch; undefined deletes the key. The store has read the values when it returns the promise. */
  write(operations: readonly IndexWrite[]): Promise<void>
  /** Deletes every record with `from` ≤ key < `to`. */
  clear(from: Uint8Array, to: Uint8Array): Promise<void>
  /** Yields the records with `from` ≤ key < `to`, ascending. */
  scan(from: Uint8Array, to: Uint8Array): AsyncIterable<readonly [key: Uint8Array, value: Uint8Array]>
}

export interface IndexWrite {
  readonly key: Uint8Array
  readonly value: Uint8Array | undefined
}

/** Re-reads documents: after a crash, and when new parameters are chosen. Ascending by ordinal. */
export interface DocumentSource {
  read(fromOrdinal: number, toOrdinal: number): AsyncIterable<readonly [ordinal: number, document: Document]>

  /** The same documents in stored form, for callers that read all of them. */
  readonly stored?: StoredSource
}

/** Progress of a rebuild of an index. */
export interface RebuildProgress {
  /** Documents indexed again so far. */
  readonly documents: number
  /** Documents live in the rebuilt segments when the rebuild began. */
  readonly total: number
}

/** A rebuild of segments; see rebuild/rebuild.ts. end() is always called. */
export interface IndexRebuild {
  /**
   * Builds in slices, beside reads and writes; nothing of it is visible yet.
   * @throws AbortedError
   */
  build(signal?: AbortSignal, onProgress?: (progress: RebuildProgress) => void): Promise<void>
  /** Makes the built segments the index, in one batch. REQUIRES: build() has ended, and nobody writes. */
  publish(): Promise<void>
  /** Deletes built segments that were not published. */
  end(): Promise<void>
}

/**
 * Maps versions to ordinals, for an index whose ordinals come in any order and are reused: add() takes version numbers,
 * and each version is of the document at some ordinal.
 */
export interface Placement {
  /**
   * Declares the last added version to be of the document at `ordinal`. @returns a record for the batch that writes it
   */
  place(version: number, ordinal: number): IndexWrite
  /** Withdraws a version whose batch was not written. */
  withdraw(version: number): void
  /** Marks versions below `limit` committed: they become visible, and the versions they replace are gone. */
  commit(limit: number): void
}

export interface DocumentIndex {
  /** When missing, a document's ordinal is its version number, and limits are ordinals. */
  readonly placement?: Placement

  /**
   * Loads the stored index and indexes the documents added since the last checkpoint.
   * @param nextOrdinal the ordinal that the next document will get; every stored document is below it
   * @param documents number of stored documents; an index that counts another number is rebuilt
   */
  open(nextOrdinal: number, documents: number): Promise<void>

  /**
   * Checks and flattens one document. The result is valid until the next call.
   * @throws PetalError BadValue for a document that cannot be stored (cycle, depth, `__proto__`, unsupported value)
   */
  flatten(document: Document): FlatDocument

  /**
   * Indexes the document at `ordinal`, which must not be below any ordinal added before. Ordinals may be skipped (by a
   * failed batch): a skipped one is never a candidate. Synchronous; not visible before a view with a higher limit.
   */
  add(ordinal: number, flat: FlatDocument): void

  /**
   * Returns the document's record as UTF-8, as byte-scan/json-writer.ts makes it: JSON, or JSON after a mark. Valid
   * until the next call. If the next call is addBytes() of these very bytes at the same ordinal, it has less to do.
   * @returns the reason when there is no record; undefined when the caller has to find out another way
   * @throws what a getter of the document throws
   */
  write?(ordinal: number, document: Document): Uint8Array | NotWritten | undefined

  /**
   * Flattens and adds a document given as UTF-8 JSON. Missing on an index that cannot do so.
   * @param form default 'json'; see byte-scan/json-form.ts
   * @returns the form in which the bytes may be read again; false when nothing was done and the document has to be
   *   flattened and added as an object
   */
  addBytes?(ordinal: number, bytes: Uint8Array, offset: number, length: number, form?: JsonForm): AcceptedForm

  /** Returns the record to put into the batch that deletes this document, so that the deletion survives a crash. */
  removal(ordinal: number): IndexWrite

  /** Removes the document: no view captured from now on finds it. Call after its batch is committed. */
  remove(ordinal: number): void

  /**
   * True when maintain() has work due: a checkpoint, a seal, new parameters or, after opening, loading what add() needs
   * in memory. Cheap. REQUIRES: false, or maintain() called, before the first add().
   */
  readonly isMaintenanceDue: boolean

  /** Set by the caller of maintain(): has it called soon on an index without writers; resolves when it has ended. */
  onMaintenanceDue?: (() => Promise<void>) | undefined

  /**
   * Does the work that is due, in slices that yield to the event loop. Reads may go on. REQUIRES: every added ordinal
   * below `limit` is committed.
   */
  maintain(limit: number): Promise<void>

  /** Persists everything below `limit`, so that the next open re-indexes nothing; frees all memory. */
  close(limit: number): Promise<void>

  /**
   * Synchronous.
   * @param limit ordinals below it are visible
   * @param hidden the view shows none of these, as if they were dead
   */
  capture(limit: number, hidden?: OrdinalSet): IndexView

  /** Live documents below `limit`. */
  liveCount(limit: number): number

  stats(): IndexStats

  /**
   * Begins a rebuild of all segments: dead documents are left out, small segments merged, parameters chosen anew.
   * REQUIRES: every added ordinal below `limit` is committed, and nobody writes until it resolves. Missing on an index
   * without segments.
   * @param remote builds segments in another thread, where that is possible
   * @throws PetalError IllegalOperation while a rebuild is running
   */
  beginRebuild?(limit: number, remote?: RemoteBuilder): Promise<IndexRebuild>

  /** The options that parameters are chosen by; missing on an index without parameters. */
  readonly tuning?: IndexTuning

  /** Accepts segments built elsewhere; missing on an index that cannot. */
  readonly bulk?: BulkIndex

  /** Changes the options by which parameters of future segments, and of the next rebuild, are chosen; persisted. */
  retune?(choice: StoredChoice): Promise<void>
}

/**
 * Adopts segments built elsewhere, whose records are stored together with their documents; see bulk/bulk-segments.ts.
 */
export interface BulkIndex {
  /** The plan by which to build segments; undefined when only this index can hash its pairs. */
  plan(): SegmentPlan | undefined
  /** How many more documents the last segment takes before the next one begins. */
  readonly room: number
  /** Whether ordinals above all others may be reserved for segments built elsewhere. */
  readonly mayReserve: boolean
  /** True when no maintenance is due, apart from loading what add() needs, which adopt() does not. */
  readonly isIdle: boolean
  /** Whether segments with these ordinals may be adopted: not during a rebuild, or when other segments overlap them. */
  mayAdopt(ordinals: OrdinalRange): boolean
  /**
   * Makes segments part of the index: views captured from now on see their documents below their limits. REQUIRES:
   * mayAdopt(); their records are stored, their ordinals were reserved, and nothing was added there.
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
   * Returns how many consecutive segments, from this one upwards or downwards, are known from memory to have no
   * candidate; reads no row. When missing, every segment is evaluated.
   */
  skip?(segment: number, expression: PairExpression, step: 1 | -1): number
  /**
   * Evaluates one segment; returns a promise only when rows have to be read asynchronously.
   * @param listed when all candidates are certain, only the first `listed` of them need be enumerable: listing them all
   *   takes longer than counting them
   */
  evaluate(segment: number, expression: PairExpression, listed?: number): SegmentCandidates | Promise<SegmentCandidates>
  /**
   * Returns the columns that a segment keeps of the values on a path, one per type; a promise only when they have to be
   * read asynchronously. Missing on an index without columns.
   */
  orders?(segment: number, path: string): readonly ColumnOrder[] | Promise<readonly ColumnOrder[]>
  /**
   * Returns values on a path for which a segment knows exactly which documents have them; there may be other values. A
   * promise only when they have to be read asynchronously. Missing on an index that knows none exactly.
   */
  values?(segment: number, path: string): readonly ValuePair[] | Promise<readonly ValuePair[]>
  /**
   * Returns all (path, type) pairs of a segment's documents when each has a private row, so that only irregular
   * documents are uncertain; undefined when the segment does not know all of them. A promise only when they have to be
   * read asynchronously.
   */
  types?(segment: number): readonly TypePair[] | undefined | Promise<readonly TypePair[] | undefined>
  /** As evaluate(), restricted to ascending ordinal ranges; when missing, the caller filters the candidates. */
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
  /** True when ordinal(i) is in lower: it matches without confirmation. */
  isCertain(i: number): boolean
  /** True when the ordinal is in upper. REQUIRES: evaluate() without `listed` */
  has(ordinal: number): boolean
  /** Rows read and their bytes, for explain(). */
  readonly rowsRead: number
  readonly bytesTouched: number
}

/** Size and contents of an index over all pairs. */
export interface IndexStats {
  readonly kind: 'sharded' | 'embedded' | 'none'
  readonly segments: number
  /** Live documents. */
  readonly documents: number
  /** Deleted documents, and earlier versions of replaced ones, that a rebuild would remove. */
  readonly dead: number
  /** Documents that the last open re-indexed. */
  readonly recovered: number
  /**
   * Damage found since the index was opened, opening included. Damage found at opening has been repaired by a rebuild.
   */
  readonly damage: readonly string[]
  /** The damage found after opening, which the next opening repairs by a rebuild. */
  readonly unrepaired: readonly string[]
  /** Bytes by part, as stored. */
  readonly bytes: {
    readonly hashedRows: number
    readonly privateRows: number
    readonly rangeCodes: number
    readonly upperLevel: number
    /** Of crowded documents; in segments with `tail: 'fingerprint'` of all, in place of hashed rows and upper level. */
    readonly fingerprints: number
    readonly live: number
    readonly directory: number
    readonly total: number
  }
  /** Rows of this and all other collections in memory; with `embedded` and `none`, the bitmap of live documents. */
  readonly cache: {
    readonly budgetBytes: number
    readonly usedBytes: number
    readonly hits: number
    readonly misses: number
  }
  /** The parameters of each segment, as in TuneChoice. */
  readonly parameters: readonly {
    /** Number of its first document, in the order in which documents were written. */
    readonly firstOrdinal: number
    /** Documents in it, dead ones included. */
    readonly documents: number
    /** False for the segment that takes new documents. */
    readonly sealed: boolean
    /** What stores the hashed pairs. */
    readonly tail: 'bloom' | 'fingerprint'
    /** 0 for fingerprints. */
    readonly shards: number
    readonly rowsPerPair: number
    readonly privatePairs: number
    /** Paths whose values have range codes. */
    readonly columns: number
    /** Expected share of set bits in the hashed rows. */
    readonly density: number
    /** Documents with so many pairs that they have fingerprints instead of bits in hashed rows (docs/filters.md). */
    readonly crowded: number
  }[]
}
