/**
 * Finds and reads the `_id` at the start of a line. Only whole numbers, strings of printable ASCII without escapes, and
 * wrapped ObjectIds are read from bytes.
 */

const wrapperStart = Buffer.from('{"$')
const leadingId = new TextEncoder().encode('{"_id":')
const quote = 0x22
const backslash = 0x5c
const comma = 0x2c
const openingBrace = 0x7b
const closingBrace = 0x7d
/** Decimal digits of 2^53. */
const maxDigits = 16
const maxIdCharacters = 1024

/** Hexadecimal digits of an ObjectId. */
export const objectIdHexLength = 24
const beforeDigits = new TextEncoder().encode('{"$oid":"')
/** Offset of the digits in a wrapped ObjectId. */
export const wrappedDigitsOffset = beforeDigits.length

/** Offset of the value in a line, including a string's quote. */
export const leadingIdOffset = leadingId.length

/**
 * Returns the end of the value, including its quote or braces, in the line bytes[start, end); −1 if it cannot be read
 * from bytes.
 * @param hasWrappers an object may be a wrapper
 */
export function endOfLeadingId(bytes: Uint8Array, start: number, end: number, hasWrappers: boolean): number {
  const from = start + leadingIdOffset
  if (from >= end) return -1
  for (let i = 0; i < leadingIdOffset; i++) if (bytes[start + i] !== leadingId[i]) return -1
  const to = isTextId(bytes, from)
    ? endOfText(bytes, from + 1, end)
    : hasWrappers && isWrappedId(bytes, from)
      ? endOfWrappedId(bytes, from, end)
      : endOfDigits(bytes, from, end)
  if (to < 0 || to >= end) return -1
  return bytes[to] === comma || bytes[to] === closingBrace ? to : -1
}

/** REQUIRES: bytes[from, to) is the value found by endOfLeadingId(); likewise for the functions below. */
export function isTextId(bytes: Uint8Array, from: number): boolean {
  return bytes[from] === quote
}

/** An ObjectId, whose digits are at `wrappedDigitsOffset`. */
export function isWrappedId(bytes: Uint8Array, from: number): boolean {
  return bytes[from] === openingBrace
}

/**
 * Whether the line bytes[start, end) starts with a wrapped ObjectId and has no other wrapper without white space: it is
 * converted to another record, see JsonRecord.ofLine().
 * @param idEnd from endOfLeadingId()
 */
export function isOnlyIdWrapped(bytes: Uint8Array, start: number, idEnd: number, end: number): boolean {
  if (!isWrappedId(bytes, start + leadingIdOffset)) return false
  return !Buffer.from(bytes.buffer, bytes.byteOffset + idEnd, end - idEnd).includes(wrapperStart)
}

export function numberOfId(bytes: Uint8Array, from: number, to: number): number {
  let value = 0
  for (let at = from; at < to; at++) value = value * 10 + (bytes[at]! - 0x30)
  return value
}

function endOfWrappedId(bytes: Uint8Array, from: number, end: number): number {
  const digits = from + wrappedDigitsOffset
  const to = digits + objectIdHexLength
  if (to + 2 > end) return -1
  for (let i = 0; i < wrappedDigitsOffset; i++) if (bytes[from + i] !== beforeDigits[i]) return -1
  for (let at = digits; at < to; at++) if (!isDigit(bytes[at]!)) return -1
  return bytes[to] === quote && bytes[to + 1] === closingBrace ? to + 2 : -1
}

/** Lower-case hexadecimal, as ObjectIds are written and hashed; upper case is left to the parser. */
function isDigit(code: number): boolean {
  return (code >= 0x30 && code <= 0x39) || (code >= 0x61 && code <= 0x66)
}

function endOfDigits(bytes: Uint8Array, from: number, end: number): number {
  const limit = Math.min(end, from + maxDigits)
  let at = from
  while (at < limit && bytes[at]! >= 0x30 && bytes[at]! <= 0x39) at++
  const hasLeadingZero = bytes[from] === 0x30 && at > from + 1
  if (at === from || hasLeadingZero) return -1
  return at - from < maxDigits || Number.isSafeInteger(numberOfId(bytes, from, at)) ? at : -1
}

function endOfText(bytes: Uint8Array, from: number, end: number): number {
  const limit = Math.min(end, from - 1 + maxIdCharacters)
  for (let at = from; at < limit; at++) {
    const byte = bytes[at]!
    if (byte === quote) return at + 1
    if (byte === backslash || byte < 0x20 || byte > 0x7e) return -1
  }
  return -1
}
