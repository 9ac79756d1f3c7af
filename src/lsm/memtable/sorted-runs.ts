/**
 * Keeps the keys of a memtable in sorted runs, so that an iterator after a write does not sort everything again: keys
 * that are new since the last time become a run, and runs of about the same length are merged.
 *
 * Invariants:
 * 1. Every key is in exactly one run.
 * 2. A run is at least twice as long as the one after it: there are at most log2 of them.
 * 3. Runs are never changed; cursors keep those they were made with.
 */
import type { EntryList } from './entry-list.ts'
import { maxSortedKeys, sortKeys } from './sort-keys.ts'

export class SortedRuns {
  readonly #entries: EntryList
  #runs: readonly Uint32Array[] = []
  /** Entries before this one have been looked at. */
  #seen = 0

  constructor(entries: EntryList) {
    this.#entries = entries
  }

  get memoryBytes(): number {
    return this.#runs.reduce((bytes, run) => bytes + run.byteLength, 0)
  }

  /** The keys of all entries there are, in runs. */
  current(): readonly Uint32Array[] {
    while (this.sortSome(maxSortedKeys));
    return this.#runs
  }

  /** Sorts so many more keys at most; false when there are none left. */
  sortSome(maxKeys: number): boolean {
    const run = this.#takeNewKeys(Math.min(maxKeys, maxSortedKeys))
    if (run.length === 0) return false
    sortKeys(run, this.#entries)
    this.#runs = this.#withMerged([...this.#runs, run])
    return true
  }

  #takeNewKeys(maxKeys: number): Uint32Array {
    const keys = new Uint32Array(Math.min(this.#entries.length - this.#seen, maxKeys))
    let count = 0
    while (this.#seen < this.#entries.length && count < keys.length) {
      if (this.#entries.isFirst(this.#seen)) keys[count++] = this.#seen
      this.#seen++
    }
    return count === keys.length ? keys : keys.slice(0, count)
  }

  #withMerged(runs: Uint32Array[]): readonly Uint32Array[] {
    for (let last = runs.length - 1; last > 0; last--) {
      if (runs[last - 1]!.length >= 2 * runs[last]!.length) break
      runs[last - 1] = this.#merge(runs[last - 1]!, runs[last]!)
      runs.pop()
    }
    return runs
  }

  #merge(a: Uint32Array, b: Uint32Array): Uint32Array {
    const entries = this.#entries
    const merged = new Uint32Array(a.length + b.length)
    // Keys that arrive in order need no comparing one by one.
    if (entries.compareKeys(a[a.length - 1]!, b[0]!) < 0) {
      merged.set(a)
      merged.set(b, a.length)
      return merged
    }
    let inA = 0
    let inB = 0
    for (let i = 0; i < merged.length; i++) {
      const takeA = inB === b.length || (inA < a.length && entries.compareKeys(a[inA]!, b[inB]!) < 0)
      merged[i] = takeA ? a[inA++]! : b[inB++]!
    }
    return merged
  }
}
