/**
 * Range keys: doubles that sort like the values of a column.
 *
 * A number is its own key, and a date its milliseconds. A text has a key of 63 bits, which are the bits of a double; it
 * leaves out the column's prefix, and a text without this prefix has the key −∞ or ∞.
 *
 * Without a template, the bits are the next eight bytes of WTF-8 (UTF-8 that keeps lone surrogates), read as a
 * big-endian integer and halved. With a template, as for ISO dates, they are a number with one digit per character of
 * the template. The digit is 0 if the text has a lower character in that place, or has ended. For a digit in the
 * template it is 1 to 10 for the text's digit and 11 for anything above; for any other character it is 1 for the same
 * character and 2 for a higher one. A character that is not a digit, or not the same, decides the order: all following
 * digits are 0.
 *
 * Invariants:
 * 1. a < b implies key(a) ≤ key(b), in MongoDB's order, which for strings is the order of code points.
 * 2. For numbers and dates key(a) = key(b) implies a = b (−0 equals 0). Texts that differ further on may share a key.
 * 3. A key is never NaN. Halved bits of WTF-8 begin below 0x7b, and a template's characters take at most 62 bits, so
 *    both are finite, non-negative doubles.
 */
import { compareStrings } from '../../model/compare.ts'

/** Bytes of a text that make a key without a template, the prefix aside. */
export const keyBytes = 8

const double = new Float64Array(1)
const halves = new Uint32Array(double.buffer)
const integer = new BigInt64Array(double.buffer)
const bytes = new Uint8Array(keyBytes + 4)

/** The form of a column's texts. */
export interface TextForm {
  /** ASCII; left out of keys. */
  readonly prefix: string
  /**
   * Follows the prefix: `0` stands for any digit, other ASCII characters for themselves. Empty if anything may follow.
   */
  readonly template: string
}

/** The character of a template that stands for any digit. */
export const anyDigit = '0'
const digitsBefore = anyDigit.charCodeAt(0) - 1
const digitRadix = 12
const characterRadix = 3
const maxTemplateBits = 62

export function textKey(text: string, { prefix, template }: TextForm): number {
  if (!text.startsWith(prefix))
    return compareStrings(text, prefix) < 0 ? Number.NEGATIVE_INFINITY : Number.POSITIVE_INFINITY
  return template === '' ? bytesKey(text, prefix.length) : templateKey(text, prefix.length, template)
}

/** Returns how many of a template's characters, from `from` on, fit into a key. */
export function templateRoom(template: string, from: number): number {
  let bits = 0
  for (let i = from; i < template.length; i++) {
    bits += Math.log2(template[i] === anyDigit ? digitRadix : characterRadix)
    if (bits > maxTemplateBits) return i - from
  }
  return template.length - from
}

function templateKey(text: string, from: number, template: string): number {
  let high = 0
  let low = 0
  let isOver = false
  for (let i = 0; i < template.length; i++) {
    const radix = template[i] === anyDigit ? digitRadix : characterRadix
    const rank: number = isOver ? 0 : rankOf(text, from + i, template, i)
    isOver ||= rank === 0 || rank === radix - 1
    const next = low * radix + rank
    low = next >>> 0
    high = high * radix + Math.floor(next / 2 ** 32)
  }
  halves[0] = low
  halves[1] = high
  return double[0]!
}

function rankOf(text: string, at: number, template: string, i: number): number {
  if (at >= text.length) return 0
  const unit = text.charCodeAt(at)
  if (template[i] === anyDigit) return Math.min(Math.max(unit - digitsBefore, 0), digitRadix - 1)
  const character = template.charCodeAt(i)
  return unit < character ? 0 : unit === character ? 1 : 2
}

function bytesKey(text: string, from: number): number {
  let length = 0
  for (let i = from; i < text.length && length < keyBytes; i++) {
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

/**
 * Returns a text whose key is near this one; information that keys lack, and invalid text, is left out or replaced.
 * REQUIRES: a finite key of a text of this form
 */
export function textNear(key: number, { prefix, template }: TextForm): string {
  double[0] = key
  return prefix + (template === '' ? textOfBytes() : textOfTemplate(template))
}

function textOfBytes(): string {
  const low = halves[0]!
  const high = (halves[1]! << 1) | (low >>> 31)
  const stored = new DataView(new ArrayBuffer(keyBytes))
  stored.setUint32(0, high)
  stored.setUint32(4, low << 1)
  const all = new Uint8Array(stored.buffer)
  const end = all.indexOf(0)
  return new TextDecoder().decode(end < 0 ? all : all.subarray(0, end))
}

function textOfTemplate(template: string): string {
  let rest = (BigInt(halves[1]!) << 32n) | BigInt(halves[0]!)
  const ranks: number[] = []
  for (let i = template.length - 1; i >= 0; i--) {
    const radix = BigInt(template[i] === anyDigit ? digitRadix : characterRadix)
    ranks[i] = Number(rest % radix)
    rest /= radix
  }
  let text = ''
  for (const [i, rank] of ranks.entries()) {
    // The text has a lower character here, or ends.
    if (rank === 0) break
    const isDigit = template[i] === anyDigit
    text += String.fromCharCode(isDigit ? digitsBefore + rank : template.charCodeAt(i) + rank - 1)
    if (rank === (isDigit ? digitRadix : characterRadix) - 1) break
  }
  return text
}

/** The smallest double above `key`; NaN above ∞. Treats −0 as 0. */
export function nextAbove(key: number): number {
  if (!Number.isFinite(key)) return key < 0 ? -Number.MAX_VALUE : Number.NaN
  if (key === 0) return Number.MIN_VALUE
  double[0] = key
  integer[0]! += key > 0 ? 1n : -1n
  return double[0]!
}

/** The greatest double below `key`; NaN below −∞. */
export function nextBelow(key: number): number {
  return -nextAbove(-key)
}

/** Writes two to four bytes at `at` for a code point beyond ASCII, lone surrogates included; returns the end. */
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
