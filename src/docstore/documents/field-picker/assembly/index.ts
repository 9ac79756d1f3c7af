/**
 * Copies the wanted fields of a JSON object. Compiled by scripts/build-kernels.mjs; the contract is in
 * ../picker-kernel.ts.
 *
 * Fields that are not wanted are passed without looking into them: 64 bytes at a time become bit masks of quotes and
 * brackets, of which those within strings are dropped.
 *
 * The names of an object's wanted fields are a table of 32 addresses, by the length of the name modulo 32, each of the
 * first name of a list, or 0:
 *
 * | bytes | of a name                                                              |
 * | ----: | ---------------------------------------------------------------------- |
 * |     4 | address of the next one in the list, or 0                               |
 * |     4 | address of the table of the wanted fields within it; 0 if all are       |
 * |     4 | length                                                                  |
 * |     n | UTF-8                                                                   |
 *
 * Invariant: whatever the input, nothing is read 96 or more bytes beyond it, or written 80 or more bytes beyond as
 * many as it has.
 * @see Langdale and Lemire, Parsing gigabytes of JSON per second, 2019, for the bit masks
 */

const QUOTE: u32 = 0x22
const DOLLAR: u32 = 0x24
const COMMA: u32 = 0x2c
const COLON: u32 = 0x3a
const OPENING_BRACE: u32 = 0x7b
const CLOSING_BRACE: u32 = 0x7d
const SPACE: u32 = 0x20

const QUOTES: v128 = i8x16.splat(0x22)
const BACKSLASHES: v128 = i8x16.splat(0x5c)
const COMMAS: v128 = i8x16.splat(0x2c)
const SPACES: v128 = i8x16.splat(0x20)
/** With this bit, brackets are braces. */
const BRACE_BIT: v128 = i8x16.splat(0x20)
const OPENING: v128 = i8x16.splat(0x7b)
const CLOSING: v128 = i8x16.splat(0x7d)

/** Where the record ends. */
let limit: usize = 0
/** Where the next copied byte goes. */
let out: usize = 0

/**
 * Copies the wanted fields of the object in [start, end) to `target`.
 * @returns the number of bytes copied; 0 if a parser has to read the record
 */
export function pick(start: usize, end: usize, names: usize, target: usize): u32 {
  limit = end
  out = target
  return pickObject(start, names) == 0 ? 0 : <u32>(out - target)
}

/** @returns the address after the object; 0 if a parser has to read the record */
function pickObject(start: usize, names: usize): usize {
  if (start >= limit || load<u8>(start) != OPENING_BRACE) return 0
  store<u8>(out++, OPENING_BRACE)
  let separator: u32 = 0
  let at = afterSpace(start + 1)
  if (load<u8>(at) == CLOSING_BRACE) return close(at)
  while (true) {
    const begin = at
    // Extended JSON marks values by keys that begin with a dollar.
    if (load<u8>(begin) != QUOTE || load<u8>(begin, 1) == DOLLAR) return 0
    const keyEnd = quoteOrBackslash(begin + 1)
    if (keyEnd >= limit || load<u8>(keyEnd) != QUOTE) return 0
    const name = find(names, begin + 1, <u32>(keyEnd - begin - 1))
    at = afterSpace(keyEnd + 1)
    if (load<u8>(at) != COLON) return 0
    at = afterSpace(at + 1)
    if (name == 0) {
      at = afterValue(at)
    } else {
      if (separator != 0) store<u8>(out++, separator)
      separator = COMMA
      const within = <usize>load<u32>(name, 4)
      if (within != 0 && isObjectOfFields(at)) {
        copy(begin, at)
        at = pickObject(at, within)
        if (at == 0) return 0
      } else {
        at = afterValue(at)
        copy(begin, at)
      }
    }
    at = afterSpace(at)
    const byte = <u32>load<u8>(at)
    if (byte == CLOSING_BRACE) return close(at)
    if (byte != COMMA) return 0
    at = afterSpace(at + 1)
  }
}

/** Every object that was begun ends here, within the record: nothing else has to look at `limit` for that. */
function close(at: usize): usize {
  if (at >= limit) return 0
  store<u8>(out++, CLOSING_BRACE)
  return at + 1
}

/** @returns the address of the name, or 0 */
function find(names: usize, key: usize, length: u32): usize {
  let name = <usize>load<u32>(names + (<usize>(length & 31) << 2))
  while (name != 0) {
    if (load<u32>(name, 8) == length && isEqual(key, name + 12, length)) return name
    name = <usize>load<u32>(name)
  }
  return 0
}

function isEqual(a: usize, b: usize, length: u32): bool {
  let left = length
  while (true) {
    const different = <u32>i8x16.bitmask(i8x16.ne(v128.load(a), v128.load(b)))
    if (left <= 16) return (different & ((<u32>1 << left) - 1)) == 0
    if (different != 0) return false
    a += 16
    b += 16
    left -= 16
  }
}

/** False for a value of Extended JSON, which is an object with a key that begins with a dollar. */
function isObjectOfFields(at: usize): bool {
  if (load<u8>(at) != OPENING_BRACE) return false
  const first = afterSpace(at + 1)
  return load<u8>(first) == QUOTE && load<u8>(first, 1) != DOLLAR
}

// @ts-ignore: decorator
@inline
function afterSpace(at: usize): usize {
  while (<u32>load<u8>(at) <= SPACE && at < limit) at++
  return at
}

/** Returns the address after the value; `limit` or less than 64 bytes beyond it if it has no end. */
function afterValue(at: usize): usize {
  const byte = <u32>load<u8>(at)
  if (byte == QUOTE) return afterText(at + 1)
  return (byte | 0x20) == OPENING_BRACE ? afterNested(at) : afterWord(at)
}

/** @param at after the opening quote; returns the address after the closing one */
function afterText(at: usize): usize {
  let p = quoteOrBackslash(at)
  while (p < limit && load<u8>(p) != QUOTE) p = quoteOrBackslash(p + 2)
  return p + 1
}

/** Returns the address of the first quote or backslash; `limit` or more if there is none before. */
// @ts-ignore: decorator
@inline
function quoteOrBackslash(at: usize): usize {
  let p = at
  while (true) {
    const bytes = v128.load(p)
    const found = i8x16.bitmask(v128.or(i8x16.eq(bytes, QUOTES), i8x16.eq(bytes, BACKSLASHES)))
    if (found != 0) return p + <usize>ctz(found)
    if (p >= limit) return p
    p += 16
  }
}

/** Returns the address after a number, true, false or null. */
function afterWord(at: usize): usize {
  let p = at
  while (true) {
    const bytes = v128.load(p)
    const found = i8x16.bitmask(
      v128.or(v128.or(i8x16.eq(bytes, COMMAS), i8x16.eq(bytes, CLOSING)), i8x16.le_u(bytes, SPACES))
    )
    if (found != 0) return p + <usize>ctz(found)
    p += 16
    if (p >= limit) return p
  }
}

/** Returns the address after the object or array at `at`. */
function afterNested(at: usize): usize {
  let depth: i32 = 0
  /** All ones within a string. */
  let carried: u64 = 0
  /** 1 if the first byte is escaped. */
  let isEscaped: u64 = 0
  for (let p = at; p < limit; p += 64) {
    const a = v128.load(p)
    const b = v128.load(p, 16)
    const c = v128.load(p, 32)
    const d = v128.load(p, 48)
    let escaped = isEscaped
    isEscaped = 0
    for (let left = equal(a, b, c, d, BACKSLASHES) & ~escaped; left != 0; ) {
      const place = ctz(left)
      escaped |= <u64>2 << place
      isEscaped = place == 63 ? 1 : 0
      left &= ~(<u64>3 << place)
    }
    const within = oddBefore(equal(a, b, c, d, QUOTES) & ~escaped) ^ carried
    carried = <u64>(<i64>within >> 63)
    const opening = braces(a, b, c, d, OPENING) & ~within
    const closing = braces(a, b, c, d, CLOSING) & ~within
    if (<i32>popcnt(closing) < depth) {
      depth += <i32>popcnt(opening) - <i32>popcnt(closing)
      continue
    }
    for (let left = opening | closing; left != 0; left &= left - 1) {
      depth += (opening & left & (0 - left)) != 0 ? 1 : -1
      if (depth == 0) return p + <usize>ctz(left) + 1
    }
  }
  return limit
}

/** A bit for each byte that is that of `wanted`. */
// @ts-ignore: decorator
@inline
function equal(a: v128, b: v128, c: v128, d: v128, wanted: v128): u64 {
  const low = i8x16.bitmask(i8x16.eq(a, wanted)) | (i8x16.bitmask(i8x16.eq(b, wanted)) << 16)
  const high = i8x16.bitmask(i8x16.eq(c, wanted)) | (i8x16.bitmask(i8x16.eq(d, wanted)) << 16)
  return <u64>(<u32>low) | (<u64>(<u32>high) << 32)
}

/** Like equal(), for braces and brackets. */
// @ts-ignore: decorator
@inline
function braces(a: v128, b: v128, c: v128, d: v128, wanted: v128): u64 {
  return equal(v128.or(a, BRACE_BIT), v128.or(b, BRACE_BIT), v128.or(c, BRACE_BIT), v128.or(d, BRACE_BIT), wanted)
}

/** Sets each bit at or before which an odd number of bits is set. */
// @ts-ignore: decorator
@inline
function oddBefore(bits: u64): u64 {
  let odd = bits
  odd ^= odd << 1
  odd ^= odd << 2
  odd ^= odd << 4
  odd ^= odd << 8
  odd ^= odd << 16
  return odd ^ (odd << 32)
}

function copy(from: usize, end: usize): void {
  const length = end - from
  for (let i: usize = 0; i < length; i += 16) v128.store(out + i, v128.load(from + i))
  out += length
}
