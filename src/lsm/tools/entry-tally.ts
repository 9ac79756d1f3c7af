/** Counts a table's entries as they go by and checks their order; the result can be compared with the manifest. */
import type { Cursor } from '../format/cursor.ts'
import { compareRanges, EntryKind } from '../format/entry.ts'
import type { TableMeta } from '../version/table-meta.ts'

const noBytes = new Uint8Array(0)

export class EntryTally {
  entries = 0
  tombstones = 0
  rawBytes = 0
  smallestSequence = Number.MAX_SAFE_INTEGER
  largestSequence = 0
  #smallest: Uint8Array = noBytes
  #hasLast = false
  /** The key of the last entry, as exposed by the cursor: block cursors never overwrite exposed bytes. */
  #lastBytes: Uint8Array = noBytes
  #lastStart = 0
  #lastEnd = 0
  #lastSequence = 0

  /** @param before its last entry has to precede the first one */
  constructor(before?: EntryTally) {
    if (before === undefined) return
    this.#hasLast = before.#hasLast
    this.#lastBytes = before.#lastBytes
    this.#lastStart = before.#lastStart
    this.#lastEnd = before.#lastEnd
    this.#lastSequence = before.#lastSequence
  }

  /** Whether the cursor's key differs from that of the last entry. */
  isNewKey({ keyBytes, keyStart, keyEnd }: Cursor): boolean {
    if (!this.#hasLast) return true
    return compareRanges(keyBytes, keyStart, keyEnd, this.#lastBytes, this.#lastStart, this.#lastEnd) !== 0
  }

  /** Whether the cursor's entry may follow the last one: a greater key, or an older version of the same key. */
  isInOrder({ keyBytes, keyStart, keyEnd, sequence }: Cursor): boolean {
    if (!this.#hasLast) return true
    const order = compareRanges(keyBytes, keyStart, keyEnd, this.#lastBytes, this.#lastStart, this.#lastEnd)
    return order > 0 || (order === 0 && sequence < this.#lastSequence)
  }

  add({ keyBytes, keyStart, keyEnd, sequence, kind, valueStart, valueEnd }: Cursor): void {
    if (this.entries === 0) this.#smallest = Buffer.from(keyBytes.subarray(keyStart, keyEnd))
    this.entries++
    if (kind === EntryKind.tombstone) this.tombstones++
    this.rawBytes += keyEnd - keyStart + valueEnd - valueStart
    if (sequence < this.smallestSequence) this.smallestSequence = sequence
    if (sequence > this.largestSequence) this.largestSequence = sequence
    this.#hasLast = true
    this.#lastBytes = keyBytes
    this.#lastStart = keyStart
    this.#lastEnd = keyEnd
    this.#lastSequence = sequence
  }

  /** The greatest key so far; a view. */
  get largest(): Uint8Array {
    return this.#lastBytes.subarray(this.#lastStart, this.#lastEnd)
  }

  /** REQUIRES: at least one entry. */
  meta(number: number, bytes: number): TableMeta {
    const { entries, tombstones, rawBytes, smallestSequence, largestSequence } = this
    const [smallest, largest] = [this.#smallest, Buffer.from(this.largest)]
    return { number, bytes, smallest, largest, smallestSequence, largestSequence, entries, tombstones, rawBytes }
  }
}

const counts = ['entries', 'tombstones', 'rawBytes', 'smallestSequence', 'largestSequence'] as const

/** Describes how a table differs from its description; keys are compared if the description has them. */
export function differences(
  found: TableMeta,
  declared: Pick<TableMeta, (typeof counts)[number]> & Partial<Pick<TableMeta, 'smallest' | 'largest'>>
): string[] {
  const list: string[] = []
  for (const name of counts)
    if (found[name] !== declared[name]) list.push(`${name} ${found[name]}, not ${declared[name]}`)
  for (const name of ['smallest', 'largest'] as const) {
    const key = declared[name]
    if (key !== undefined && Buffer.compare(found[name], key) !== 0) list.push(`different ${name} key`)
  }
  return list
}
