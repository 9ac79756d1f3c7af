/**
 * The order of zone values, and their order-preserving encoding in files.
 *
 * Numbers come before strings; strings are ordered by their UTF-8 bytes (a lone surrogate counts as U+FFFD). A bound
 * in a zone map is at most `maxBoundBytes` long: a longer minimum is rounded down, a longer maximum up, so that a zone
 * always covers its values.
 */
import type { ZoneValue } from './extractor.ts'

/** A tag and 32 bytes. */
export const maxBoundBytes = 33

const numberTag = 1
const stringTag = 2

const scratch = new DataView(new ArrayBuffer(8))

/** NaN has no place in the order. */
export function isZoneValue(value: ZoneValue): boolean {
  return typeof value === 'string' || !Number.isNaN(value)
}

/** Negative, 0 or positive. −0 equals 0. */
export function compareZoneValues(a: ZoneValue, b: ZoneValue): number {
  if (typeof a === 'number') return typeof b === 'number' ? (a < b ? -1 : a > b ? 1 : 0) : -1
  return typeof b === 'number' ? 1 : compareStrings(a, b)
}

export function encodeZoneValue(value: ZoneValue): Uint8Array {
  if (typeof value === 'string') {
    const bytes = new Uint8Array(1 + Buffer.byteLength(value))
    bytes[0] = stringTag
    Buffer.from(bytes.buffer).write(value, 1)
    return bytes
  }
  // Adding 0 turns −0 into 0.
  scratch.setFloat64(0, value + 0)
  const bytes = new Uint8Array(9)
  bytes[0] = numberTag
  // Doubles order like their bits if the sign bit of positive ones, and all bits of negative ones, are flipped.
  const isNegative = (scratch.getUint8(0) & 0x80) !== 0
  for (let i = 0; i < 8; i++) bytes[i + 1] = scratch.getUint8(i) ^ (isNegative ? 0xff : i === 0 ? 0x80 : 0)
  return bytes
}

/** A bound not greater than the value. */
export function lowerBound(value: ZoneValue): Uint8Array {
  return encodeZoneValue(value).subarray(0, maxBoundBytes)
}

/** A bound not less than the value. */
export function upperBound(value: ZoneValue): Uint8Array {
  const bytes = encodeZoneValue(value)
  if (bytes.length <= maxBoundBytes) return bytes
  const bound = bytes.slice(0, maxBoundBytes)
  // The highest byte in UTF-8 is 0xf4, so it can always be incremented.
  bound[maxBoundBytes - 1] = (bound[maxBoundBytes - 1] ?? 0) + 1
  return bound
}

function compareStrings(a: string, b: string): number {
  const shared = Math.min(a.length, b.length)
  for (let i = 0; i < shared; i++) {
    const unitA = a.charCodeAt(i)
    const unitB = b.charCodeAt(i)
    if (unitA === unitB) continue
    // From the surrogates on, UTF-16 code units order differently from UTF-8 bytes.
    if (unitA < 0xd800 && unitB < 0xd800) return unitA - unitB
    return Buffer.compare(Buffer.from(a), Buffer.from(b))
  }
  return a.length - b.length
}
