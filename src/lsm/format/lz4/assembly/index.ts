/**
 * LZ4 block format: compression and decompression of one chunk. Compiled by scripts/build-kernels.mjs; the contract is
 * in ../lz4.ts.
 *
 * Memory, in pages of 64 KiB: hash table | 5 pages for the input | 5 pages for the output. A chunk is at most 256 KiB,
 * and its compressed form at most 1/255 larger, so that 62 KiB are free after each. Compressed input may lie anywhere
 * in the input's pages except the last 32 bytes.
 *
 * The match search restarts with every page of the input: within a page 16 bits identify a position, every position in
 * the table is in range, and a single comparison tells whether it is a match.
 *
 * Invariants:
 * 1. Whatever the input, nothing is read or written more than 32 bytes beyond the given lengths, which is inside the
 *    free part. Copies proceed in steps of 16 bytes and rely on that.
 * 2. The output depends on the input alone, not on earlier calls.
 *
 * A sequence is a token (literals << 4 | match − 4) | more literal length | literals | offset u16 | more match length;
 * the last one has literals only. A length of 15 in the token continues in further bytes, up to the first that is not
 * 255.
 * @see Collet, LZ4 block format description
 */

import { copy } from './copy'

const TABLE: usize = 0
const HASH_BITS: u32 = 13
/**
 * Odd; Collet's factor for a hash of 6 bytes. Matches of 4 and 5 bytes, which save one or two bytes and take as long as
 * any other, are found only where the table happens to lead to them.
 */
const HASH_FACTOR: u64 = 227718039650203

export const INPUT: usize = 0x10000
export const OUTPUT: usize = 0x60000

const MIN_MATCH: u32 = 4
/** The format requires the last match to begin at least this far from the end, and the last 5 bytes to be literals. */
const LAST_MATCH: u32 = 12
const LAST_LITERALS: u32 = 5
/** Mask of the bits of an address that are its position in the page. */
const PLACE: usize = 0xffff
/** After every 2^6 positions without a match, the search takes larger steps. */
const SKIP_SHIFT: u32 = 6

/** The table slot with the last position that had the same hash of its first six bytes. */
@inline
function slotOf(word: u64): usize {
  return TABLE + (<usize>(((word << 16) * HASH_FACTOR) >> (64 - HASH_BITS)) << 1)
}

/** Length of the match between `a` and `b`, up to `end` of a. REQUIRES: a < end. */
@inline
function common(a: usize, b: usize, end: usize): u32 {
  const start = a
  do {
    const low = <u32>i8x16.bitmask(i8x16.eq(v128.load(a), v128.load(b)))
    const high = <u32>i8x16.bitmask(i8x16.eq(v128.load(a, 16), v128.load(b, 16)))
    const equal = low | (high << 16)
    if (equal != 0xffffffff) {
      a += <usize>ctz(~equal)
      break
    }
    a += 32
    b += 32
  } while (a < end)
  return <u32>(min<usize>(a, end) - start)
}

/** Writes the part of a length that does not fit into the token. */
@inline
function writeRest(to: usize, length: u32): usize {
  if (length >= 15 + 255) return writeLength(to, length - 15)
  // Whether a byte is needed is hard to predict, so that a branch would take longer.
  store<u8>(to, <u8>(length - 15))
  return to + <usize>(length >= 15)
}

/** Writes the part of a length beyond what the token holds. */
@inline
function writeLength(to: usize, rest: u32): usize {
  while (rest >= 255) {
    store<u8>(to++, 255)
    rest -= 255
  }
  store<u8>(to++, <u8>rest)
  return to
}

/**
 * Compresses `length` bytes at INPUT to `target`, where there is room for the compressed form of any chunk and 32
 * bytes.
 * @returns the compressed size, or 0 if it exceeds `limit`
 */
export function compress(length: u32, limit: u32, target: usize): u32 {
  const end = INPUT + <usize>length
  let anchor: usize = INPUT
  let out = target

  if (length > LAST_MATCH) {
    const lastMatch = end - <usize>LAST_MATCH
    const matchEnd = end - <usize>LAST_LITERALS
    let at: usize = INPUT
    while (at <= lastMatch) {
      // An unused slot refers to the start of the page, which is as good a candidate as any.
      const page = at & ~PLACE
      const lastOfPage = min<usize>(lastMatch, page | PLACE)
      memory.fill(TABLE, 0, 2 << HASH_BITS)
      if (at == page) at++
      while (at <= lastOfPage) {
        // Searches for a position whose first bytes occurred before.
        let tries: u32 = 1 << SKIP_SHIFT
        let match: usize = 0
        for (;;) {
          const word = load<u64>(at)
          const slot = slotOf(word)
          match = page + <usize>load<u16>(slot)
          store<u16>(slot, <u16>at)
          if (load<u32>(match) == <u32>word) break
          at += <usize>(tries++ >> SKIP_SHIFT)
          if (at > lastOfPage) {
            match = 0
            break
          }
        }
        if (match == 0) break
        // Forwards first, so that the next search need not wait for the backward extension.
        const forwards = common(at + MIN_MATCH, match + MIN_MATCH, matchEnd)
        const next = at + <usize>(MIN_MATCH + forwards)
        const backwards = min<u32>(
          min<u32>(<u32>(at - anchor), <u32>(match - INPUT)),
          <u32>clz(load<u64>(at - 8) ^ load<u64>(match - 8)) >> 3
        )

        const literals = <u32>(at - anchor) - backwards
        const more = forwards + backwards
        store<u8>(out, <u8>((min<u32>(literals, 15) << 4) | min<u32>(more, 15)))
        out = writeRest(out + 1, literals)
        v128.store(out, v128.load(anchor))
        v128.store(out, v128.load(anchor, 16), 16)
        if (literals > 32) copy(anchor + 32, out + 32, literals - 32)
        out += <usize>literals
        store<u16>(out, <u16>(at - match))
        out = writeRest(out + 2, more)
        at = next
        anchor = at
        if (at <= lastOfPage) store<u16>(slotOf(load<u64>(at - 2)), <u16>(at - 2))
      }
    }
  }

  const literals = <u32>(end - anchor)
  store<u8>(out++, <u8>(min<u32>(literals, 15) << 4))
  if (literals >= 15) out = writeLength(out, literals - 15)
  copy(anchor, out, literals)
  const bytes = <u32>(out - target) + literals
  return bytes > limit ? 0 : bytes
}

/**
 * Decompresses `length` bytes at `start` into exactly `rawLength` bytes at OUTPUT; returns 1, or 0 if the input is
 * invalid.
 */
export function decompress(start: usize, length: u32, rawLength: u32): u32 {
  const end = start + <usize>length
  const outEnd = OUTPUT + <usize>rawLength
  let at = start
  let out: usize = OUTPUT
  while (at < end) {
    const token: u32 = load<u8>(at++)
    let literals = token >> 4
    // Short sequences well before both ends need a single check.
    if (literals < 15 && at + 16 <= end && out + 32 <= outEnd) {
      v128.store(out, v128.load(at))
      at += <usize>literals
      out += <usize>literals
    } else {
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
    }

    const distance: u32 = load<u16>(at)
    at += 2
    if (distance == 0 || distance > <u32>(out - OUTPUT)) return 0
    let matched = token & 15
    if (matched < 15 && distance >= 16 && out + 18 <= outEnd) {
      const from = out - <usize>distance
      v128.store(out, v128.load(from))
      v128.store(out + 16, v128.load(from + 16))
      out += <usize>(matched + MIN_MATCH)
      continue
    }
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

/** Appends `length` bytes from `distance` back; source and target may overlap. */
@inline
function repeat(out: usize, distance: u32, length: u32): void {
  if (distance >= 16) {
    copy(out - <usize>distance, out, length)
    return
  }
  const end = out + <usize>length
  let from = out - <usize>distance
  if (distance < 8) {
    // Bytes repeat with a period below 8: after 8 single bytes, a multiple of the period that is at least 8 allows
    // copying words.
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
