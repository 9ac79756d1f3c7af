/** The checksum seed for a block of this file at this offset: see format/checksum.ts. */
export function placeSeed(number: u32, offset: u64): u32 {
  let h: u32 = (number * 0x9e3779b1) ^ (<u32>offset * 0x85ebca6b)
  h = ((h ^ (h >> 15)) * 0x2c1b3c6d) ^ <u32>(offset >> 32)
  h = (h ^ (h >> 12)) * 0x297a2d39
  return h ^ (h >> 15)
}
