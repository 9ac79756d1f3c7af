/**
 * LZ4's block format: compression of one chunk, and its reversal. Compiled by scripts/build-kernels.mjs; the contract
 * stands in ../lz4.ts.
 *
 * Memory, in pages of 64 KiB: hash table | 5 pages for the input | 5 pages for the output. A chunk is at most 256 KiB,
 * and its compressed form at most 1/255 larger, so that 62 KiB are free behind each. What is decompressed may stand
 * anywhere in the input's pages but in the last 32 bytes.
 *
 * Invariants:
 * 1. Whatever the input: nothing is read or written more than 32 bytes beyond the lengths given, which is inside the
 *    free part. Copies go in steps of 16 bytes and rely on that.
 * 2. The output depends on the input alone, not on what was compressed before.
 *
 * A sequence is a token (literals << 4 | match − 4) | more literal length | literals | offset u16 | more match length;
 * the last one has literals only. A length of 15 in the token goes on in bytes, as long as they are 255.
 * @see Collet, LZ4 block format description
 */

const TABLE: usize = 0
const HASH_BITS: u32 = 13
/** Odd, for a hash of 5 bytes: Collet's. */
const HASH_FACTOR: u64 = 889523592379

export const INPUT: usize = 0x10000
export const OUTPUT: usize = 0x60000
export const MAX_CHUNK: u32 = 0x40000

const MIN_MATCH: u32 = 4
const MAX_DISTANCE: u32 = 65535
/** The last match begins this far from the end at least, and the last 5 bytes are literals: so says the format. */
const LAST_MATCH: u32 = 12
const LAST_LITERALS: u32 = 5
/** After each 2^6 positions without a match, the search takes larger steps. */
const SKIP_SHIFT: u32 = 6

/** Added to positions in the table: what is below it was left by an earlier chunk. Saves clearing the table. */
let epoch: u32 = 1

@inline
function slotOf(at: usize): usize {
  return TABLE + (<usize>(((load<u64>(at) << 24) * HASH_FACTOR) >> (64 - HASH_BITS)) << 2)
}

@inline
function copy(from: usize, to: usize, length: u32): void {
  const end = to + <usize>length
  do {
    v128.store(to, v128.load(from))
    from += 16
    to += 16
  } while (to < end)
}

/** Bytes that are equal at `a` and `b`, before `end` of a. */
@inline
function common(a: usize, b: usize, end: usize): u32 {
  const start = a
  while (a + 8 <= end) {
    const difference = load<u64>(a) ^ load<u64>(b)
    if (difference != 0) return <u32>(a - start) + (<u32>ctz(difference) >> 3)
    a += 8
    b += 8
  }
  while (a < end && load<u8>(a) == load<u8>(b)) {
    a++
    b++
  }
  return <u32>(a - start)
}

/** What is left of a length that did not fit into the token. */
@inline
function writeLength(to: usize, rest: u32): usize {
  while (rest >= 255) {
    store<u8>(to++, 255)
    rest -= 255
  }
  store<u8>(to++, <u8>rest)
  return to
}

/** Compresses `length` bytes at INPUT to OUTPUT; returns their number, or 0 when they would be more than `limit`. */
export function compress(length: u32, limit: u32): u32 {
  if (epoch > 0xf000_0000) {
    memory.fill(TABLE, 0, 4 << HASH_BITS)
    epoch = 1
  }
  const base = epoch
  epoch += length
  const end = INPUT + <usize>length
  let anchor: usize = INPUT
  let out: usize = OUTPUT

  if (length > LAST_MATCH) {
    const lastMatch = end - <usize>LAST_MATCH
    const matchEnd = end - <usize>LAST_LITERALS
    let at: usize = INPUT
    store<u32>(slotOf(at), base)
    at++
    while (at <= lastMatch) {
      // Looks for a position that begins like an earlier one.
      let tries: u32 = 1 << SKIP_SHIFT
      let match: usize = 0
      for (;;) {
        const slot = slotOf(at)
        const seen = load<u32>(slot)
        const here = <u32>(at - INPUT)
        store<u32>(slot, here + base)
        const distance = here + base - seen
        // One branch, taken at matches only: two, of which the first follows what the table happens to hold, are
        // mispredicted so often that they cost an eighth of the time.
        const isNear = <u32>(distance <= min<u32>(here, MAX_DISTANCE))
        match = at - <usize>(distance & (0 - isNear))
        if (<u32>(load<u32>(match) == load<u32>(at)) & isNear) break
        at += <usize>(tries++ >> SKIP_SHIFT)
        if (at > lastMatch) {
          match = 0
          break
        }
      }
      if (match == 0) break
      while (at > anchor && match > INPUT && load<u8>(at - 1) == load<u8>(match - 1)) {
        at--
        match--
      }

      const literals = <u32>(at - anchor)
      if (<u32>(out - OUTPUT) + literals > limit) return 0
      const token = out++
      let code: u32 = min<u32>(literals, 15) << 4
      if (literals >= 15) out = writeLength(out, literals - 15)
      copy(anchor, out, literals)
      out += <usize>literals
      store<u16>(out, <u16>(at - match))
      out += 2
      const more = common(at + MIN_MATCH, match + MIN_MATCH, matchEnd)
      code |= min<u32>(more, 15)
      if (more >= 15) out = writeLength(out, more - 15)
      store<u8>(token, <u8>code)
      at += <usize>(MIN_MATCH + more)
      anchor = at
      if (at <= lastMatch) store<u32>(slotOf(at - 2), <u32>(at - 2 - INPUT) + base)
    }
  }

  const literals = <u32>(end - anchor)
  if (<u32>(out - OUTPUT) + literals + literals / 255 + 2 > limit) return 0
  store<u8>(out++, <u8>(min<u32>(literals, 15) << 4))
  if (literals >= 15) out = writeLength(out, literals - 15)
  copy(anchor, out, literals)
  return <u32>(out - OUTPUT) + literals
}

/** Decompresses `length` bytes from `start` on into exactly `rawLength` at OUTPUT; 0 when they are not that, else 1. */
export function decompress(start: usize, length: u32, rawLength: u32): u32 {
  const end = start + <usize>length
  const outEnd = OUTPUT + <usize>rawLength
  let at = start
  let out: usize = OUTPUT
  while (at < end) {
    const token: u32 = load<u8>(at++)
    let literals = token >> 4
    if (literals == 15) {
      let more: u32 = 255
      while (more == 255) {
        if (at >= end) return 0
        more = load<u8>(at++)
        literals += more
      }
    }
    if (literals > <u32>(end - at) || literals > <u32>(outEnd - out)) return 0
    copy(at, out, literals)
    at += <usize>literals
    out += <usize>literals
    if (at == end) return <u32>(out == outEnd)

    if (<u32>(end - at) < 2) return 0
    const distance: u32 = load<u16>(at)
    at += 2
    if (distance == 0 || distance > <u32>(out - OUTPUT)) return 0
    let matched = token & 15
    if (matched == 15) {
      let more: u32 = 255
      while (more == 255) {
        if (at >= end) return 0
        more = load<u8>(at++)
        matched += more
      }
    }
    matched += MIN_MATCH
    if (matched > <u32>(outEnd - out)) return 0
    repeat(out, distance, matched)
    out += <usize>matched
  }
  return 0
}

/** Appends `length` bytes from `distance` before; these may be among them. */
@inline
function repeat(out: usize, distance: u32, length: u32): void {
  if (distance >= 16) {
    copy(out - <usize>distance, out, length)
    return
  }
  const end = out + <usize>length
  let from = out - <usize>distance
  if (distance < 8) {
    // Bytes repeat with a period below 8: after 8 single ones, a multiple of it from 8 on is far enough for words.
    for (let i: usize = 0; i < 8; i++) store<u8>(out + i, load<u8>(from + i))
    out += 8
    from = out - <usize>(distance * ((7 + distance) / distance))
  }
  while (out < end) {
    store<u64>(out, load<u64>(from))
    out += 8
    from += 8
  }
}
