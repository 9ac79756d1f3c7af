/** Where a sample of scanned documents is counted: in the scanner's memory, in which its values stand already. */

/** Arrays of a sample, as sampled-pairs.ts and sampled-values.ts describe them; of fixed lengths. */
export interface SampleArrays {
  readonly slots: Int32Array
  readonly pairs: Int32Array
  readonly values: Int32Array
  readonly texts: Uint8Array
}

export interface PairCounter {
  readonly arrays: SampleArrays
  /** Members of a document that there is room for, at most. */
  readonly maxMembers: number
  /** The numbers of the pairs of the document counted last. */
  readonly members: Int32Array
  /** Of the document counted last. */
  readonly memberCount: number
  readonly uncounted: number
  /** Of the sample. */
  readonly textBytes: number

  /** Gives the arrays, whatever stands in them, to a sample; another one that has them leaves first. */
  take(owner: CounterOwner): void
  /** The arrays are no longer used. */
  giveBack(owner: CounterOwner): void
  /**
   * Counts the values of the document scanned last.
   * REQUIRES: room in the arrays.
   * @returns pairs of the sample
   */
  count(document: number, size: number, slots: number, textBytes: number, maxMembers: number, maxUnits: number): number
  /** Puts the pairs in so many slots. */
  rehash(size: number, slots: number): void
}

export interface CounterOwner {
  /** Takes what it has out of the arrays. */
  leave(): void
}
