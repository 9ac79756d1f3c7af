/**
 * The stored keys of a sealed column, in row memory: of a growing column one per group of 32 positions; otherwise the
 * least and greatest of each zone or bin.
 *
 * The other methods REQUIRE find() in the same synchronous step.
 */
import type { RowMemory } from '../../bloom/kernels/index.ts'
import { countWhile } from '../../model/count-while.ts'
import { frameBytes } from '../segment/row-cache.ts'
import type { StoredColumn } from './column-record.ts'
import type { Interval } from './interval.ts'

/** Number of doubles in a frame. */
const keysPerFrame = frameBytes / 8

export class ColumnKeys {
  readonly #memory: RowMemory
  readonly #record: StoredColumn
  /** Address of each frame of keys. */
  readonly #addresses: number[] = []
  /** Number of zones in a span. */
  readonly #spanZones: number
  #spans: Float64Array | undefined

  /** @param spanZones a power of two */
  constructor(memory: RowMemory, record: StoredColumn, spanZones: number) {
    this.#memory = memory
    this.#record = record
    this.#spanZones = spanZones
  }

  /** @param addressOf returns a frame's address, undefined if not in memory. @returns whether all are in memory */
  find(addressOf: (frame: number) => number | undefined): boolean {
    const { firstKeys, keys } = this.#record
    for (let frame = 0; frame < framesOfKeys(keys); frame++) {
      const address = addressOf(firstKeys + frame)
      if (address === undefined) return false
      this.#addresses[frame] = address
    }
    return true
  }

  /** Returns the key of a group of a growing column; past the last group, the column's greatest key. */
  at(group: number): number {
    const { keys, max } = this.#record
    return group === keys ? max : this.keyAt(group)
  }

  /** Returns a stored key by its index. */
  keyAt(number: number): number {
    return this.#memory.f64[this.#addressOf(number) >>> 3]!
  }

  /** Returns the groups of a growing column that overlap the interval: first ≤ group < end. */
  within({ low, high }: Interval): { readonly first: number; readonly end: number } {
    const { keys } = this.#record
    return {
      first: countWhile(keys, (group) => this.at(group + 1) < low),
      end: countWhile(keys, (group) => this.at(group) <= high)
    }
  }

  /** Address of a zone's least key, followed by its greatest; the zones of a span are adjacent. */
  addressOfZone(zone: number): number {
    return this.#addressOf(2 * zone)
  }

  /** Returns the least and greatest key over all zones of each span, in turn; computed once. */
  spans(): Float64Array {
    if (this.#spans !== undefined) return this.#spans
    const zones = this.#record.keys / 2
    const { f64 } = this.#memory
    const spans = new Float64Array(2 * Math.ceil(zones / this.#spanZones))
    for (let span = 0; span < spans.length / 2; span++) {
      let least = Number.POSITIVE_INFINITY
      let greatest = Number.NEGATIVE_INFINITY
      const end = Math.min(zones, (span + 1) * this.#spanZones)
      for (let zone = span * this.#spanZones; zone < end; zone++) {
        const at = this.addressOfZone(zone) >>> 3
        least = Math.min(least, f64[at]!)
        greatest = Math.max(greatest, f64[at + 1]!)
      }
      spans[2 * span] = least
      spans[2 * span + 1] = greatest
    }
    this.#spans = spans
    return spans
  }

  #addressOf(key: number): number {
    return this.#addresses[Math.floor(key / keysPerFrame)]! + 8 * (key % keysPerFrame)
  }
}

export function framesOfKeys(keys: number): number {
  return Math.ceil(keys / keysPerFrame)
}
