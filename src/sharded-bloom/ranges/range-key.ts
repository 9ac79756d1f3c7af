/**
 * Range keys: doubles that sort as the values of a column do.
 *
 * A number is its own key and a date its milliseconds. A text gets a key from eight bytes: the column's prefix is left
 * out, the next eight bytes of WTF-8 (UTF-8 that keeps lone surrogates), read as a big-endian integer and halved, are
 * the bits of the key. A text that does not begin with the prefix has the key −∞ or ∞.
 *
 * Invariants:
 * 1. a < b implies key(a) ≤ key(b): of MongoDB's order, which for strings is the order of code points.
 * 2. Numbers and dates: key(a) = key(b) implies a = b (a −0 is a 0). Texts that differ later may share a key.
 * 3. A key is never NaN. Halved bits of WTF-8 begin below 0x7b, so they are a finite, positive double.
 */
import { compareStrings } from '../../model/compare.ts'

/** Bytes of a text that a key is made of, the prefix aside. */
const keyBytes = 8

const double = new Float64Array(1)
const halves = new Uint32Array(double.buffer)
const integer = new BigInt64Array(double.buffer)
const bytes = new Uint8Array(keyBytes + 4)

/** @param prefix ASCII */
export function textKey(text: string, prefix: string): number {
  if (!text.startsWith(prefix))
    return compareStrings(text, prefix) < 0 ? Number.NEGATIVE_INFINITY : Number.POSITIVE_INFINITY
  let length = 0
  for (let i = prefix.length; i < text.length && length < keyBytes; i++) {
    const unit = text.charCodeAt(i)
    if (unit < 0x80) bytes[length++] = unit
    else {
      const code = text.codePointAt(i)!
      length = writeCode(code, length)
      if (code > 0xffff) i++
    }
  }
  bytes.fill(0, length, keyBytes)
  const high = ((bytes[0]! << 24) | (bytes[1]! << 16) | (bytes[2]! << 8) | bytes[3]!) >>> 0
  const low = ((bytes[4]! << 24) | (bytes[5]! << 16) | (bytes[6]! << 8) | bytes[7]!) >>> 0
  halves[0] = (low >>> 1) | (high << 31)
  halves[1] = high >>> 1
  return double[0]!
}

/** The smallest double above; NaN above ∞. −0 is not told from 0. */
export function nextAbove(key: number): number {
  if (!Number.isFinite(key)) return key < 0 ? -Number.MAX_VALUE : Number.NaN
  if (key === 0) return Number.MIN_VALUE
  double[0] = key
  integer[0]! += key > 0 ? 1n : -1n
  return double[0]!
}

/** The greatest double below; NaN below −∞. */
export function nextBelow(key: number): number {
  return -nextAbove(-key)
}

/** Two to four bytes at `at` for a code point beyond ASCII, half of a pair included; returns the end. */
function writeCode(code: number, at: number): number {
  let next = at
  if (code < 0x800) bytes[next++] = 0xc0 | (code >> 6)
  else {
    if (code < 0x10000) bytes[next++] = 0xe0 | (code >> 12)
    else {
      bytes[next++] = 0xf0 | (code >> 18)
      bytes[next++] = 0x80 | ((code >> 12) & 0x3f)
    }
    bytes[next++] = 0x80 | ((code >> 6) & 0x3f)
  }
  bytes[next++] = 0x80 | (code & 0x3f)
  return next
}
