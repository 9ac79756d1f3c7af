/** Counts a sample of scanned documents in the scanner's memory, where the documents' values already are. */

/** Fixed-length arrays of a sample; see sampled-pairs.ts and sampled-values.ts. */
export interface SampleArrays {
  readonly slots: Int32Array
  readonly pairs: Int32Array
  readonly values: Int32Array
  readonly texts: Uint8Array
}

export interface PairCounter {
  readonly arrays: SampleArrays
  /** Maximum number of members per document. */
  readonly maxMembers: number
  /** The numbers of the pairs of the document last counted. */
  readonly members: Int32Array
  /** Of the document last counted. */
  readonly memberCount: number
  readonly uncounted: number
  /** Of the sample. */
  readonly textBytes: number

  /** Lends the arrays, whatever they contain, to a sample; any current owner leaves first. */
  acquire(owner: CounterOwner): void
  /** Returns the arrays. */
  release(owner: CounterOwner): void
  /**
   * Counts the values of the document last scanned.
   * REQUIRES: room in the arrays.
   * @returns the sample's number of pairs
   */
  count(document: number, size: number, slots: number, textBytes: number, maxMembers: number, maxUnits: number): number
  /** Reinserts the pairs into this many slots. */
  rehash(size: number, slots: number): void
}

export interface CounterOwner {
  /** Copies its data out of the arrays. */
  detach(): void
}
