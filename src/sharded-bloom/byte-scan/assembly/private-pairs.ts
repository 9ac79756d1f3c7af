/**
 * The private pairs of the segment being filled: maps a hash and a pair to the slot of its row.
 *
 * Invariant: after the hash, a pair is compared by node, tag and key, as in ../../segment/private-table.ts.
 */
import { PAIR_ADDRESSES, PAIR_BYTES, PAIR_MARKS, PAIRS } from './layout'

/** Fields of a pair: node, tag (with WIDE for UTF-16 units), slot, and the text's address and length or the double. */
const NODE: usize = 0
const TAG: usize = 4
const SLOT: usize = 8
const TEXT: usize = 16
const LENGTH: usize = 20
const VALUE: usize = 16
export const WIDE: u32 = 0x100

let pairCount: u32 = 0
let bucketMask: u32 = 0

/**
 * Begins another segment, without pairs. `buckets`, a power of two, have room for twice its expected number of pairs.
 */
export function resetTable(buckets: u32): void {
  pairCount = 0
  bucketMask = buckets - 1
  memory.fill(PAIR_MARKS, 0, <usize>buckets << 4)
}

/** Adds a pair with a text: ASCII bytes, or UTF-16 units when the tag has WIDE. REQUIRES: room for it. */
export function addTextPair(lo: u32, hi: u32, node: usize, tag: u32, slot: u32, text: usize, length: u32): void {
  const pair = addPair(lo, hi, node, tag, slot)
  store<u32>(pair, <u32>text, TEXT)
  store<u32>(pair, length, LENGTH)
}

export function addDoublePair(lo: u32, hi: u32, node: usize, tag: u32, slot: u32, value: f64): void {
  store<f64>(addPair(lo, hi, node, tag, slot), value, VALUE)
}

function addPair(lo: u32, hi: u32, node: usize, tag: u32, slot: u32): usize {
  const pair = PAIRS + <usize>(pairCount++) * PAIR_BYTES
  store<u32>(pair, <u32>node, NODE)
  store<u32>(pair, tag, TAG)
  store<u32>(pair, slot, SLOT)
  let place = <usize>(lo & bucketMask) << 4
  while (load<u8>(PAIR_MARKS + place) != 0) place = (place + 1) & ((<usize>bucketMask << 4) | 15)
  store<u8>(PAIR_MARKS + place, <u8>markOf(hi))
  store<u32>(PAIR_ADDRESSES + (place << 2), <u32>pair)
  return pair
}

// @ts-ignore: decorator
@inline
function markOf(hi: u32): u32 {
  return (hi >>> 24) | 1
}

/** @returns −1 for none */
export function findDouble(hash: u64, node: usize, tag: u32, value: f64): i32 {
  const mark = i8x16.splat(<i8>markOf(<u32>(hash >>> 32)))
  let bucket = <u32>hash & bucketMask
  while (true) {
    const first = <usize>bucket << 4
    const marks = v128.load(PAIR_MARKS + first)
    for (let matches = i8x16.bitmask(i8x16.eq(marks, mark)); matches != 0; matches &= matches - 1) {
      const pair = <usize>load<u32>(PAIR_ADDRESSES + ((first + <usize>ctz(matches)) << 2))
      if (load<u32>(pair, NODE) != <u32>node || load<u32>(pair, TAG) != tag) continue
      if (load<u64>(pair, VALUE) == reinterpret<u64>(value)) return load<i32>(pair, SLOT)
    }
    // A bucket with room has passed no pair on to the next one.
    if (!i8x16.all_true(marks)) return -1
    bucket = (bucket + 1) & bucketMask
  }
}

/** @param text ASCII bytes, or UTF-16 units when the tag has WIDE. @returns −1 for none */
export function findText(hash: u64, node: usize, tag: u32, text: usize, length: u32): i32 {
  const mark = i8x16.splat(<i8>markOf(<u32>(hash >>> 32)))
  let bucket = <u32>hash & bucketMask
  while (true) {
    const first = <usize>bucket << 4
    const marks = v128.load(PAIR_MARKS + first)
    for (let matches = i8x16.bitmask(i8x16.eq(marks, mark)); matches != 0; matches &= matches - 1) {
      const pair = <usize>load<u32>(PAIR_ADDRESSES + ((first + <usize>ctz(matches)) << 2))
      if (load<u32>(pair, NODE) != <u32>node || load<u32>(pair, TAG) != tag) continue
      if (load<u32>(pair, LENGTH) != length) continue
      const bytes = (tag & WIDE) != 0 ? <usize>length << 1 : <usize>length
      if (equalBytes(text, load<u32>(pair, TEXT), bytes)) return load<i32>(pair, SLOT)
    }
    if (!i8x16.all_true(marks)) return -1
    bucket = (bucket + 1) & bucketMask
  }
}

/** May load, but does not compare, up to seven bytes beyond. */
// @ts-ignore: decorator
@inline
function equalBytes(a: usize, b: usize, length: usize): bool {
  if (length < 8) return ((load<u64>(a) ^ load<u64>(b)) & ((<u64>1 << (<u64>length << 3)) - 1)) == 0
  const last = length - 8
  for (let i: usize = 0; i < last; i += 8) if (load<u64>(a + i) != load<u64>(b + i)) return false
  return load<u64>(a + last) == load<u64>(b + last)
}
