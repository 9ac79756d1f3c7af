/** Scans the distinct keys that have a put among all versions stored in some tables, even if a tombstone hides it. */
import type { Cursor } from '../format/cursor.ts'
import { compareRanges, EntryKind } from '../format/entry.ts'
import type { Range } from '../read/range.ts'
import type { KeyScan } from './delete-keys.ts'

const nothing = Buffer.alloc(0)

export class StoredKeys implements KeyScan {
  readonly #versions: Cursor
  readonly #range: Range
  readonly #maxSequence: number
  #key = nothing
  #hasBegun = false
  hasEnded = false

  /** @param versions cursor over all versions, by key; closed with this scan */
  constructor(versions: Cursor, range: Range, maxSequence: number) {
    this.#versions = versions
    this.#range = range
    this.#maxSequence = maxSequence
  }

  prepareSlice(): boolean {
    return false
  }

  advance(): boolean {
    if (!this.#hasBegun) this.#begin()
    while (!this.hasEnded && this.#isWithin()) if (this.#hasValue()) return true
    this.hasEnded = true
    return false
  }

  key(): Buffer {
    return this.#key
  }

  close(): void {
    this.hasEnded = true
    this.#versions.close()
  }

  #begin(): void {
    this.#hasBegun = true
    if (this.#range.start === undefined) this.#versions.seekToFirst()
    else this.#versions.seek(this.#range.start)
  }

  #isWithin(): boolean {
    const { isValid, keyBytes, keyStart, keyEnd } = this.#versions
    const { end } = this.#range
    return isValid && (end === undefined || compareRanges(keyBytes, keyStart, keyEnd, end, 0, end.length) < 0)
  }

  /** Sets the key and skips all its versions; returns whether one of them is a put that counts. */
  #hasValue(): boolean {
    const versions = this.#versions
    const key = Buffer.from(versions.keyBytes.subarray(versions.keyStart, versions.keyEnd))
    this.#key = key
    let hasValue = false
    do {
      if (versions.kind === EntryKind.put && versions.sequence <= this.#maxSequence) hasValue = true
      versions.next()
    } while (versions.isValid && isKey(versions, key))
    return hasValue
  }
}

function isKey({ keyBytes, keyStart, keyEnd }: Cursor, key: Uint8Array): boolean {
  return compareRanges(keyBytes, keyStart, keyEnd, key, 0, key.length) === 0
}
