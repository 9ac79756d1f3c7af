/**
 * The `_id` that a line begins with: where it stands, and what it is. Only whole numbers and texts of printable ASCII without
 * escapes are read from bytes.
 */

const leadingId = new TextEncoder().encode('{"_id":')
const quote = 0x22
const backslash = 0x5c
const comma = 0x2c
const closingBrace = 0x7d
/** Of 2^53. */
const maxDigits = 16
const maxIdCharacters = 1024

const leadingObjectId = new TextEncoder().encode('{"_id":{"$oid":"')
/** Hexadecimal, of an ObjectId. */
export const digitsOfId = 24

/**
 * Where the 24 digits of an ObjectId begin that the line begins with, as `mongoexport` writes it; they end two bytes before the
 * value does. −1 for any other line.
 * @param bytes valid UTF-8
 */
export function leadingObjectIdDigits(bytes: Uint8Array): number {
  const from = leadingObjectId.length
  const end = from + digitsOfId
  if (end + 2 >= bytes.length) return -1
  for (let i = 0; i < from; i++) if (bytes[i] !== leadingObjectId[i]) return -1
  for (let at = from; at < end; at++) if (!isDigit(bytes[at]!)) return -1
  const isClosed = bytes[end] === quote && bytes[end + 1] === closingBrace
  return isClosed && (bytes[end + 2] === comma || bytes[end + 2] === closingBrace) ? from : -1
}

/** As ObjectIds are written and hashed: upper case is left to whoever reads them. */
function isDigit(code: number): boolean {
  return (code >= 0x30 && code <= 0x39) || (code >= 0x61 && code <= 0x66)
}

/** Where the value begins, behind the line's beginning; a text's quote is part of it. */
export const leadingIdOffset = leadingId.length

/**
 * Where the value ends, its quote included, in the line bytes[start, end); −1 where it is not read from bytes.
 * @param bytes valid UTF-8
 */
export function endOfLeadingId(bytes: Uint8Array, start: number, end: number): number {
  const from = start + leadingIdOffset
  if (from >= end) return -1
  for (let i = 0; i < leadingIdOffset; i++) if (bytes[start + i] !== leadingId[i]) return -1
  const to = bytes[from] === quote ? endOfText(bytes, from + 1, end) : endOfDigits(bytes, from, end)
  if (to < 0 || to >= end) return -1
  return bytes[to] === comma || bytes[to] === closingBrace ? to : -1
}

/** REQUIRES: bytes[from, to) is the value as endOfLeadingId() found it; so does the next one. */
export function isTextId(bytes: Uint8Array, from: number): boolean {
  return bytes[from] === quote
}

export function numberOfId(bytes: Uint8Array, from: number, to: number): number {
  let value = 0
  for (let at = from; at < to; at++) value = value * 10 + (bytes[at]! - 0x30)
  return value
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
