/**
 * Fingerprints of consecutive documents of the open segment: a list while they are added, sorted by code once complete.
 *
 * Invariants:
 * 1. Entries of one code ascend by position, both while filling and once complete.
 * 2. A complete run has no duplicate entries.
 */
import type { Entries } from './codec.ts'

/** Leading bits of a code by which entries are indexed. */
export const indexBits = 10
const indexSize = 2 ** indexBits
const maxDigitBits = 16
/** Up to this many entries with the same leading bits are sorted by insertion. */
const maxInsertion = 48

export interface EntryRun extends Entries {
  /** The first document's position. */
  readonly first: number
  readonly documents: number
  /** Start of each index's entries; the last element is the end of all entries. */
  readonly starts: Uint32Array
}

/**
 * Sorts entries by code, stably: distributes them by leading bits, then sorts each part by comparison.
 * @param count number of entries; array elements beyond it are ignored
 * @param width number of low bits in which the codes differ
 */
export function sortEntries({ codes, positions }: Entries, count: number, width: number): Entries {
  const digitBits = Math.min(width, maxDigitBits, Math.max(1, 29 - Math.clz32(count)))
  const shift = width - digitBits
  const mask = 2 ** digitBits - 1
  const starts = new Uint32Array(mask + 2)
  for (let i = 0; i < count; i++) starts[((codes[i]! >>> shift) & mask) + 1]!++
  for (let index = 0; index <= mask; index++) starts[index + 1]! += starts[index]!
  const ends = starts.slice()
  const sorted = { codes: new Uint32Array(count), positions: new Uint16Array(count) }
  for (let i = 0; i < count; i++) {
    const to = ends[(codes[i]! >>> shift) & mask]!++
    sorted.codes[to] = codes[i]!
    sorted.positions[to] = positions[i]!
  }
  for (let index = 0; index <= mask; index++) sortPart(sorted, starts[index]!, starts[index + 1]!)
  return sorted
}

function sortPart({ codes, positions }: Entries, from: number, to: number): void {
  if (to - from > maxInsertion) {
    sortLongPart({ codes, positions }, from, to)
    return
  }
  for (let i = from + 1; i < to; i++) {
    const code = codes[i]!
    const position = positions[i]!
    let at = i
    for (; at > from && codes[at - 1]! > code; at--) {
      codes[at] = codes[at - 1]!
      positions[at] = positions[at - 1]!
    }
    codes[at] = code
    positions[at] = position
  }
}

/** Sorts by code and position: stable, because entries of one code ascend already. */
function sortLongPart({ codes, positions }: Entries, from: number, to: number): void {
  const keys = new Float64Array(to - from)
  for (let i = from; i < to; i++) keys[i - from] = codes[i]! * 65_536 + positions[i]!
  keys.sort()
  for (let i = from; i < to; i++) {
    const key = keys[i - from]!
    codes[i] = Math.floor(key / 65_536)
    positions[i] = key % 65_536
  }
}

/** Makes a run of entries sorted by code. @param bits H */
export function runOf(sorted: Entries, first: number, documents: number, bits: number): EntryRun {
  const { codes, positions } = sorted
  const starts = new Uint32Array(indexSize + 1)
  const shift = bits - indexBits
  let kept = 0
  for (let i = 0; i < codes.length; i++) {
    const code = codes[i]!
    const position = positions[i]!
    if (kept > 0 && codes[kept - 1] === code && positions[kept - 1] === position) continue
    codes[kept] = code
    positions[kept++] = position
    starts[(code >>> shift) + 1] = kept
  }
  // An index without entries begins where those before it end.
  for (let index = 1; index <= indexSize; index++) starts[index] = Math.max(starts[index]!, starts[index - 1]!)
  return { codes: codes.subarray(0, kept), positions: positions.subarray(0, kept), starts, first, documents }
}

/** Index of a code's first entry, or where it would be. */
export function firstOf({ codes, starts }: EntryRun, code: number, bits: number): number {
  const index = code >>> (bits - indexBits)
  let low = starts[index]!
  let high = starts[index + 1]!
  while (low < high) {
    const middle = (low + high) >>> 1
    if (codes[middle]! < code) low = middle + 1
    else high = middle
  }
  return low
}

/** The run being filled: a list of entries, chained by index, most recent first. */
export class FillingRun {
  readonly #bits: number
  #codes = new Uint32Array(4096)
  #positions = new Uint16Array(4096)
  #next = new Int32Array(4096)
  readonly #heads = new Int32Array(indexSize).fill(-1)
  #count = 0

  constructor(bits: number) {
    this.#bits = bits
  }

  get count(): number {
    return this.#count
  }

  add(code: number, position: number): void {
    const i = this.#count
    if (i === this.#codes.length) this.#grow()
    const index = code >>> (this.#bits - indexBits)
    this.#codes[i] = code
    this.#positions[i] = position
    this.#next[i] = this.#heads[index]!
    this.#heads[index] = i
    this.#count = i + 1
  }

  /** The most recent entry of the code; −1 if there is none. */
  lastOf(code: number): number {
    return this.#find(this.#heads[code >>> (this.#bits - indexBits)]!, code)
  }

  /** The previous entry of the same code; −1 if there is none. */
  before(entry: number): number {
    return this.#find(this.#next[entry]!, this.#codes[entry]!)
  }

  positionOf(entry: number): number {
    return this.#positions[entry]!
  }

  #find(from: number, code: number): number {
    let entry = from
    while (entry >= 0 && this.#codes[entry] !== code) entry = this.#next[entry]!
    return entry
  }

  /** Returns the complete run of all entries and empties this one. */
  complete(first: number, documents: number): EntryRun {
    const sorted = sortEntries({ codes: this.#codes, positions: this.#positions }, this.#count, this.#bits)
    this.#count = 0
    this.#heads.fill(-1)
    return runOf(sorted, first, documents, this.#bits)
  }

  #grow(): void {
    const length = 2 * this.#codes.length
    const codes = new Uint32Array(length)
    const positions = new Uint16Array(length)
    const next = new Int32Array(length)
    codes.set(this.#codes)
    positions.set(this.#positions)
    next.set(this.#next)
    this.#codes = codes
    this.#positions = positions
    this.#next = next
  }
}
