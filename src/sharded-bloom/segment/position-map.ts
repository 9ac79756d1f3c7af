/**
 * Maps the positions of a segment to ordinals.
 *
 * When documents are added one after another, position and ordinal grow together. A rebuilt segment has positions only
 * for the documents that were live: its ordinals are a sorted list.
 *
 * Stored as a kind byte and the smaller of two forms: a bitmap over the span, or the gaps between ordinals as varints.
 *
 * Invariants:
 * 1. Ordinals ascend with positions: sorting by one sorts by the other.
 * 2. Whatever bytes it is given, decodePositions() returns a map of `documents` ascending ordinals within the span, or
 *    undefined.
 */
import { popcount32 } from '../../bloom/bit-set.ts'

export interface PositionMap {
  /** The ordinal of position 0 if ordinals are consecutive; undefined otherwise. */
  readonly first: number | undefined
  /** REQUIRES: a position of the segment. */
  ordinalAt(position: number): number
  /** The position of an ordinal of the span; −1 if it has none. */
  positionOf(ordinal: number): number
  /** How many of `documents` positions have ordinals below `limit`. */
  positionsBelow(limit: number, documents: number): number
}

/** Limits the ordinals of one segment, so that offsets fit 32 bits and bitmaps stay short. */
export const maxSpan = 2 ** 31

const bitmapKind = 0
const gapsKind = 1

/** Maps position 0 to `firstOrdinal`, and so on. */
export function consecutive(firstOrdinal: number): PositionMap {
  return {
    first: firstOrdinal,
    ordinalAt: (position) => firstOrdinal + position,
    positionOf: (ordinal) => ordinal - firstOrdinal,
    positionsBelow: (limit, documents) => Math.max(0, Math.min(limit - firstOrdinal, documents))
  }
}

/** @param offsets ascending, of each ordinal from `firstOrdinal` */
export function ofOffsets(firstOrdinal: number, offsets: Uint32Array): PositionMap {
  return {
    first: undefined,
    ordinalAt: (position) => firstOrdinal + offsets[position]!,
    positionOf: (ordinal) => {
      const position = lowerBound(offsets, ordinal - firstOrdinal)
      return offsets[position] === ordinal - firstOrdinal ? position : -1
    },
    positionsBelow: (limit, documents) => Math.min(documents, lowerBound(offsets, limit - firstOrdinal))
  }
}

/** @param span every offset is below it */
export function encodeOffsets(offsets: Uint32Array, span: number): Uint8Array {
  const bitmapBytes = 1 + Math.ceil(span / 8)
  const gaps = new Uint8Array(1 + 5 * offsets.length)
  gaps[0] = gapsKind
  let length = 1
  let next = 0
  for (const offset of offsets) {
    let gap = offset - next
    for (; gap > 0x7f; gap >>>= 7) gaps[length++] = (gap & 0x7f) | 0x80
    gaps[length++] = gap
    next = offset + 1
  }
  if (length <= bitmapBytes) return gaps.slice(0, length)
  const bitmap = new Uint8Array(bitmapBytes)
  bitmap[0] = bitmapKind
  for (const offset of offsets) bitmap[1 + (offset >>> 3)]! |= 1 << (offset & 7)
  return bitmap
}

/** Returns undefined for bytes that are not a map of this many documents. */
export function decodePositions(
  bytes: Uint8Array,
  firstOrdinal: number,
  documents: number,
  span: number
): PositionMap | undefined {
  if (bytes[0] === bitmapKind) return BitmapPositions.decode(bytes, firstOrdinal, documents, span)
  const offsets = bytes[0] === gapsKind ? decodeGaps(bytes, documents, span) : undefined
  return offsets && ofOffsets(firstOrdinal, offsets)
}

/** A bitmap stores the word of every 2 ** hintBits-th position, so that a lookup scans a few words at most. */
const hintBits = 5

/** A bitmap in its stored form, with the number of documents before each of its words. */
class BitmapPositions implements PositionMap {
  readonly first = undefined
  readonly #firstOrdinal: number
  readonly #words: Uint32Array
  readonly #ranks: Uint32Array
  /** For each run of 2 ** hintBits positions, the word with the bit of the first. */
  readonly #hints: Uint32Array

  private constructor(firstOrdinal: number, words: Uint32Array, ranks: Uint32Array) {
    this.#firstOrdinal = firstOrdinal
    this.#words = words
    this.#ranks = ranks
    this.#hints = hintsOf(ranks)
  }

  static decode(bytes: Uint8Array, firstOrdinal: number, documents: number, span: number): PositionMap | undefined {
    if (bytes.length !== 1 + Math.ceil(span / 8)) return undefined
    const words = new Uint32Array(Math.ceil(span / 32))
    new Uint8Array(words.buffer).set(bytes.subarray(1))
    const isBeyond = (span & 31) !== 0 && words.at(-1)! >>> (span & 31) !== 0
    const ranks = new Uint32Array(words.length + 1)
    for (let w = 0; w < words.length; w++) ranks[w + 1] = ranks[w]! + popcount32(words[w]!)
    return isBeyond || ranks[words.length] !== documents ? undefined : new BitmapPositions(firstOrdinal, words, ranks)
  }

  ordinalAt(position: number): number {
    const ranks = this.#ranks
    let word = this.#hints[position >>> hintBits]!
    while (ranks[word + 1]! <= position) word++
    return this.#firstOrdinal + word * 32 + selectBit(this.#words[word]!, position - ranks[word]!)
  }

  positionOf(ordinal: number): number {
    const offset = ordinal - this.#firstOrdinal
    if (offset < 0 || offset >= this.#words.length * 32) return -1
    const isLive = (this.#words[offset >>> 5]! & (1 << (offset & 31))) !== 0
    return isLive ? this.#rank(offset) : -1
  }

  positionsBelow(limit: number, documents: number): number {
    const offset = limit - this.#firstOrdinal
    if (offset <= 0) return 0
    return offset >= this.#words.length * 32 ? documents : Math.min(documents, this.#rank(offset))
  }

  /** Number of documents before the offset. */
  #rank(offset: number): number {
    const below = this.#words[offset >>> 5]! & ((1 << (offset & 31)) - 1)
    return this.#ranks[offset >>> 5]! + popcount32(below)
  }
}

function hintsOf(ranks: Uint32Array): Uint32Array {
  const documents = ranks.at(-1)!
  const hints = new Uint32Array(Math.ceil(documents / 2 ** hintBits))
  let word = 0
  for (let i = 0; i < hints.length; i++) {
    while (ranks[word + 1]! <= i << hintBits) word++
    hints[i] = word
  }
  return hints
}

/** placesInByte[byte * 8 + n] is the place of the set bit of `byte` with n set bits below it. */
const placesInByte = new Uint8Array(256 * 8)
for (let byte = 0; byte < 256; byte++) {
  for (let place = 0, before = 0; place < 8; place++) if (byte & (1 << place)) placesInByte[byte * 8 + before++] = place
}

/**
 * Returns the place of the set bit with `before` set bits below it. REQUIRES: there is one
 * @see Vigna 2008, Broadword Implementation of Rank/Select Queries
 */
function selectBit(word: number, before: number): number {
  let sums = word - ((word >>> 1) & 0x55555555)
  sums = (sums & 0x33333333) + ((sums >>> 2) & 0x33333333)
  // Byte i counts the set bits of bytes 0 to i.
  sums = Math.imul((sums + (sums >>> 4)) & 0x0f0f0f0f, 0x01010101)
  const first = ((sums & 0xff) - before - 1) >>> 31
  const second = (((sums >>> 8) & 0xff) - before - 1) >>> 31
  const third = (((sums >>> 16) & 0xff) - before - 1) >>> 31
  const shift = (first + second + third) << 3
  const rest = before - (((sums << 8) >>> shift) & 0xff)
  return shift + placesInByte[(((word >>> shift) & 0xff) << 3) | rest]!
}

function decodeGaps(bytes: Uint8Array, documents: number, span: number): Uint32Array | undefined {
  const offsets = new Uint32Array(documents)
  let at = 1
  let next = 0
  for (let i = 0; i < documents; i++) {
    let gap = 0
    let scale = 1
    for (;;) {
      const byte = bytes[at++]
      if (byte === undefined || scale > 2 ** 28) return undefined
      gap += (byte & 0x7f) * scale
      scale *= 0x80
      if (byte < 0x80) break
    }
    const offset = next + gap
    if (offset >= span) return undefined
    offsets[i] = offset
    next = offset + 1
  }
  return at === bytes.length ? offsets : undefined
}

/** Index of the first element that is not below `offset`. */
function lowerBound(offsets: Uint32Array, offset: number): number {
  let low = 0
  let high = offsets.length
  while (low < high) {
    const middle = (low + high) >>> 1
    if (offsets[middle]! < offset) low = middle + 1
    else high = middle
  }
  return low
}
