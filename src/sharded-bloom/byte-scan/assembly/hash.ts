/** The hash of bloom/murmur-hasher.ts and bloom/pair-mixer.ts, bit for bit: see there. A hash is hi << 32 | lo. */
const TAG_FACTOR: u32 = 0x9e3779b1

// @ts-ignore: decorator
@inline
export function laneA(seedLo: u32, tag: u32): u32 {
  return seedLo ^ (tag * TAG_FACTOR)
}

// @ts-ignore: decorator
@inline
export function mixA(a: u32, b: u32, word: u32): u32 {
  const mixed = a ^ (rotl<u32>(word * 0x239b961b, 15) * 0xab0e9789)
  return (rotl<u32>(mixed, 19) + b) * 5 + 0x561ccd1b
}

// @ts-ignore: decorator
@inline
export function mixB(a: u32, b: u32, word: u32): u32 {
  const mixed = b ^ (rotl<u32>(word * 0xab0e9789, 16) * 0x38b34ae5)
  return (rotl<u32>(mixed, 17) + a) * 5 + 0x0bcaa747
}

// @ts-ignore: decorator
@inline
export function finish(a: u32, b: u32, length: u32): u64 {
  const crossed = b ^ length
  let lo = (a ^ length) + crossed
  let hi = rotl<u32>(crossed, 13) + lo
  lo = (lo ^ (lo >>> 16)) * 0x85ebca6b
  hi = (hi ^ (hi >>> 16)) * 0xc2b2ae35
  lo += rotl<u32>(hi, 16)
  hi += rotl<u32>(lo, 16)
  lo = (lo ^ (lo >>> 15)) * 0x85ebca6b
  hi = (hi ^ (hi >>> 15)) * 0xc2b2ae35
  lo ^= rotl<u32>(hi, 16)
  hi += rotl<u32>(lo, 15)
  lo ^= lo >>> 16
  hi ^= hi >>> 15
  return (<u64>hi << 32) | <u64>lo
}

// @ts-ignore: decorator
@inline
export function hashDouble(seedLo: u32, seedHi: u32, tag: u32, value: f64): u64 {
  const bits = reinterpret<u64>(value)
  const a = mixA(laneA(seedLo, tag), seedHi, <u32>bits)
  return finish(a, mixB(a, seedHi, <u32>(bits >>> 32)), 4)
}
