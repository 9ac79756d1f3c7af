/**
 * The keys of a sealed column where they lie in row memory: one for each group of 32 positions of a growing column, least and
 * greatest for each zone, and for each bin.
 *
 * What is asked for below REQUIRES: find(), in the same step.
 */
import type { RowMemory } from '../../bloom/kernels/index.ts'
import { frameBytes } from '../segment/row-cache.ts'
import type { StoredColumn } from './column-record.ts'
import { countWhile } from './count-while.ts'
import type { Interval } from './interval.ts'

/** Doubles of a frame. */
const keysPerFrame = frameBytes / 8

export class ColumnKeys {
  readonly #memory: RowMemory
  readonly #record: StoredColumn
  /** Address of each frame of keys. */
  readonly #addresses: number[] = []
  /** Zones of a span. */
  readonly #spanZones: number
  #spans: Float64Array | undefined

  /** @param spanZones a power of two */
  constructor(memory: RowMemory, record: StoredColumn, spanZones: number) {
    this.#memory = memory
    this.#record = record
    this.#spanZones = spanZones
  }

  /** @param addressOf the address of a frame of keys, undefined for one that is not in memory. @returns whether all are */
  find(addressOf: (frame: number) => number | undefined): boolean {
    const { firstKeys, keys } = this.#record
    for (let frame = 0; frame < framesOfKeys(keys); frame++) {
      const address = addressOf(firstKeys + frame)
      if (address === undefined) return false
      this.#addresses[frame] = address
    }
    return true
  }

  /** The key of a group of a growing column, or the column's greatest behind the last one. */
  at(group: number): number {
    const { keys, max } = this.#record
    return group === keys ? max : this.keyAt(group)
  }

  /** A key by its number among those that are stored. */
  keyAt(number: number): number {
    return this.#memory.f64[this.#addressOf(number) >>> 3]!
  }

  /** The groups of a growing column that reach into the interval: first ≤ group < end. */
  within({ low, high }: Interval): { readonly first: number; readonly end: number } {
    const { keys } = this.#record
    return {
      first: countWhile(keys, (group) => this.at(group + 1) < low),
      end: countWhile(keys, (group) => this.at(group) <= high)
    }
  }

  /** Where least and greatest key of a zone stand; those of its span stand together. */
  addressOfZone(zone: number): number {
    return this.#addressOf(2 * zone)
  }

  /** Least and greatest key of all zones of each span, in turn; found out once. */
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
