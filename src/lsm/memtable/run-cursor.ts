/**
 * A cursor over one sorted run of a memtable's keys, with all versions of each.
 *
 * Versions added while the cursor is in use appear in it; their sequence numbers are higher than any its reader may
 * see.
 */
import type { Cursor } from '../format/cursor.ts'
import { EntryRecord } from '../format/entry.ts'
import type { EntryList } from './entry-list.ts'

export class RunCursor extends EntryRecord implements Cursor {
  readonly #entries: EntryList
  readonly #run: Uint32Array
  /** Index of the key in the run. */
  #index = -1
  /** The current version of the key. */
  #version = 0
  isValid = false

  constructor(entries: EntryList, run: Uint32Array) {
    super()
    this.#entries = entries
    this.#run = run
  }

  seekToFirst(): void {
    this.#toNewest(0)
  }

  seekToLast(): void {
    this.#toOldest(this.#run.length - 1)
  }

  seek(target: Uint8Array): void {
    this.#toNewest(this.#lowerBound(target))
  }

  seekBefore(target: Uint8Array): void {
    this.#toOldest(this.#lowerBound(target) - 1)
  }

  next(): void {
    if (this.#version === this.#run[this.#index]) this.#toNewest(this.#index + 1)
    else this.#toVersion(this.#entries.older(this.#version))
  }

  previous(): void {
    if (this.#version === this.#entries.newest(this.#run[this.#index]!)) this.#toOldest(this.#index - 1)
    else this.#toVersion(this.#entries.newer(this.#version))
  }

  close(): void {
    this.isValid = false
  }

  /** Index of the first key ≥ target, or the length. */
  #lowerBound(target: Uint8Array): number {
    let low = 0
    let high = this.#run.length
    while (low < high) {
      const middle = (low + high) >>> 1
      if (this.#entries.compareKeyWith(this.#run[middle]!, target, 0, target.length) < 0) low = middle + 1
      else high = middle
    }
    return low
  }

  #toNewest(index: number): void {
    this.#index = index
    this.isValid = index < this.#run.length
    if (this.isValid) this.#toVersion(this.#entries.newest(this.#run[index]!))
  }

  #toOldest(index: number): void {
    this.#index = index
    this.isValid = index >= 0
    if (this.isValid) this.#toVersion(this.#run[index]!)
  }

  #toVersion(version: number): void {
    this.#version = version
    this.#entries.read(version, this)
  }
}
