/** zlib's CRC-32 over ranges. For a few bytes a loop is cheaper than the call into C++ and the view that it needs. */
import { crc32 } from 'node:zlib'
import { crcTable } from '../crc-table.ts'

/** From this many bytes on, a call into C++ beats the loop. */
const longRange = 64
const table = crcTable(0xedb8_8320)

/**
 * The checksum of bytes[start, end), continuing from that of the preceding bytes.
 * @returns unsigned 32 bits
 */
export function crc32Of(bytes: Uint8Array, start: number, end: number, before = 0): number {
  if (end - start >= longRange) return crc32(bytes.subarray(start, end), before)
  let crc = ~before
  for (let at = start; at < end; at++) crc = (crc >>> 8) ^ table[(crc ^ bytes[at]!) & 0xff]!
  return ~crc >>> 0
}
