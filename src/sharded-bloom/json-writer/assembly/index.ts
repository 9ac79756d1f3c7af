/**
 * A document that was taken apart in JavaScript → its JSON as UTF-8, the same bytes that JSON.stringify and an encoder
 * make. The contract of every export stands in ../writer-module.ts.
 *
 * Invariant: nothing is written beyond OUT_END and SLACK, whatever the operations are.
 */

/** What is written for each key: a u16 length, then the bytes. 0 stands for no key. */
export const PIECES: usize = 1024
export const PIECES_END: usize = 0x40000
export const MAX_PIECE_BYTES: usize = 1024

/** In: what to write, u32 each. */
export const OPERATIONS: usize = 0x40000
export const MAX_OPERATIONS: usize = 0x8000

/** In: integers that are no 32-bit ones, as doubles. */
export const NUMBERS: usize = 0x60000
export const MAX_NUMBERS: usize = 0x4000

/** In: the UTF-16 units of all texts, one after the other, and 16 bytes that are read in vain. */
export const UNITS: usize = 0x80000
export const MAX_UNITS: usize = 0x20000

/** Out. */
export const OUT: usize = 0xc1000
export const OUT_END: usize = 0x13f000
/** Of what an operation writes, texts aside. */
const SLACK: usize = 0x1000

/** Kinds of operations: the low four bits; the others are the address of the key's piece. */
export const TEXT: u32 = 0
export const INT32: u32 = 1
export const INTEGER: u32 = 2
export const VERBATIM: u32 = 3
export const NULL: u32 = 4
export const FALSE: u32 = 5
export const TRUE: u32 = 6
export const BEGIN_OBJECT: u32 = 7
export const BEGIN_ARRAY: u32 = 8
export const END_OBJECT: u32 = 9
export const END_ARRAY: u32 = 10
export const PIECE_SHIFT: u32 = 4

const QUOTE: u32 = 0x22
const BACKSLASH: u32 = 0x5c

const QUOTES: v128 = i16x8.splat(0x22)
const BACKSLASHES: v128 = i16x8.splat(0x5c)
const SPACES: v128 = i16x8.splat(0x20)
const LAST_ASCII: v128 = i16x8.splat(0x7f)

export function write(start: u32, count: u32): i32 {
  let out = OUT + <usize>start
  store<u8>(out++, 0x7b)
  let units = UNITS
  let numbers = NUMBERS
  let operation = OPERATIONS
  const end = OPERATIONS + (<usize>count << 2)
  while (operation < end) {
    if (out > OUT_END) return -1
    const word = load<u32>(operation)
    operation += 4
    const kind = word & 15
    if (kind >= END_OBJECT) {
      store<u8>(out++, kind == END_OBJECT ? 0x7d : 0x5d)
      continue
    }
    // Only an opening bracket or brace is followed by no comma.
    const last = <u32>load<u8>(out - 1) | 0x20
    store<u8>(out, 0x2c)
    out += <usize>(last != 0x7b)
    const piece = <usize>(word >>> PIECE_SHIFT)
    if (piece != 0) out = copyPiece(piece, out)
    if (kind == TEXT) {
      const length = <usize>load<u32>(operation)
      operation += 4
      if (out + 6 * length > OUT_END) return -1
      store<u8>(out, QUOTE)
      out = writeText(units, units + (length << 1), out + 1)
      store<u8>(out++, QUOTE)
      units += length << 1
    } else if (kind == INT32) {
      const value = load<i32>(operation)
      operation += 4
      store<u8>(out, 0x2d)
      out = writeInteger(<u64>(value < 0 ? -<i64>value : <i64>value), out + <usize>(value < 0))
    } else if (kind == INTEGER) {
      const value = load<f64>(numbers)
      numbers += 8
      store<u8>(out, 0x2d)
      out = writeInteger(<u64>Math.abs(value), out + <usize>(value < 0))
    } else if (kind == VERBATIM) {
      const length = <usize>load<u32>(operation)
      operation += 4
      for (let i: usize = 0; i < length; i++) store<u8>(out + i, <u8>load<u16>(units + (i << 1)))
      out += length
      units += length << 1
    } else if (kind == NULL) {
      store<u32>(out, 0x6c6c756e)
      out += 4
    } else if (kind == TRUE) {
      store<u32>(out, 0x65757274)
      out += 4
    } else if (kind == FALSE) {
      store<u32>(out, 0x736c6166)
      store<u8>(out, 0x65, 4)
      out += 5
    } else {
      store<u8>(out++, kind == BEGIN_OBJECT ? 0x7b : 0x5b)
    }
  }
  return out > OUT_END ? -1 : <i32>(out - OUT)
}

// @ts-ignore: decorator
@inline
function copyPiece(piece: usize, out: usize): usize {
  const length = <usize>load<u16>(piece)
  for (let i: usize = 0; i < length; i += 16) v128.store(out + i, v128.load(piece + 2 + i))
  return out + length
}

/** At most 16 digits. */
function writeInteger(value: u64, out: usize): usize {
  let digits: usize = 1
  for (let limit: u64 = 10; value >= limit; limit *= 10) digits++
  let at = out + digits
  let low = <u32>value
  if (value > 0xffffffff) {
    // One division of 64 bits, which are slow.
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

/** The units of a text between its quotes, as JSON.stringify escapes them. */
function writeText(from: usize, end: usize, to: usize): usize {
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
    // What stands beyond the end, or the first special unit, is written over.
    v128.store(out, i8x16.narrow_i16x8_u(units, units))
    let plain = special == 0 ? <u32>8 : <u32>ctz(special)
    if (plain > left) plain = left
    p += <usize>plain << 1
    out += <usize>plain
    if (plain == 8 || p == end) continue
    // One special unit is rarely alone.
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

/** What may be written behind OUT_END: a key, and a number, a word or 16 bytes of a text. */
export const MEMORY_END: usize = OUT_END + SLACK
