/**
 * Writes the parts of JSON as UTF-8: the same bytes that JSON.stringify and an encoder produce.
 *
 * REQUIRES: the caller has checked that there is room.
 */
import { DATE_START, LONG_END, LONG_START, OBJECT_ID_START } from './document'
import { PIECE_BYTES } from './layout'

export const QUOTE: u32 = 0x22
const BACKSLASH: u32 = 0x5c

const QUOTES: v128 = i16x8.splat(0x22)
const BACKSLASHES: v128 = i16x8.splat(0x5c)
const SPACES: v128 = i16x8.splat(0x20)
const LAST_ASCII: v128 = i16x8.splat(0x7f)

// @ts-ignore: decorator
@inline
export function copyPiece(piece: usize, out: usize): usize {
  const length = <usize>load<u16>(piece)
  for (let i: usize = 0; i < length; i += 16) v128.store(out + i, v128.load(piece + PIECE_BYTES + i))
  return out + length
}

/** REQUIRES: at most 16 digits, which integers up to 2^53 and times of dates have. */
export function writeInteger(value: u64, out: usize): usize {
  let digits: usize = 1
  for (let limit: u64 = 10; value >= limit; limit *= 10) digits++
  let at = out + digits
  let low = <u32>value
  if (value > 0xffffffff) {
    // A single 64-bit division: they are slow.
    const high = <u32>(value / 100000000)
    low = <u32>(value - <u64>high * 100000000)
    for (let i = 0; i < 8; i++) {
      const tens = low / 10
      store<u8>(--at, <u8>(0x30 + (low - tens * 10)))
      low = tens
    }
    low = high
  }
  do {
    const tens = low / 10
    store<u8>(--at, <u8>(0x30 + (low - tens * 10)))
    low = tens
  } while (low != 0)
  return out + digits
}

/** Writes the wrapper of a date. @param time milliseconds since 1970 */
export function writeDate(time: f64, out: usize): usize {
  // {"$date":{"$numberLong":"
  store<u64>(out, DATE_START)
  store<u8>(out, 0x3a, 8)
  store<u64>(out, LONG_START, 9)
  store<u64>(out, LONG_END, 17)
  store<u8>(out, 0x2d, 25)
  const end = writeInteger(<u64>Math.abs(time), out + 25 + <usize>(time < 0))
  // "}}
  store<u32>(end, 0x7d7d22)
  return end + 3
}

/** Writes the wrapper of an ObjectId up to its digits, except for the quote before them. */
export function beginObjectId(out: usize): usize {
  store<u64>(out, OBJECT_ID_START)
  return out + 9
}

/** Writes the units of a text, without quotes, escaped like JSON.stringify does. */
export function writeText(from: usize, end: usize, to: usize): usize {
  let p = from
  let out = to
  while (p < end) {
    const units = v128.load(p)
    const special = i16x8.bitmask(
      v128.or(
        v128.or(i16x8.eq(units, QUOTES), i16x8.eq(units, BACKSLASHES)),
        v128.or(i16x8.lt_u(units, SPACES), i16x8.gt_u(units, LAST_ASCII))
      )
    )
    const left = <u32>(end - p) >>> 1
    // Bytes beyond the end, or the first special unit, are overwritten.
    v128.store(out, i8x16.narrow_i16x8_u(units, units))
    let plain = special == 0 ? <u32>8 : <u32>ctz(special)
    if (plain > left) plain = left
    p += <usize>plain << 1
    out += <usize>plain
    if (plain == 8 || p == end) continue
    // Special units tend to come in runs.
    do {
      const unit = <u32>load<u16>(p)
      p += 2
      if (unit < 0x80) {
        if (unit >= 0x20 && unit != QUOTE && unit != BACKSLASH) store<u8>(out++, unit)
        else out = writeEscaped(unit, out)
      } else if (unit < 0x800) {
        store<u16>(out, <u16>(0x80c0 | (unit >>> 6) | ((unit & 0x3f) << 8)))
        out += 2
      } else if ((unit & 0xf800) != 0xd800) out = writeThree(unit, out)
      else if (unit < 0xdc00 && p < end && ((<u32>load<u16>(p)) & 0xfc00) == 0xdc00) {
        const code = 0x10000 + ((unit & 0x3ff) << 10) + ((<u32>load<u16>(p)) & 0x3ff)
        p += 2
        store<u8>(out, 0xf0 | (code >>> 18))
        store<u8>(out, 0x80 | ((code >>> 12) & 0x3f), 1)
        store<u8>(out, 0x80 | ((code >>> 6) & 0x3f), 2)
        store<u8>(out, 0x80 | (code & 0x3f), 3)
        out += 4
      } else out = writeUnicode(unit, out)
    } while (p < end && needsCare(<u32>load<u16>(p)))
  }
  return out
}

// @ts-ignore: decorator
@inline
function needsCare(unit: u32): bool {
  return unit >= 0x80 || unit < 0x20 || unit == QUOTE || unit == BACKSLASH
}

// @ts-ignore: decorator
@inline
function writeThree(unit: u32, out: usize): usize {
  store<u8>(out, 0xe0 | (unit >>> 12))
  store<u8>(out, 0x80 | ((unit >>> 6) & 0x3f), 1)
  store<u8>(out, 0x80 | (unit & 0x3f), 2)
  return out + 3
}

function writeEscaped(unit: u32, out: usize): usize {
  let letter = unit
  if (unit < 0x20) {
    if (unit == 8) letter = 0x62
    else if (unit == 9) letter = 0x74
    else if (unit == 10) letter = 0x6e
    else if (unit == 12) letter = 0x66
    else if (unit == 13) letter = 0x72
    else return writeUnicode(unit, out)
  }
  store<u8>(out, BACKSLASH)
  store<u8>(out, letter, 1)
  return out + 2
}

function writeUnicode(unit: u32, out: usize): usize {
  store<u16>(out, 0x755c)
  for (let i: usize = 0; i < 4; i++) {
    const digit = (unit >>> (12 - (<u32>i << 2))) & 15
    store<u8>(out + i, digit + (digit < 10 ? 0x30 : 0x57), 2)
  }
  return out + 6
}
