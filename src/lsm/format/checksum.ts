/** Block checksums, which detect damaged blocks and intact blocks in the wrong place. */
import { crc32 } from 'node:zlib'

/**
 * CRC-32 of bytes[start, end), seeded with their place: the same bytes at another offset or in another file have a
 * different checksum.
 * @param number of the file
 * @param offset in the file
 * @returns unsigned 32 bits
 */
export function blockChecksum(bytes: Uint8Array, start: number, end: number, number: number, offset: number): number {
  return crc32(bytes.subarray(start, end), placeSeed(number, offset))
}

/** The checksum seed for a block of this file at this offset. */
export function placeSeed(number: number, offset: number): number {
  let h = Math.imul(number, 0x9e3779b1) ^ Math.imul(offset | 0, 0x85ebca6b)
  h = Math.imul(h ^ (h >>> 15), 0x2c1b3c6d) ^ Math.floor(offset / 0x1_0000_0000)
  h = Math.imul(h ^ (h >>> 12), 0x297a2d39)
  return (h ^ (h >>> 15)) >>> 0
}
