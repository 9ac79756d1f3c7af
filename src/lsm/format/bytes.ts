/** Little-endian words at any offset, without the views and checks of DataView. The caller has to check the bounds. */

/** Unsigned 32 bits. */
export function readU32(bytes: Uint8Array, at: number): number {
  return (bytes[at]! | (bytes[at + 1]! << 8) | (bytes[at + 2]! << 16) | (bytes[at + 3]! << 24)) >>> 0
}

export function writeU32(bytes: Uint8Array, at: number, value: number): void {
  bytes[at] = value
  bytes[at + 1] = value >>> 8
  bytes[at + 2] = value >>> 16
  bytes[at + 3] = value >>> 24
}

/** Reads a 64-bit integer below 2^53; a larger one yields some number ≥ 2^53. */
export function readU53(bytes: Uint8Array, at: number): number {
  return readU32(bytes, at) + readU32(bytes, at + 4) * 0x1_0000_0000
}

/** REQUIRES: an integer in 0…2^53 − 1. */
export function writeU53(bytes: Uint8Array, at: number, value: number): void {
  writeU32(bytes, at, value)
  writeU32(bytes, at + 4, Math.floor(value / 0x1_0000_0000))
}
