/**
 * Varints: unsigned integers below 2^53, seven bits per byte, lowest first; the top bit says that more bytes follow.
 *
 * Every number has exactly one encoding: an overlong one is refused, so that equal data has equal bytes.
 */

/** Size of the longest encoding, of 2^53 − 1. */
export const maxVarintBytes = 8

/** Size of the encoding of `value`. */
export function varintBytes(value: number): number {
  if (value < 0x80) return 1
  if (value < 0x4000) return 2
  if (value < 0x20_0000) return 3
  if (value < 0x1000_0000) return 4
  if (value < 0x8_0000_0000) return 5
  if (value < 0x400_0000_0000) return 6
  return value < 0x2_0000_0000_0000 ? 7 : 8
}

/**
 * Writes `value` at `offset`; returns the offset after it.
 * REQUIRES: an integer in 0…2^53 − 1, and room for varintBytes(value).
 */
export function writeVarint(target: Uint8Array, offset: number, value: number): number {
  let rest = value
  let at = offset
  // Numbers beyond int32 need division; shifts would truncate them.
  while (rest >= 0x8000_0000) {
    target[at++] = (rest % 0x80) | 0x80
    rest = Math.floor(rest / 0x80)
  }
  while (rest >= 0x80) {
    target[at++] = (rest & 0x7f) | 0x80
    rest >>>= 7
  }
  target[at++] = rest
  return at
}

/** The number at `offset`, or −1 if it is cut off at `end`, overlong or too large. Its size is varintBytes(number). */
export function readVarint(bytes: Uint8Array, offset: number, end: number): number {
  let value = 0
  let scale = 1
  for (let at = offset; at < end && at < offset + maxVarintBytes; at++) {
    const byte = bytes[at]!
    value += (byte & 0x7f) * scale
    if (byte < 0x80) {
      const isOverlong = byte === 0 && at > offset
      return isOverlong || value > Number.MAX_SAFE_INTEGER ? -1 : value
    }
    scale *= 0x80
  }
  return -1
}
