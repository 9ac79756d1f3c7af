/**
 * How a private row is stored: whichever of its shapes is smallest.
 *
 * | shape        | bytes                                                       |
 * | ------------ | ----------------------------------------------------------- |
 * | `none`,`all` | nothing: the segment's record says it                        |
 * | `dense`      | one bit per position                                        |
 * | `list`       | gaps between set positions, LEB128                          |
 * | `complement` | gaps between clear positions, LEB128                        |
 *
 * A stored row is one shape byte and these bytes. See docs/file-formats.md#private-rows.
 */
import { popcount32 } from '../../bloom/bit-set.ts'
import type { RowMemory } from '../../bloom/kernels/index.ts'

export const RowShape = { none: 0, all: 1, dense: 2, list: 3, complement: 4 } as const

/** In place of a stored row's number: rows of which nothing needs to be stored. */
export const NO_DOCUMENT = -1
export const ALL_DOCUMENTS = -2

/**
 * @param words bits of the row, at least `documents` of them
 * @param documents positions in use; bits beyond are ignored
 * @param rowBytes length of a dense row
 */
export function encodeRow(words: Uint32Array, documents: number, rowBytes: number): Uint8Array {
  const count = countBits(words, documents)
  if (count === 0) return Uint8Array.of(RowShape.none)
  if (count === documents) return Uint8Array.of(RowShape.all)
  const invert = count > documents - count
  const fewer = invert ? documents - count : count
  // A gap takes one byte at least, so a list of more positions than bytes in a dense row cannot be smaller.
  if (fewer < rowBytes) {
    const gaps = encodeGaps(words, documents, invert, rowBytes)
    if (gaps !== undefined) {
      gaps[0] = invert ? RowShape.complement : RowShape.list
      return gaps
    }
  }
  const dense = new Uint8Array(1 + rowBytes)
  dense[0] = RowShape.dense
  const bytes = new Uint8Array(words.buffer, words.byteOffset, Math.min(words.byteLength, rowBytes))
  dense.set(bytes, 1)
  clearBits(dense.subarray(1), documents)
  return dense
}

/** Bytes that a row's stored form, and what is tried on the way to it, takes at most. */
export function encodingRoom(rowBytes: number): number {
  return 1 + rowBytes + 4
}

/**
 * The same bytes from a short list of positions, written to `out` at `at`, where there is encodingRoom().
 * @param positions ascending; those of [begin, end) are in [from, from + documents) and meant
 * @returns how many bytes; 0 where the list is not the smallest shape
 */
export function encodePositions(
  positions: Uint16Array,
  begin: number,
  end: number,
  from: number,
  documents: number,
  rowBytes: number,
  out: Uint8Array,
  at: number
): number {
  const count = end - begin
  if (count === 0) {
    out[at] = RowShape.none
    return 1
  }
  if (count * 2 > documents || count >= rowBytes) return 0
  out[at] = RowShape.list
  let length = at + 1
  let next = from
  for (let i = begin; i < end; i++) {
    length = writeGap(out, length, positions[i]! - next)
    if (length - at > rowBytes) return 0
    next = positions[i]! + 1
  }
  return length - at
}

/**
 * The positions of a row stored as a list, for rows too short to be worth bits.
 * @param out room for a position per byte of `stored`
 * @returns how many there are, −1 for a row of another shape, or one that is damaged
 */
export function decodePositions(stored: Uint8Array, documents: number, out: Uint16Array): number {
  if (stored[0] !== RowShape.list) return -1
  let count = 0
  let next = 0
  for (let i = 1; i < stored.length; ) {
    let gap = 0
    let byte: number
    let shift = 0
    do {
      byte = stored[i++] ?? 0xff
      gap |= (byte & 0x7f) << shift
      shift += 7
    } while (byte >= 0x80 && shift < 21)
    const position = next + gap
    if (byte >= 0x80 || position >= documents) return -1
    out[count++] = position
    next = position + 1
  }
  return count
}

/** Writes the row's bits to `rowBytes` bytes at `address`; false when the stored bytes are damaged. */
export function decodeRow(
  stored: Uint8Array,
  memory: RowMemory,
  address: number,
  documents: number,
  rowBytes: number
): boolean {
  const { kernels, u8, scratch } = memory
  const shape = stored[0]
  const payload = stored.subarray(1)
  switch (shape) {
    case RowShape.none:
    case RowShape.all:
      kernels.fill(address, shape === RowShape.all ? 0xff : 0, rowBytes)
      break
    case RowShape.dense:
      if (payload.length !== rowBytes) return false
      u8.set(payload, address)
      break
    case RowShape.list:
    case RowShape.complement: {
      if (payload.length > rowBytes) return false
      u8.set(payload, scratch)
      kernels.fill(address, 0, 8192)
      if (kernels.decodeGaps(scratch, payload.length, address) < 0) return false
      if (shape === RowShape.complement) kernels.not(address, address, rowBytes)
      break
    }
    default:
      return false
  }
  kernels.clearFrom(address, documents, rowBytes)
  return true
}

function encodeGaps(words: Uint32Array, documents: number, invert: boolean, limit: number): Uint8Array | undefined {
  const out = new Uint8Array(1 + limit + 4)
  let length = 1
  let next = 0
  const wordCount = Math.ceil(documents / 32)
  for (let w = 0; w < wordCount; w++) {
    let word = invert ? ~words[w]! : words[w]!
    while (word !== 0) {
      const position = w * 32 + (31 - Math.clz32(word & -word))
      word &= word - 1
      if (position >= documents) break
      length = writeGap(out, length, position - next)
      next = position + 1
      if (length > limit) return undefined
    }
  }
  return out.slice(0, length)
}

/** LEB128; returns the offset behind it. */
function writeGap(out: Uint8Array, offset: number, gap: number): number {
  let at = offset
  let rest = gap
  while (rest >= 0x80) {
    out[at++] = (rest & 0x7f) | 0x80
    rest >>>= 7
  }
  out[at++] = rest
  return at
}

function countBits(words: Uint32Array, documents: number): number {
  let count = 0
  const whole = documents >>> 5
  for (let w = 0; w < whole; w++) count += popcount32(words[w]!)
  const rest = documents & 31
  if (rest > 0) count += popcount32(words[whole]! & ((1 << rest) - 1))
  return count
}

function clearBits(bytes: Uint8Array, from: number): void {
  const whole = from >>> 3
  if ((from & 7) !== 0) {
    bytes[whole]! &= (1 << (from & 7)) - 1
    bytes.fill(0, whole + 1)
  } else bytes.fill(0, whole)
}
