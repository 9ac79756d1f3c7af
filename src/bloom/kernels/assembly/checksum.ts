/** The same arithmetic as in sharded-bloom/records/checksum.ts; the contract is in ../kernels.ts. */

export function checksum(address: usize, length: u32, seed: u32): u32 {
  let h = seed
  const whole = address + <usize>(length & ~3)
  let at = address
  for (; at < whole; at += 4) h = rotl<u32>(h ^ scramble(load<u32>(at)), 13) * 5 + 0xe6546b64
  let tail: u32 = 0
  for (let end = address + <usize>length; end > whole; ) tail = (tail << 8) | <u32>load<u8>(--end)
  h ^= scramble(tail) ^ length
  h = (h ^ (h >>> 16)) * 0x85ebca6b
  h = (h ^ (h >>> 13)) * 0xc2b2ae35
  return h ^ (h >>> 16)
}

// @ts-ignore: decorator
@inline
function scramble(word: u32): u32 {
  return rotl<u32>(word * 0xcc9e2d51, 15) * 0x1b873593
}
