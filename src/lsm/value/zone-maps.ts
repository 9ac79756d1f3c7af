/**
 * Zone maps: the least and greatest values of selected fields, per table and per block.
 *
 * A zone without bounds means that no entry has the field. Like value filters, zones rule out values, never versions
 * that hide others: tombstones take no part.
 *
 * Encoding of a zone: length of the minimum u8 (0: no bounds), minimum, length of the maximum u8, maximum. A section
 * of block zones: number of blocks u32, number of fields u8, then the zones block by block.
 */
import { writeU32 } from '../format/bytes.ts'
import { compareKeys, compareRanges } from '../format/entry.ts'
import type { Decoder } from './decoder.ts'
import type { ZoneValue } from './extractor.ts'
import { compareZoneValues, encodeZoneValue, isZoneValue, lowerBound, maxBoundBytes, upperBound } from './zone-value.ts'

/** Bounds, as encoded by zone-value.ts. */
export interface Zone {
  readonly smallest: Uint8Array
  readonly largest: Uint8Array
}

/** The range of a lookup; bounds are inclusive, an undefined one is open. */
export interface ZoneRange {
  readonly low: ZoneValue | undefined
  readonly high: ZoneValue | undefined
}

/** A range encoded once for comparison with many zones. */
export interface EncodedRange {
  readonly low: Uint8Array | undefined
  readonly high: Uint8Array | undefined
}

/** Tracks the least and greatest values of every field among the entries since the last reset. */
export class ZoneCollector {
  readonly #smallest: (ZoneValue | undefined)[]
  readonly #largest: (ZoneValue | undefined)[]

  constructor(fields: number) {
    this.#smallest = new Array(fields).fill(undefined)
    this.#largest = new Array(fields).fill(undefined)
  }

  add(field: number, value: ZoneValue): void {
    if (!isZoneValue(value)) return
    const smallest = this.#smallest[field]
    if (smallest === undefined || compareZoneValues(value, smallest) < 0) this.#smallest[field] = value
    const largest = this.#largest[field]
    if (largest === undefined || compareZoneValues(value, largest) > 0) this.#largest[field] = value
  }

  /** Adds everything another collector has seen. */
  merge(other: ZoneCollector): void {
    other.#smallest.forEach((value, field) => {
      if (value !== undefined) this.add(field, value)
    })
    other.#largest.forEach((value, field) => {
      if (value !== undefined) this.add(field, value)
    })
  }

  zones(): (Zone | undefined)[] {
    return this.#smallest.map((smallest, field) => {
      const largest = this.#largest[field]
      if (smallest === undefined || largest === undefined) return undefined
      return { smallest: lowerBound(smallest), largest: upperBound(largest) }
    })
  }

  reset(): void {
    this.#smallest.fill(undefined)
    this.#largest.fill(undefined)
  }
}

export function encodeRange({ low, high }: ZoneRange): EncodedRange {
  return {
    low: low === undefined ? undefined : encodeZoneValue(low),
    high: high === undefined ? undefined : encodeZoneValue(high)
  }
}

/** Whether an entry in the zone may have a value in the range. */
export function mayOverlap(zone: Zone | undefined, range: EncodedRange): boolean {
  if (zone === undefined) return false
  return (
    (range.high === undefined || compareKeys(zone.smallest, range.high) <= 0) &&
    (range.low === undefined || compareKeys(zone.largest, range.low) >= 0)
  )
}

export function isInRange(value: ZoneValue, { low, high }: ZoneRange): boolean {
  return (
    isZoneValue(value) &&
    (low === undefined || compareZoneValues(value, low) >= 0) &&
    (high === undefined || compareZoneValues(value, high) <= 0)
  )
}

/** @param blocks zones of each block, in field order */
export function encodeBlockZones(blocks: readonly (readonly (Zone | undefined)[])[], fields: number): Uint8Array {
  const parts: Uint8Array[] = [new Uint8Array(5)]
  writeU32(parts[0] as Uint8Array, 0, blocks.length)
  parts[0]?.fill(fields, 4)
  for (const zones of blocks) for (const zone of zones) parts.push(encodeZone(zone))
  return Buffer.concat(parts)
}

/** Blocks, ascending, whose zone of one field may overlap the range. @throws LEVEL_CORRUPTION */
export function overlappingBlocks(decoder: Decoder, field: number, blockCount: number, range: EncodedRange): number[] {
  const blocks = decoder.u32('number of blocks')
  const fields = decoder.byte('number of fields')
  if (blocks !== blockCount || field >= fields) {
    throw decoder.damaged(`zones of ${blocks} blocks and ${fields} fields, expected ${blockCount} blocks`)
  }
  const bytes = decoder.take(decoder.rest, 'zones')
  const found: number[] = []
  let at = 0
  for (let block = 0; block < blocks; block++) {
    for (let i = 0; i < fields; i++) {
      const smallest = at + 1
      const smallestEnd = smallest + (bytes[at] ?? 0)
      const largest = smallestEnd + 1
      // An empty zone is one byte.
      at = smallestEnd === smallest ? smallest : largest + (bytes[smallestEnd] ?? 0)
      if (i !== field || smallestEnd === smallest || at > bytes.length) continue
      if (overlapsRange(bytes, smallest, smallestEnd, largest, at, range)) found.push(block)
    }
  }
  if (at !== bytes.length) throw decoder.damaged(`zones of ${at} bytes in a section of ${bytes.length}`)
  return found
}

function overlapsRange(
  bytes: Uint8Array,
  smallest: number,
  smallestEnd: number,
  largest: number,
  largestEnd: number,
  { low, high }: EncodedRange
): boolean {
  return (
    (high === undefined || compareRanges(bytes, smallest, smallestEnd, high, 0, high.length) <= 0) &&
    (low === undefined || compareRanges(bytes, largest, largestEnd, low, 0, low.length) >= 0)
  )
}

export function encodeZone(zone: Zone | undefined): Uint8Array {
  if (zone === undefined) return Uint8Array.of(0)
  const { smallest, largest } = zone
  const bytes = new Uint8Array(2 + smallest.length + largest.length)
  bytes[0] = smallest.length
  bytes.set(smallest, 1)
  bytes[1 + smallest.length] = largest.length
  bytes.set(largest, 2 + smallest.length)
  return bytes
}

/** @throws LEVEL_CORRUPTION */
export function decodeZone(decoder: Decoder): Zone | undefined {
  const length = decoder.byte('zone')
  if (length === 0) return undefined
  const smallest = decoder.take(length, 'minimum')
  const largest = decoder.take(decoder.byte('zone'), 'maximum')
  if (length > maxBoundBytes || largest.length > maxBoundBytes || compareKeys(smallest, largest) > 0) {
    throw decoder.damaged('a zone has bounds that are too long or in the wrong order')
  }
  return { smallest, largest }
}
