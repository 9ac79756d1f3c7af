/**
 * Scans JSON strings: finds their end, hashes their UTF-16 units and adds their pair.
 *
 * ASCII without escapes is hashed in place and searched 16 bytes at a time. Everything else is converted to units
 * first. Input that is not UTF-8, or not a JSON string, is rejected.
 */
import { noteText, noteUnits } from './columns'
import { finish, laneA, mixA, mixB } from './hash'
import { MAX_UNITS, UNITS } from './layout'
import { SEED_HI, SEED_LO } from './nodes'
import { addText } from './pairs'
import { WIDE } from './private-pairs'

const STRING_TYPE: u32 = 3
const QUOTE: u32 = 0x22
const BACKSLASH: u32 = 0x5c

const QUOTES: v128 = i8x16.splat(0x22)
const BACKSLASHES: v128 = i8x16.splat(0x5c)
const SPACES: v128 = i8x16.splat(0x20)

/** @param start after the opening quote; returns the address after the closing one, or 0 */
export function scanText(start: usize, node: usize, tag: u32): usize {
  let end = start
  let special: u32 = 0
  while (true) {
    special = specials(v128.load(end))
    if (special != 0) break
    end += 16
  }
  end += <usize>ctz(special)
  if (load<u8>(end) != QUOTE) return scanWideText(start, node, tag)
  const length = <u32>(end - start)
  let a = laneA(load<u32>(node, SEED_LO), tag)
  let b = load<u32>(node, SEED_HI)
  let p = start
  for (const stop = start + <usize>(length & ~3); p < stop; p += 4) {
    const four = load<u32>(p)
    a = mixA(a, b, (four & 0xff) | ((four & 0xff00) << 8))
    b = mixB(a, b, ((four >>> 16) & 0xff) | ((four >>> 8) & 0xff0000))
  }
  // The last units without branches: lengths are unpredictable.
  const rest = length & 3
  const three = load<u32>(p) & ((<u32>1 << (rest << 3)) - 1)
  a ^= (a ^ mixA(a, b, (three & 0xff) | ((three & 0xff00) << 8))) & -<u32>(rest != 0)
  b ^= (b ^ mixB(a, b, three >>> 16)) & -<u32>(rest == 3)
  addText(node, tag, finish(a, b, length), start, length, start, length)
  if (tag == STRING_TYPE) noteText(node, start, length)
  return end + 1
}

function scanWideText(start: usize, node: usize, tag: u32): usize {
  let p = start
  let unit = UNITS
  const limit = UNITS + (MAX_UNITS << 1) - 4
  let all: u32 = 0
  let byte: u32 = 0
  while (true) {
    const bytes = v128.load(p)
    const special = specials(bytes)
    // Units beyond the first special byte are overwritten.
    v128.store(unit, i16x8.extend_low_i8x16_u(bytes))
    v128.store(unit, i16x8.extend_high_i8x16_u(bytes), 16)
    const plain = special == 0 ? <usize>16 : <usize>ctz(special)
    p += plain
    unit += plain << 1
    if (unit > limit) return 0
    if (special == 0) continue
    byte = load<u8>(p)
    if (byte == QUOTE) break
    // Special characters tend to come in runs.
    do {
      if (unit > limit) return 0
      let code = byte
      if (byte < 0x80) {
        code = byte == BACKSLASH ? escaped(p) : INVALID
        if (code == INVALID) return 0
        p += load<u8>(p, 1) == 0x75 ? 6 : 2
      } else {
        code = decode(p, byte)
        if (code == INVALID) return 0
        p += byte < 0xe0 ? 2 : byte < 0xf0 ? 3 : 4
        if (code > 0xffff) {
          store<u16>(unit, <u16>(0xd7c0 + (code >>> 10)))
          unit += 2
          code = 0xdc00 | (code & 0x3ff)
        }
      }
      all |= code
      store<u16>(unit, <u16>code)
      unit += 2
      byte = load<u8>(p)
    } while (byte >= 0x80 || byte == BACKSLASH)
  }
  addUnits(node, tag, <u32>((unit - UNITS) >>> 1), all < 0x80, start, <u32>(p - start))
  return p + 1
}

/** Marks quotes, backslashes, control characters and bytes that are not ASCII. */
// @ts-ignore: decorator
@inline
function specials(bytes: v128): u32 {
  // Signed comparison: bytes from 0x80 on are below the space, too.
  return i8x16.bitmask(
    v128.or(v128.or(i8x16.eq(bytes, QUOTES), i8x16.eq(bytes, BACKSLASHES)), i8x16.lt_s(bytes, SPACES))
  )
}

const INVALID: u32 = 0xffffffff

/** Decodes the two to four bytes at `p` to a code point. */
// @ts-ignore: decorator
@inline
function decode(p: usize, byte: u32): u32 {
  const second = <u32>load<u8>(p, 1) ^ 0x80
  if (second > 0x3f || byte < 0xc2) return INVALID
  if (byte < 0xe0) return ((byte & 0x1f) << 6) | second
  const third = <u32>load<u8>(p, 2) ^ 0x80
  if (third > 0x3f) return INVALID
  if (byte < 0xf0) {
    const code = ((byte & 0x0f) << 12) | (second << 6) | third
    return code < 0x800 || code - 0xd800 < 0x800 ? INVALID : code
  }
  const fourth = <u32>load<u8>(p, 3) ^ 0x80
  const code = ((byte & 0x07) << 18) | (second << 12) | (third << 6) | fourth
  return fourth > 0x3f || byte > 0xf4 || code < 0x10000 || code > 0x10ffff ? INVALID : code
}

/** The unit of the escape at `p`: surrogates are escaped one by one. */
function escaped(p: usize): u32 {
  switch (load<u8>(p, 1)) {
    case 0x22:
      return 0x22
    case 0x5c:
      return 0x5c
    case 0x2f:
      return 0x2f
    case 0x62:
      return 8
    case 0x66:
      return 12
    case 0x6e:
      return 10
    case 0x72:
      return 13
    case 0x74:
      return 9
    case 0x75: {
      const a = hexDigit(load<u8>(p, 2))
      const b = hexDigit(load<u8>(p, 3))
      const c = hexDigit(load<u8>(p, 4))
      const d = hexDigit(load<u8>(p, 5))
      return (a | b | c | d) > 15 ? INVALID : (a << 12) | (b << 8) | (c << 4) | d
    }
    default:
      return INVALID
  }
}

/** 0…15, or a larger number for any other byte. */
function hexDigit(byte: u32): u32 {
  const digit = byte - 0x30
  if (digit < 10) return digit
  const letter = (byte | 0x20) - 0x61
  return letter < 6 ? letter + 10 : 0x100
}

/** Adds the pair of the text of `length` units at UNITS, from `bytes` bytes of the input. */
function addUnits(node: usize, tag: u32, length: u32, isAscii: bool, start: usize, bytes: u32): void {
  const hash = hashUnits(node, tag, UNITS, length)
  if (tag == STRING_TYPE) noteUnits(node, UNITS, length)
  // Compared in the form it has without escapes.
  if (isAscii) narrow(UNITS, length)
  addText(node, isAscii ? tag : tag | WIDE, hash, UNITS, length, start, bytes)
}

/**
 * Adds the pair of a text that was written: `length` units at `units`, which became `bytes` bytes at `text`. Loads, but
 * ignores, eight bytes beyond the bytes and sixteen beyond the units.
 * @returns false when there is no room for it
 */
export function addWrittenText(node: usize, tag: u32, units: usize, length: u32, text: usize, bytes: u32): bool {
  const hash = hashUnits(node, tag, units, length)
  if (bytes == length) {
    // ASCII without escapes.
    addText(node, tag, hash, text, length, text, length)
    if (tag == STRING_TYPE) noteText(node, text, length)
    return true
  }
  if (tag == STRING_TYPE) noteUnits(node, units, length)
  if (!isAscii(units, length)) addText(node, tag | WIDE, hash, units, length, text, bytes)
  else {
    if (length > MAX_UNITS) return false
    narrow(units, length)
    addText(node, tag, hash, UNITS, length, text, bytes)
  }
  return true
}

// @ts-ignore: decorator
@inline
function hashUnits(node: usize, tag: u32, units: usize, length: u32): u64 {
  let a = laneA(load<u32>(node, SEED_LO), tag)
  let b = load<u32>(node, SEED_HI)
  let p = units
  for (const stop = units + (<usize>(length & ~3) << 1); p < stop; p += 8) {
    a = mixA(a, b, load<u32>(p))
    b = mixB(a, b, load<u32>(p, 4))
  }
  // The last units without branches: lengths are unpredictable.
  const rest = length & 3
  const three = load<u64>(p) & ((<u64>1 << (<u64>rest << 4)) - 1)
  a ^= (a ^ mixA(a, b, <u32>three)) & -<u32>(rest != 0)
  b ^= (b ^ mixB(a, b, <u32>(three >>> 32))) & -<u32>(rest == 3)
  return finish(a, b, length)
}

/** REQUIRES: at least one unit. */
function isAscii(units: usize, length: u32): bool {
  let all: u64 = 0
  let left = length
  for (; left > 4; left -= 4) {
    all |= load<u64>(units)
    units += 8
  }
  all |= load<u64>(units) & (~(<u64>0) >>> (<u64>(4 - left) << 4))
  return (all & 0xff80ff80ff80ff80) == 0
}

/** Copies the units' low bytes to UNITS, eight at a time. */
function narrow(units: usize, length: u32): void {
  for (let i: usize = 0; i < <usize>length; i += 8) {
    const eight = v128.load(units + (i << 1))
    store<u64>(UNITS + i, i64x2.extract_lane(i8x16.narrow_i16x8_u(eight, eight), 0))
  }
}
