/**
 * Keys, codes and their slices (see sharded-bloom/ranges/); the contract of every function is in ../kernels.ts, the
 * invariants in ./index.ts.
 */
const ZERO: v128 = i64x2.splat(0)
const ONES: v128 = i64x2.splat(-1)

export function keysBetween(keys: usize, count: u32, low: f64, high: f64, out: usize): void {
  const lows = f64x2.splat(low)
  const highs = f64x2.splat(high)
  for (const end = keys + (<usize>count << 3); keys < end; keys += 64, out++) {
    store<u8>(out, between(keys, lows, highs)
      | (between(keys + 16, lows, highs) << 2)
      | (between(keys + 32, lows, highs) << 4)
      | (between(keys + 48, lows, highs) << 6))
  }
}

// @ts-ignore: decorator
@inline
function between(keys: usize, lows: v128, highs: v128): u8 {
  const pair = v128.load(keys)
  return <u8>i64x2.bitmask(v128.and(f64x2.ge(pair, lows), f64x2.le(pair, highs)))
}

export function zonesBetween(zones: usize, count: u32, low: f64, high: f64, isUpper: u32, sixteenths: usize, at: usize, out: usize): void {
  const lows = f64x2.splat(low)
  const highs = f64x2.splat(high)
  for (const end = zones + (<usize>(count & ~3) << 4); zones < end; zones += 64, at += 16) {
    const left = zonesReached(zones, lows, highs)
    const right = zonesReached(zones + 32, lows, highs)
    const reached = v128.shuffle<u32>(left, right, 0, 2, 4, 6)
    v128.store(out + at, reached)
    if (!v128.any_true(reached)) continue
    for (let i: usize = 0; i < 4; i++) {
      const zone = zones + (i << 4)
      const word = at + (i << 2)
      if (load<u32>(out + word)) store<u32>(out + word, groupBetween(load<f64>(zone), load<f64>(zone, 8), low, high, isUpper, sixteenths, word))
    }
  }
  for (let i: usize = 0; i < <usize>(count & 3); i++) {
    const zone = zones + (i << 4)
    const word = at + (i << 2)
    store<u32>(out + word, groupBetween(load<f64>(zone), load<f64>(zone, 8), low, high, isUpper, sixteenths, word))
  }
}

/** All ones for each of two zones that overlaps the interval. */
// @ts-ignore: decorator
@inline
function zonesReached(zones: usize, lows: v128, highs: v128): v128 {
  const a = v128.load(zones)
  const b = v128.load(zones, 16)
  const least = v128.shuffle<u64>(a, b, 0, 2)
  const greatest = v128.shuffle<u64>(a, b, 1, 3)
  return v128.and(f64x2.ge(greatest, lows), f64x2.le(least, highs))
}

export function groupBetween(least: f64, greatest: f64, low: f64, high: f64, isUpper: u32, sixteenths: usize, at: usize): u32 {
  if (!(greatest >= low && least <= high)) return 0
  const scale = sixteenthsPer(least, greatest)
  let bits: u32 = -1
  if (low > least) bits &= sixteenths == 0 ? 0 - isUpper : sixteenthsAbove(sixteenthOf(low, least, scale), isUpper, sixteenths, at)
  if (high < greatest) bits &= sixteenths == 0 ? 0 - isUpper : ~sixteenthsAbove(sixteenthOf(high, least, scale), 1 - isUpper, sixteenths, at)
  return bits
}

/** A bit for each of 32 codes that is greater than this one, or, with `orEqual`, equal to it. */
function sixteenthsAbove(sixteenth: u32, orEqual: u32, sixteenths: usize, at: usize): u32 {
  let above: u32 = 0
  let equal: u32 = -1
  for (let bit = 3; bit >= 0; bit--) {
    const word = load<u32>(<usize>load<u32>(sixteenths + (<usize>bit << 2)) + at)
    const own: u32 = 0 - ((sixteenth >> bit) & 1)
    above |= equal & word & ~own
    equal &= ~(word ^ own)
  }
  return above | (equal & (0 - orEqual))
}

/**
 * The sixteenth of the span that contains the key. Monotone in the key, however it is rounded; 0 for NaN, which
 * infinite spans produce.
 */
// @ts-ignore: decorator
@inline
function sixteenthOf(key: f64, least: f64, scale: f64): u32 {
  const place = (key - least) * scale
  return place >= 15 ? 15 : place > 0 ? <u32>place : 0
}

// @ts-ignore: decorator
@inline
function sixteenthsPer(least: f64, greatest: f64): f64 {
  return 16 / (greatest - least)
}

export function codeGroups(keys: usize, count: u32, groups: usize, step: u32, rows: usize, stride: u32): void {
  for (let from: u32 = 0; from < count; from += 32, groups += step, rows += 4, keys += 256) {
    const least = load<f64>(groups)
    const scale = sixteenthsPer(least, load<f64>(groups, 8))
    const leasts = f64x2.splat(least)
    const scales = f64x2.splat(scale)
    const low = sixteenthsOf(keys, leasts, scales)
    const high = sixteenthsOf(keys + 128, leasts, scales)
    // Keys beyond the last one are arbitrary.
    const mask: u32 = count - from >= 32 ? -1 : (<u32>1 << (count - from)) - 1
    store<u32>(rows, mask & bitsOf(low, high, 7))
    store<u32>(rows + stride, mask & bitsOf(low, high, 6))
    store<u32>(rows + 2 * stride, mask & bitsOf(low, high, 5))
    store<u32>(rows + 3 * stride, mask & bitsOf(low, high, 4))
  }
}

/** The highest bits of 32 bytes shifted to the left. */
// @ts-ignore: decorator
@inline
function bitsOf(low: v128, high: v128, shift: i32): u32 {
  return <u32>i8x16.bitmask(i8x16.shl(low, shift)) | (<u32>i8x16.bitmask(i8x16.shl(high, shift)) << 16)
}

/** As sixteenthOf(), for 16 keys, a byte each. */
// @ts-ignore: decorator
@inline
function sixteenthsOf(keys: usize, leasts: v128, scales: v128): v128 {
  const a = i16x8.narrow_i32x4_u(fourSixteenths(keys, leasts, scales), fourSixteenths(keys + 32, leasts, scales))
  const b = i16x8.narrow_i32x4_u(fourSixteenths(keys + 64, leasts, scales), fourSixteenths(keys + 96, leasts, scales))
  return i8x16.narrow_i16x8_u(a, b)
}

/** Conversion makes 0 of NaN and of what is negative, and the greatest integer of what is too great. */
// @ts-ignore: decorator
@inline
function fourSixteenths(keys: usize, leasts: v128, scales: v128): v128 {
  const a = i32x4.trunc_sat_f64x2_u_zero(f64x2.mul(f64x2.sub(v128.load(keys), leasts), scales))
  const b = i32x4.trunc_sat_f64x2_u_zero(f64x2.mul(f64x2.sub(v128.load(keys, 16), leasts), scales))
  return i32x4.min_u(v128.shuffle<u64>(a, b, 0, 2), i32x4.splat(15))
}

export function codeKeys(keys: usize, count: u32, edges: usize, codes: usize, bins: usize): void {
  for (const end = codes + <usize>count; codes < end; codes++, keys += 8) {
    const key = load<f64>(keys)
    store<u8>(codes, key == key ? codeOf(key, edges, bins) : 0)
  }
}

// @ts-ignore: decorator
@inline
function codeOf(key: f64, edges: usize, bins: usize): u8 {
  // Branch-free: which half a key is in is unpredictable.
  let edge = step(edges, key, 10)
  edge = step(edge, key, 9)
  edge = step(edge, key, 8)
  edge = step(edge, key, 7)
  edge = step(edge, key, 6)
  edge = step(edge, key, 5)
  edge = step(edge, key, 4)
  const place = step(edge, key, 3) - edges
  const bin = bins + (place << 1)
  // Rarely widened.
  if (key < load<f64>(bin)) store<f64>(bin, key)
  if (key > load<f64>(bin, 8)) store<f64>(bin, key, 8)
  return <u8>((place >> 3) + 1)
}

/** Skips 2^shift bytes of edges if all of them are below the key. */
// @ts-ignore: decorator
@inline
function step(edge: usize, key: f64, shift: usize): usize {
  return edge + (<usize>(load<f64>(edge + (<usize>1 << shift) - 8) < key) << shift)
}

export function sliceCodes(codes: usize, count: u32, rows: usize, stride: u32): void {
  for (const end = codes + <usize>count; codes < end; codes += 16, rows += 2) {
    let bytes = v128.load(codes)
    let row = rows + (<usize>stride << 3)
    do {
      row -= <usize>stride
      store<u16>(row, <u16>i8x16.bitmask(bytes))
      bytes = i8x16.add(bytes, bytes)
    } while (row != rows)
  }
}

export function codesBetween(slices: usize, count: u32, low: u32, high: u32, out: usize, bytes: u32): u32 {
  let any = ZERO
  let offset: usize = 0
  // From the lowest bit up: `l` means at least `low` in the bits so far, `h` at most `high`; a differing higher bit
  // decides.
  for (const wide = <usize>bytes & ~63; offset < wide; offset += 64) {
    let l0 = ONES, l1 = ONES, l2 = ONES, l3 = ONES
    let h0 = ONES, h1 = ONES, h2 = ONES, h3 = ONES
    for (let bit: u32 = 0; bit < count; bit++) {
      const slice = <usize>load<u32>(slices + (<usize>bit << 2)) + offset
      const s0 = v128.load(slice), s1 = v128.load(slice, 16), s2 = v128.load(slice, 32), s3 = v128.load(slice, 48)
      if (((low >>> bit) & 1) != 0) {
        l0 = v128.and(l0, s0)
        l1 = v128.and(l1, s1)
        l2 = v128.and(l2, s2)
        l3 = v128.and(l3, s3)
      } else {
        l0 = v128.or(l0, s0)
        l1 = v128.or(l1, s1)
        l2 = v128.or(l2, s2)
        l3 = v128.or(l3, s3)
      }
      if (((high >>> bit) & 1) != 0) {
        h0 = v128.or(h0, v128.not(s0))
        h1 = v128.or(h1, v128.not(s1))
        h2 = v128.or(h2, v128.not(s2))
        h3 = v128.or(h3, v128.not(s3))
      } else {
        h0 = v128.andnot(h0, s0)
        h1 = v128.andnot(h1, s1)
        h2 = v128.andnot(h2, s2)
        h3 = v128.andnot(h3, s3)
      }
    }
    l0 = v128.and(l0, h0)
    l1 = v128.and(l1, h1)
    l2 = v128.and(l2, h2)
    l3 = v128.and(l3, h3)
    v128.store(out + offset, l0)
    v128.store(out + offset, l1, 16)
    v128.store(out + offset, l2, 32)
    v128.store(out + offset, l3, 48)
    any = v128.or(any, v128.or(v128.or(l0, l1), v128.or(l2, l3)))
  }
  for (; offset < <usize>bytes; offset += 16) {
    let l = ONES, h = ONES
    for (let bit: u32 = 0; bit < count; bit++) {
      const slice = v128.load(<usize>load<u32>(slices + (<usize>bit << 2)) + offset)
      l = ((low >>> bit) & 1) != 0 ? v128.and(l, slice) : v128.or(l, slice)
      h = ((high >>> bit) & 1) != 0 ? v128.or(h, v128.not(slice)) : v128.andnot(h, slice)
    }
    const both = v128.and(l, h)
    v128.store(out + offset, both)
    any = v128.or(any, both)
  }
  return <u32>v128.any_true(any)
}
