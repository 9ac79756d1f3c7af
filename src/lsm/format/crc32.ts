/** CRC-32 as zlib's, of ranges: a call into it, and the view that the call needs, cost more than a loop over few bytes. */
import { crc32 } from 'node:zlib'

/** From this many bytes on, a call into C++ beats a loop. */
const longRange = 64
const polynomial = 0xedb88320

const table = Int32Array.from({ length: 256 }, (_, byte) => {
  let word = byte
  for (let bit = 0; bit < 8; bit++) word = (word >>> 1) ^ (word & 1 ? polynomial : 0)
  return word
})

/**
 * The checksum of bytes[start, end), going on from that of the bytes before.
 * @returns unsigned 32 bits
 */
export function crc32Of(bytes: Uint8Array, start: number, end: number, before = 0): number {
  if (end - start >= longRange) return crc32(bytes.subarray(start, end), before)
  let crc = ~before
  for (let at = start; at < end; at++) crc = (crc >>> 8) ^ table[(crc ^ bytes[at]!) & 0xff]!
  return ~crc >>> 0
}
