/**
 * Decides where an output table must end, size aside: evaluated once per key, in order.
 *
 * A border is always between two different keys: all versions of a key are in one table.
 */
import { compareRanges } from '../format/entry.ts'
import type { TableJob } from './job.ts'
import { fullPrefixEnd, isSamePartition, partitionName } from './partition.ts'

type BoundaryRules = Pick<TableJob, 'partitions' | 'endAfter' | 'grandparents' | 'maxGrandparentBytes'>

/** What the job has written so far. */
interface Written {
  /** Bytes of keys and values. */
  readonly rawBytes: number
}

export class OutputBoundaries {
  readonly #rules: BoundaryRules
  readonly #written: Written
  #endAfterAt = 0
  #grandparentAt = 0
  /** Bytes of grandparents that ended within the current output. */
  #grandparentBytes = 0
  #isDue = false
  /** Length of the last key's partition groups; Infinity if it has fewer groups than make a partition. */
  #groupsEnd = Number.POSITIVE_INFINITY
  /** Raw bytes written before the current partition. */
  #partitionStart = 0

  constructor(rules: BoundaryRules, written: Written) {
    this.#rules = rules
    this.#written = written
  }

  /** Whether a table must end before the next key. */
  get isDue(): boolean {
    return this.#isDue
  }

  /**
   * A key that shares at least this many bytes with the previous one can cross only `endAfter` keys and grandparents.
   */
  get partitionPrefixLength(): number {
    return this.#rules.partitions.depth > 0 ? this.#groupsEnd : 0
  }

  /** Index of the next key in `endAfter`; its length if there is none. */
  get nextEnd(): number {
    return this.#endAfterAt
  }

  /** Resets the state for a new table. */
  begin(): void {
    this.#isDue = false
    this.#grandparentBytes = 0
  }

  /**
   * Processes the next key of the merge, kept or dropped: bytes[start, end).
   * @param last the previous key, [0, lastEnd); lastEnd −1: none
   * @param shared length of the common prefix of both keys
   */
  advance(last: Uint8Array, lastEnd: number, bytes: Uint8Array, start: number, end: number, shared: number): void {
    const { partitions, endAfter, grandparents, maxGrandparentBytes } = this.#rules
    const { depth } = partitions
    // A key with all groups of a partition belongs to it, and most keys are in the same partition as the previous one.
    if (depth > 0 && lastEnd >= 0 && shared < this.#groupsEnd) {
      if (!isSamePartition(last, lastEnd, bytes, start, end, depth)) {
        this.#enterPartition(last.subarray(0, lastEnd), bytes.subarray(start, end))
      }
      this.#groupsEnd = fullPrefixEnd(bytes, depth, start, end) - start
    }
    for (let key = endAfter[this.#endAfterAt]; key !== undefined; key = endAfter[++this.#endAfterAt]) {
      if (compareRanges(key, 0, key.length, bytes, start, end) >= 0) break
      this.#isDue = true
    }
    for (let table = grandparents[this.#grandparentAt]; table !== undefined; ) {
      if (compareRanges(table.largest, 0, table.largest.length, bytes, start, end) >= 0) break
      this.#grandparentBytes += table.bytes
      table = grandparents[++this.#grandparentAt]
    }
    if (this.#grandparentBytes > maxGrandparentBytes) this.#isDue = true
  }

  /** A table ends between two partitions if either of them is to have tables of its own. */
  #enterPartition(last: Uint8Array, first: Uint8Array): void {
    const { depth, minBytes, own } = this.#rules.partitions
    const { rawBytes } = this.#written
    const isLarge = rawBytes - this.#partitionStart >= minBytes
    if (isLarge || own.has(partitionName(last, depth)) || own.has(partitionName(first, depth))) this.#isDue = true
    this.#partitionStart = rawBytes
  }
}
