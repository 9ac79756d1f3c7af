/**
 * Keys of the values that the segment keeps as columns: for each column the last key met and the number of keys. Bit
 * for bit as ../../ranges/range-key.ts and open-columns.ts.
 */
import { DATE_TYPE, STRING_TYPE } from './document'
import {
  COLUMN_COUNTS,
  COLUMN_KEYS,
  COLUMN_PREFIX_BYTES,
  COLUMN_PREFIX_LENGTHS,
  COLUMN_PREFIXES,
  COLUMN_TEMPLATE_BYTES,
  COLUMN_TEMPLATE_LENGTHS,
  COLUMN_TEMPLATES,
  MAX_COLUMNS
} from './layout'
import { dateColumn, NUMBER_COLUMN, TEXT_COLUMN } from './nodes'

const NO_COLUMN: u32 = 0xffff
/** Bytes of a text that make its key. */
const KEY_BYTES: u32 = 8
/** WTF-8 of up to eight bytes; the last character may exceed them. */
const BUFFER: usize = COLUMN_PREFIX_LENGTHS + MAX_COLUMNS * 4

export function resetCounts(): void {
  for (let i: usize = 0; i < MAX_COLUMNS; i += 16) v128.store(COLUMN_COUNTS + i, i64x2.splat(0))
}

/** Makes the values of a type on the node's path a column. JavaScript has written its prefix and template. */
export function addColumn(node: usize, type: u32, column: u32, prefixLength: u32, templateLength: u32): void {
  const place = type == DATE_TYPE ? dateColumn(node) : node + (type == STRING_TYPE ? TEXT_COLUMN : NUMBER_COLUMN)
  store<u16>(place, <u16>column)
  store<u32>(COLUMN_PREFIX_LENGTHS + (<usize>column << 2), prefixLength)
  store<u32>(COLUMN_TEMPLATE_LENGTHS + (<usize>column << 2), templateLength)
}

// @ts-ignore: decorator
@inline
export function noteNumber(node: usize, value: f64): void {
  const column = <u32>load<u16>(node, NUMBER_COLUMN)
  if (column != NO_COLUMN) note(column, value)
}

export function noteDate(node: usize, time: f64): void {
  const column = <u32>load<u16>(dateColumn(node))
  if (column != NO_COLUMN) note(column, time)
}

/** Notes a text of ASCII bytes. */
// @ts-ignore: decorator
@inline
export function noteText(node: usize, text: usize, length: u32): void {
  const column = <u32>load<u16>(node, TEXT_COLUMN)
  if (column != NO_COLUMN) noteBytes(column, text, length)
}

/** Notes a text of UTF-16 units. */
// @ts-ignore: decorator
@inline
export function noteUnits(node: usize, text: usize, length: u32): void {
  const column = <u32>load<u16>(node, TEXT_COLUMN)
  if (column != NO_COLUMN) noteWide(column, text, length)
}

function note(column: u32, key: f64): void {
  store<f64>(COLUMN_KEYS + (<usize>column << 3), key)
  const count = COLUMN_COUNTS + <usize>column
  store<u8>(count, <u8>min<u32>(<u32>load<u8>(count) + 1, 2))
}

function noteBytes(column: u32, text: usize, length: u32): void {
  const prefix = COLUMN_PREFIXES + <usize>column * COLUMN_PREFIX_BYTES
  const prefixLength = load<u32>(COLUMN_PREFIX_LENGTHS + (<usize>column << 2))
  for (let i: usize = 0; i < <usize>prefixLength; i++) {
    const byte = i < <usize>length ? <i32>load<u8>(text + i) : -1
    const difference = byte - <i32>load<u8>(prefix + i)
    if (difference != 0) return note(column, difference < 0 ? -Infinity : Infinity)
  }
  const rest = text + <usize>prefixLength
  const restLength = length - prefixLength
  const templateLength = load<u32>(COLUMN_TEMPLATE_LENGTHS + (<usize>column << 2))
  if (templateLength == 0) note(column, keyOf(rest, restLength))
  else note(column, templateKey<u8>(column, templateLength, rest, restLength))
}

function noteWide(column: u32, text: usize, length: u32): void {
  const prefix = COLUMN_PREFIXES + <usize>column * COLUMN_PREFIX_BYTES
  const prefixLength = load<u32>(COLUMN_PREFIX_LENGTHS + (<usize>column << 2))
  for (let i: usize = 0; i < <usize>prefixLength; i++) {
    const unit = i < <usize>length ? <i32>load<u16>(text + (i << 1)) : -1
    const difference = unit - <i32>load<u8>(prefix + i)
    if (difference != 0) return note(column, difference < 0 ? -Infinity : Infinity)
  }
  const templateLength = load<u32>(COLUMN_TEMPLATE_LENGTHS + (<usize>column << 2))
  if (templateLength != 0) {
    const rest = text + (<usize>prefixLength << 1)
    return note(column, templateKey<u16>(column, templateLength, rest, length - prefixLength))
  }
  let at = BUFFER
  for (let i = prefixLength; i < length && at < BUFFER + KEY_BYTES; i++) {
    let code = <u32>load<u16>(text + (<usize>i << 1))
    if (code - 0xd800 < 0x400 && i + 1 < length) {
      const second = <u32>load<u16>(text + (<usize>(i + 1) << 1))
      if (second - 0xdc00 < 0x400) {
        code = ((code - 0xd800) << 10) + (second - 0xdc00) + 0x10000
        i++
      }
    }
    at = writeCode(code, at)
  }
  note(column, keyOf(BUFFER, <u32>(at - BUFFER)))
}

/** Returns the key of the text of `length` bytes; loads, but ignores, up to eight bytes beyond. */
function keyOf(text: usize, length: u32): f64 {
  if (length == 0) return 0
  let bytes = bswap(load<u64>(text))
  if (length < KEY_BYTES) bytes &= ~(<u64>0) << (64 - (<u64>length << 3))
  return reinterpret<f64>(bytes >>> 1)
}

/** @param length of the text, in elements of T: bytes, or UTF-16 units */
function templateKey<T>(column: u32, templateLength: u32, text: usize, length: u32): f64 {
  const template = COLUMN_TEMPLATES + <usize>column * COLUMN_TEMPLATE_BYTES
  let key: u64 = 0
  let isOver = false
  for (let i: u32 = 0; i < templateLength; i++) {
    const character = <i32>load<u8>(template + <usize>i)
    const isDigit = character == 0x30
    const last = isDigit ? <i32>11 : <i32>2
    let rank: i32 = 0
    if (!isOver) {
      const unit = i < length ? <i32>load<T>(text + <usize>i * sizeof<T>()) : -1
      if (isDigit) rank = min<i32>(max<i32>(unit - 0x2f, 0), last)
      else rank = 1 + <i32>(unit > character) - <i32>(unit < character)
      isOver = rank == 0 || rank == last
    }
    key = key * <u64>(last + 1) + <u64>rank
  }
  return reinterpret<f64>(key)
}

function writeCode(code: u32, at: usize): usize {
  if (code < 0x80) {
    store<u8>(at, <u8>code)
    return at + 1
  }
  if (code < 0x800) {
    store<u8>(at, <u8>(0xc0 | (code >>> 6)))
    store<u8>(at, <u8>(0x80 | (code & 0x3f)), 1)
    return at + 2
  }
  if (code < 0x10000) {
    store<u8>(at, <u8>(0xe0 | (code >>> 12)))
    store<u8>(at, <u8>(0x80 | ((code >>> 6) & 0x3f)), 1)
    store<u8>(at, <u8>(0x80 | (code & 0x3f)), 2)
    return at + 3
  }
  store<u8>(at, <u8>(0xf0 | (code >>> 18)))
  store<u8>(at, <u8>(0x80 | ((code >>> 12) & 0x3f)), 1)
  store<u8>(at, <u8>(0x80 | ((code >>> 6) & 0x3f)), 2)
  store<u8>(at, <u8>(0x80 | (code & 0x3f)), 3)
  return at + 4
}
