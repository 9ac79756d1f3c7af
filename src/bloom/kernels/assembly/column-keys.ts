/** Column keys, as checkpoints and seals store them (see sharded-bloom/ranges/); the contract is in ../kernels.ts. */

const MAX_SAFE_INTEGER: f64 = 9007199254740991

export function compactKeys(keys: usize, count: u32, members: usize, out: usize): u32 {
  let next = out
  for (let i: u32 = 0; i < count; i++) {
    const key = load<f64>(keys + (<usize>i << 3))
    if (key != key) continue
    const at = members + <usize>(i >>> 3)
    store<u8>(at, load<u8>(at) | <u8>(<u32>1 << (i & 7)))
    store<f64>(next, key)
    next += 8
  }
  return <u32>((next - out) >> 3)
}

export function encodeKeys(keys: usize, count: u32, out: usize): u32 {
  const end = keys + (<usize>count << 3)
  let least: f64 = Infinity
  let greatest: f64 = -Infinity
  let leastBits: u64 = u64.MAX_VALUE
  let greatestBits: u64 = 0
  let areIntegers = true
  for (let at = keys; at < end; at += 8) {
    const key = load<f64>(at)
    least = min(least, key)
    greatest = max(greatest, key)
    areIntegers = areIntegers && trunc(key) == key && abs(key) <= MAX_SAFE_INTEGER
    const bits = load<u64>(at)
    leastBits = min(leastBits, bits)
    greatestBits = max(greatestBits, bits)
  }
  const span = greatest - least
  const width: u32 = count == 0 ? 1 : areIntegers && span <= MAX_SAFE_INTEGER ? bytesOf(<u64>span) : 8
  const bitsWidth: u32 = count == 0 ? 1 : bytesOf(greatestBits - leastBits)
  if (min(width, bitsWidth) == 8) {
    store<u8>(out, 8)
    memory.copy(out + 1, keys, end - keys)
    return 1 + <u32>(end - keys)
  }
  let to = out + 9
  if (width <= bitsWidth) {
    store<u8>(out, <u8>width)
    store<f64>(out, least, 1)
    // What a store writes beyond its key is overwritten by the next one.
    for (let at = keys; at < end; at += 8, to += width) store<u64>(to, <u64>(load<f64>(at) - least))
  } else {
    store<u8>(out, <u8>(bitsWidth | KEY_BITS))
    store<u64>(out, leastBits, 1)
    for (let at = keys; at < end; at += 8, to += bitsWidth) store<u64>(to, load<u64>(at) - leastBits)
  }
  return <u32>(to - out)
}

/** Added to the width of keys stored as bits. */
const KEY_BITS: u32 = 16

/** Bytes of the integer, at least one. */
function bytesOf(integer: u64): u32 {
  return max<u32>(1, <u32>(71 - clz(integer)) >>> 3)
}

export function sampleKeys(keys: usize, count: u32, stride: u32, seen: u32, out: usize): u32 {
  for (const end = keys + (<usize>count << 3); keys < end; keys += 8) {
    const key = load<f64>(keys)
    if (key != key) continue
    if (seen % stride == 0) store<f64>(out + (<usize>(seen / stride) << 3), key)
    seen++
  }
  return seen
}

export function firstKeys(keys: usize, count: u32, next: f64, groups: usize, members: usize): f64 {
  for (let i = <i32>count - 1; i >= 0; i--) {
    const key = load<f64>(keys + (<usize>i << 3))
    if (key == key) {
      next = key
      const at = members + <usize>(i >>> 3)
      store<u8>(at, load<u8>(at) | <u8>(<u32>1 << (i & 7)))
    }
    if ((i & 31) == 0) store<f64>(groups + (<usize>(i >>> 5) << 3), next)
  }
  return next
}

export function zonesOfKeys(keys: usize, count: u32, zones: usize, members: usize): void {
  for (let from: u32 = 0; from < count; from += 32, zones += 16, members += 4) {
    const end = min<u32>(count, from + 32)
    let least: f64 = Infinity
    let greatest: f64 = -Infinity
    let bits: u32 = 0
    for (let i = from; i < end; i++) {
      const key = load<f64>(keys + (<usize>i << 3))
      if (key != key) continue
      least = min(least, key)
      greatest = max(greatest, key)
      bits |= <u32>1 << (i & 31)
    }
    store<f64>(zones, least)
    store<f64>(zones, greatest, 8)
    store<u32>(members, bits)
  }
}
