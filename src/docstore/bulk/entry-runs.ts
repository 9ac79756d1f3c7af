/** Runs of a unit's entries, assembled in memory that the next run reuses. */
import type { EntryRun } from '../../lsm/ingest/ingest-tables.ts'
import { ordinalBytes, writeOrdinal } from '../store/layout.ts'
import { CountingDigits, maxDigits } from '../store/ordinal-digits.ts'
import type { LoadedIds } from './load-unit.ts'

/** Maximum number of entries in a run. */
export const runEntries = 64
/** Maximum key bytes of a run with more than one entry. */
const maxKeyBytes = 64 << 10

/** Documents as they are in a unit's lines, with consecutive ordinals. */
export class DocumentRun {
  readonly #prefixBytes: number
  readonly #keys: Uint8Array
  readonly #keyEnds: Uint32Array

  constructor(prefix: Uint8Array) {
    const keyBytes = prefix.length + ordinalBytes
    this.#prefixBytes = prefix.length
    this.#keys = new Uint8Array(runEntries * keyBytes)
    this.#keyEnds = Uint32Array.from({ length: runEntries }, (_, i) => (i + 1) * keyBytes)
    for (let i = 0; i < runEntries; i++) this.#keys.set(prefix, i * keyBytes)
  }

  /**
   * @param count at most runEntries @param places start and end of each value, alternating; the first value is number
   *   `firstPlace`
   */
  of(firstOrdinal: number, count: number, values: Uint8Array, places: Uint32Array, firstPlace: number): EntryRun {
    const keyBytes = this.#prefixBytes + ordinalBytes
    for (let i = 0; i < count; i++) writeOrdinal(this.#keys, i * keyBytes + this.#prefixBytes, firstOrdinal + i)
    return { count, keys: this.#keys, keyEnds: this.#keyEnds, values, valuePlaces: places, firstPlace }
  }
}

/** Yields runs of the id table, which maps each `_id` to the digits of its ordinal. */
export function* idRuns(prefix: Uint8Array, { keys, ends }: LoadedIds, firstOrdinal: number): Generator<EntryRun> {
  const keyEnds = new Uint32Array(runEntries)
  const digits = new Uint8Array(runEntries * maxDigits)
  const digitPlaces = new Uint32Array(2 * runEntries)
  const ordinal = new CountingDigits(firstOrdinal)
  let scratch = new Uint8Array(0)
  let start = 0
  let count = 0
  for (let first = 0; first < ends.length; first += count) {
    /** Keys that may begin where those of the previous run did: their prefixes are there. */
    let aligned = count
    count = Math.min(runEntries, ends.length - first)
    while (count > 1 && ends[first + count - 1]! - start > maxKeyBytes) count >>= 1
    const bytes = count * prefix.length + ends[first + count - 1]! - start
    if (scratch.length < bytes) {
      scratch = new Uint8Array(2 * bytes)
      aligned = 0
    }
    let at = 0
    let digitsAt = 0
    for (let i = 0; i < count; i++) {
      if (i < aligned) at += prefix.length
      else for (let from = 0; from < prefix.length; from++) scratch[at++] = prefix[from]!
      for (const end = ends[first + i]!; start < end; start++) scratch[at++] = keys[start]!
      if (keyEnds[i] !== at) aligned = 0
      keyEnds[i] = at
      digitPlaces[2 * i] = digitsAt
      digitsAt = ordinal.writeTo(digits, digitsAt)
      digitPlaces[2 * i + 1] = digitsAt
      ordinal.increment()
    }
    yield { count, keys: scratch, keyEnds, values: digits, valuePlaces: digitPlaces, firstPlace: 0 }
  }
}
