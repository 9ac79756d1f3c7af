/** Little-endian words at any offset, without the views and checks of DataView. The caller has checked the bounds. */

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

/** An integer below 2^53 out of 64 bits; the answer for a larger one is some number ≥ 2^53. */
export function readU53(bytes: Uint8Array, at: number): number {
  return readU32(bytes, at) + readU32(bytes, at + 4) * 0x1_0000_0000
}

/** REQUIRES: an integer in 0…2^53 − 1. */
export function writeU53(bytes: Uint8Array, at: number, value: number): void {
  writeU32(bytes, at, value)
  writeU32(bytes, at + 4, Math.floor(value / 0x1_0000_0000))
}

/** From this many bytes on, a call into C++ beats a loop. */
const longCopy = 48

/** Copies source[start, end) to target[at, …). REQUIRES: they do not overlap. */
export function copyBytes(source: Uint8Array, start: number, end: number, target: Uint8Array, at: number): void {
  if (end - start >= longCopy) {
    target.set(source.subarray(start, end), at)
    return
  }
  for (let from = start, to = at; from < end; from++, to++) target[to] = source[from]!
}

/** From this many bytes on, fill() beats set() where memory is shared. */
const longSharedCopy = 256

/**
 * Copies the whole source to target[at, …), where one of them is memory that threads share: TypedArray's set() takes such
 * memory word by word, with an atomic access each, which costs nine times as much as fill() where there is much to copy.
 * REQUIRES: nobody writes to either meanwhile.
 */
export function copyShared(source: Uint8Array, target: Buffer, at: number): void {
  if (source.length >= longSharedCopy) target.fill(source, at, at + source.length)
  else copyBytes(source, 0, source.length, target, at)
}
