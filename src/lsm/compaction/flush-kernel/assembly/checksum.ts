/** CRC-32 as zlib's, sixteen bytes at a time, and the seed that says where a block stands. See format/checksum.ts. */

const POLYNOMIAL: u32 = 0xedb88320
/** Sixteen tables of a kibibyte, behind the hash table of LZ4. */
const TABLES: usize = 0x4000

/** Fills the tables. */
export function makeChecksumTables(): void {
  for (let byte: u32 = 0; byte < 256; byte++) {
    let word = byte
    for (let bit = 0; bit < 8; bit++) word = (word >> 1) ^ ((word & 1) != 0 ? POLYNOMIAL : 0)
    store<u32>(TABLES + (<usize>byte << 2), word)
  }
  for (let at: usize = 0x400; at < 0x4000; at += 4) {
    const word = load<u32>(TABLES + at - 0x400)
    store<u32>(TABLES + at, (word >> 8) ^ load<u32>(TABLES + (<usize>(word & 0xff) << 2)))
  }
}

@inline
function step(table: usize, word: u32, shift: u32): u32 {
  return load<u32>(TABLES + (table << 10) + (<usize>((word >> shift) & 0xff) << 2))
}

/** The checksum of [start, end), going on from that of the bytes before. */
export function checksum(start: usize, end: usize, before: u32): u32 {
  let crc = ~before
  let at = start
  for (; at + 16 <= end; at += 16) {
    const a = load<u32>(at) ^ crc
    const b = load<u32>(at, 4)
    const c = load<u32>(at, 8)
    const d = load<u32>(at, 12)
    crc = step(15, a, 0) ^ step(14, a, 8) ^ step(13, a, 16) ^ step(12, a, 24)
    crc ^= step(11, b, 0) ^ step(10, b, 8) ^ step(9, b, 16) ^ step(8, b, 24)
    crc ^= step(7, c, 0) ^ step(6, c, 8) ^ step(5, c, 16) ^ step(4, c, 24)
    crc ^= step(3, d, 0) ^ step(2, d, 8) ^ step(1, d, 16) ^ step(0, d, 24)
  }
  for (; at < end; at++) crc = (crc >> 8) ^ step(0, crc ^ <u32>load<u8>(at), 0)
  return ~crc
}

/** Where a checksum begins for a block of this file at this offset. */
export function placeSeed(number: u32, offset: u64): u32 {
  let h: u32 = (number * 0x9e3779b1) ^ (<u32>offset * 0x85ebca6b)
  h = ((h ^ (h >> 15)) * 0x2c1b3c6d) ^ <u32>(offset >> 32)
  h = (h ^ (h >> 12)) * 0x297a2d39
  return h ^ (h >> 15)
}
