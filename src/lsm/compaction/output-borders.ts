/**
 * Where one output table must end and the next begin, size aside: looked at once per key, in order.
 *
 * A border is always between two different keys: all versions of a key are in one table.
 */
import { compareRanges } from '../format/entry.ts'
import type { TableJob } from './job.ts'
import { endOfGroups, isSamePartition } from './partition.ts'

type BorderRules = Pick<TableJob, 'partitionDepth' | 'endAfter' | 'grandparents' | 'maxGrandparentBytes'>

export class OutputBorders {
  readonly #rules: BorderRules
  #endAfterAt = 0
  #grandparentAt = 0
  /** Bytes of grandparents that end within the current output. */
  #grandparentBytes = 0
  #isDue = false
  /** Bytes of the last key's groups; more than any key has when there are fewer than make a partition. */
  #groupsEnd = Number.POSITIVE_INFINITY

  constructor(rules: BorderRules) {
    this.#rules = rules
  }

  /** Whether a table must end before the next key. */
  get isDue(): boolean {
    return this.#isDue
  }

  /** A key that has as many bytes in common with the one before crosses nothing but ends and grandparents. */
  get sharedInside(): number {
    return this.#rules.partitionDepth > 0 ? this.#groupsEnd : 0
  }

  /** Index of the key in `endAfter` that was not passed yet; its length when there is none. */
  get nextEnd(): number {
    return this.#endAfterAt
  }

  /** A table has ended. */
  begin(): void {
    this.#isDue = false
    this.#grandparentBytes = 0
  }

  /**
   * The next key of the merge, kept or dropped: bytes[start, end).
   * @param last the key before, [0, lastEnd); −1 when there is none
   * @param shared bytes that both keys begin with
   */
  cross(last: Uint8Array, lastEnd: number, bytes: Uint8Array, start: number, end: number, shared: number): void {
    const { partitionDepth, endAfter, grandparents, maxGrandparentBytes } = this.#rules
    // Keys that begin with all groups of a partition are of it, and most keys are of that of the key before.
    if (partitionDepth > 0 && lastEnd >= 0 && shared < this.#groupsEnd) {
      if (!isSamePartition(last, 0, lastEnd, bytes, start, end, partitionDepth)) this.#isDue = true
      this.#groupsEnd = endOfGroups(bytes, partitionDepth, start, end) - start
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
