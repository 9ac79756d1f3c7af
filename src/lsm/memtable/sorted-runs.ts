/**
 * Keeps the keys of a memtable in sorted runs, so that an iterator after a write need not sort everything again: keys
 * added since the last time become a run, and runs of similar length are merged.
 *
 * Invariants:
 * 1. Every key is in exactly one run.
 * 2. A run is at least twice as long as the next one: there are at most log2 of them.
 * 3. Runs are immutable; cursors keep those they were created with.
 */
import type { EntryList } from './entry-list.ts'
import { maxSortedKeys, sortKeys } from './sort-keys.ts'

/** From this many keys on, a call into C++ beats a loop. */
const longStretch = 32
/** The end of a stretch is searched linearly among this many keys, then in doubling steps. */
const shortStretch = 8

export class SortedRuns {
  readonly #entries: EntryList
  #runs: readonly Uint32Array[] = []
  /** Number of entries already processed. */
  #seen = 0

  constructor(entries: EntryList) {
    this.#entries = entries
  }

  get memoryBytes(): number {
    return this.#runs.reduce((bytes, run) => bytes + run.byteLength, 0)
  }

  /** Number of entries added since keys were last sorted. */
  get unseen(): number {
    return this.#entries.length - this.#seen
  }

  /** The keys of all current entries, in runs. */
  current(): readonly Uint32Array[] {
    while (this.sortSlice(maxSortedKeys));
    return this.#runs
  }

  /** Sorts up to `maxKeys` more keys; false if there are none left. */
  sortSlice(maxKeys: number): boolean {
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
    const merged = new Uint32Array(a.length + b.length)
    // `run` has the smaller next key; the two swap roles after each stretch.
    let [run, other] = this.#entries.compareKeys(a[0]!, b[0]!) < 0 ? [a, b] : [b, a]
    let [inRun, inOther] = [0, 0]
    for (let at = 0; at < merged.length; ) {
      const end = inOther === other.length ? run.length : this.#upperBound(run, inRun + 1, other[inOther]!)
      if (end - inRun > longStretch) merged.set(run.subarray(inRun, end), at)
      else for (let i = inRun; i < end; i++) merged[at + i - inRun] = run[i]!
      at += end - inRun
      ;[run, other] = [other, run]
      ;[inRun, inOther] = [inOther, end]
    }
    return merged
  }

  /** Index of the first key of the run, starting at `from`, that is greater than `key`. */
  #upperBound(run: Uint32Array, from: number, key: number): number {
    const entries = this.#entries
    let low = from
    // Series of keys that arrive in order form long stretches, other keys stretches of a few.
    for (; low < run.length && low < from + shortStretch; low++) {
      if (entries.compareKeys(run[low]!, key) > 0) return low
    }
    let step = 1
    while (low + step <= run.length && entries.compareKeys(run[low + step - 1]!, key) < 0) {
      low += step
      step *= 2
    }
    let high = Math.min(run.length, low + step - 1)
    while (low < high) {
      const middle = (low + high) >>> 1
      if (entries.compareKeys(run[middle]!, key) < 0) low = middle + 1
      else high = middle
    }
    return low
  }
}
