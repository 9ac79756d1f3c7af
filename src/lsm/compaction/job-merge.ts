/**
 * The inner loop of a job: feeds the merged inputs through the drop rules into tables.
 *
 * Invariant: a table ends only between two different keys.
 */
import { copyBytes } from '../../model/copy-bytes.ts'
import type { Cursor } from '../format/cursor.ts'
import { EntryRecord } from '../format/entry.ts'
import { DropRules, Verdict } from './drop-rules.ts'
import type { TableJob } from './job.ts'
import { OutputBoundaries } from './output-boundaries.ts'
import type { TableOutputs } from './table-outputs.ts'

/** A slice ends after this many bytes of keys and values, or this many entries. */
const sliceBytes = 64 * 1024
const sliceEntries = 256

export class JobMerge {
  readonly #cursor: Cursor
  /** A copy of the cursor's entry: a merging cursor's getters look up its current input each time. */
  readonly #entry = new EntryRecord()
  readonly #outputs: TableOutputs
  readonly #rules: DropRules
  readonly #boundaries: OutputBoundaries
  /** The previous key; its versions may all have been dropped. */
  #lastKey = Buffer.alloc(64)
  #lastLength = -1
  /** Whether no version of the current key has been kept yet. */
  #isFirstKept = true

  constructor(job: TableJob, cursor: Cursor, outputs: TableOutputs) {
    this.#cursor = cursor
    this.#outputs = outputs
    this.#rules = new DropRules(job.snapshots, job.deeper)
    this.#boundaries = new OutputBoundaries(job, outputs)
    cursor.seekToFirst()
  }

  /** Does some 100 µs of work; false when there is none left. */
  runSlice(): boolean {
    const cursor = this.#cursor
    const entry = this.#entry
    const outputs = this.#outputs
    let bytes = 0
    for (let entries = 0; cursor.isValid && entries < sliceEntries && bytes < sliceBytes; entries++) {
      entry.set(cursor)
      const { keyBytes, keyStart, keyEnd, sequence, kind, valueStart, valueEnd } = entry
      const isNewKey = this.#advanceKey(keyBytes, keyStart, keyEnd)
      if (this.#rules.judge(isNewKey, keyBytes, keyStart, keyEnd, sequence, kind) === Verdict.keep) {
        if (outputs.isOpen && (this.#boundaries.isDue || outputs.isFull) && this.#isFirstKept && !outputs.isLast) {
          outputs.end()
        }
        if (!outputs.isOpen) this.#boundaries.begin()
        outputs.add(entry)
        this.#isFirstKept = false
      }
      bytes += keyEnd - keyStart + valueEnd - valueStart
      cursor.next()
    }
    return cursor.isValid
  }

  /** Remembers the cursor's key; true if it differs from the previous one. */
  #advanceKey(bytes: Uint8Array, start: number, end: number): boolean {
    const length = end - start
    const last = this.#lastKey
    const limit = Math.min(length, this.#lastLength)
    let shared = 0
    while (shared < limit && last[shared] === bytes[start + shared]) shared++
    if (shared === length && length === this.#lastLength) return false
    this.#boundaries.advance(last, this.#lastLength, bytes, start, end, shared)
    if (length > last.length) {
      this.#lastKey = Buffer.alloc(length * 2)
      shared = 0
    }
    copyBytes(bytes, start + shared, end, this.#lastKey, shared)
    this.#lastLength = length
    this.#isFirstKept = true
    return true
  }
}
