/**
 * Decides where an output table must end, size aside: evaluated once per key, in order.
 *
 * A border is always between two different keys: all versions of a key are in one table.
 */
import { compareRanges } from '../format/entry.ts'
import type { TableJob } from './job.ts'
import { fullPrefixEnd, isSamePartition } from './partition.ts'

type BoundaryRules = Pick<TableJob, 'partitionDepth' | 'endAfter' | 'grandparents' | 'maxGrandparentBytes'>

export class OutputBoundaries {
  readonly #rules: BoundaryRules
  #endAfterAt = 0
  #grandparentAt = 0
  /** Bytes of grandparents that ended within the current output. */
  #grandparentBytes = 0
  #isDue = false
  /** Length of the last key's partition groups; Infinity if it has fewer groups than make a partition. */
  #groupsEnd = Number.POSITIVE_INFINITY

  constructor(rules: BoundaryRules) {
    this.#rules = rules
  }

  /** Whether a table must end before the next key. */
  get isDue(): boolean {
    return this.#isDue
  }

  /**
   * A key that shares at least this many bytes with the previous one can cross only `endAfter` keys and grandparents.
   */
  get partitionPrefixLength(): number {
    return this.#rules.partitionDepth > 0 ? this.#groupsEnd : 0
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
    const { partitionDepth, endAfter, grandparents, maxGrandparentBytes } = this.#rules
    // A key with all groups of a partition belongs to it, and most keys are in the same partition as the previous one.
    if (partitionDepth > 0 && lastEnd >= 0 && shared < this.#groupsEnd) {
      if (!isSamePartition(last, 0, lastEnd, bytes, start, end, partitionDepth)) this.#isDue = true
      this.#groupsEnd = fullPrefixEnd(bytes, partitionDepth, start, end) - start
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
}
