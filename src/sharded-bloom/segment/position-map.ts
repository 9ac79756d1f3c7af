/**
 * Which ordinal each position of a segment stands for.
 *
 * Where documents are added one after the other, position and ordinal grow together. A segment that was built again has
 * positions for the documents that were live, and none for the others: its ordinals are a sorted list.
 *
 * Stored as a kind and the smaller of two forms: a bitmap over the span, or the gaps between ordinals as varints.
 *
 * Invariants:
 * 1. Ordinals ascend with positions: what is in order by one is in order by the other.
 * 2. Whatever bytes decodePositions() is given, the result is a map of `documents` ascending ordinals within the span, or
 *    none.
 */
import { popcount32 } from '../../bloom/bit-set.ts'

export interface PositionMap {
  /** The ordinal of position 0 where ordinals follow one another; undefined elsewhere. */
  readonly first: number | undefined
  /** REQUIRES: a position of the segment. */
  ordinalAt(position: number): number
  /** The position of an ordinal of the span; −1 for one that has none. */
  positionOf(ordinal: number): number
  /** How many positions have ordinals below `limit`, of `documents`. */
  positionsBelow(limit: number, documents: number): number
}

/** Ordinals of one segment: their offsets have 32 bits, and bitmaps stay short. */
export const maxSpan = 2 ** 31

const bitmapKind = 0
const gapsKind = 1

/** Position 0 is `firstOrdinal`, and so on. */
export function consecutive(firstOrdinal: number): PositionMap {
  return {
    first: firstOrdinal,
    ordinalAt: (position) => firstOrdinal + position,
    positionOf: (ordinal) => ordinal - firstOrdinal,
    positionsBelow: (limit, documents) => Math.max(0, Math.min(limit - firstOrdinal, documents))
  }
}

/** @param offsets of the ordinals from the first one, ascending */
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

/** undefined for bytes that are no map of so many documents. */
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

/** A bitmap as it is stored, with the number of documents before each of its words. */
class BitmapPositions implements PositionMap {
  readonly first = undefined
  readonly #firstOrdinal: number
  readonly #words: Uint32Array
  readonly #ranks: Uint32Array
  /** The word asked for last: results are walked in order. */
  #recent = 0

  private constructor(firstOrdinal: number, words: Uint32Array, ranks: Uint32Array) {
    this.#firstOrdinal = firstOrdinal
    this.#words = words
    this.#ranks = ranks
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
    const word = this.#wordOf(position)
    let rest = this.#words[word]!
    for (let skip = position - this.#ranks[word]!; skip > 0; skip--) rest &= rest - 1
    return this.#firstOrdinal + word * 32 + 31 - Math.clz32(rest & -rest)
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

  /** Documents before the offset. */
  #rank(offset: number): number {
    const below = this.#words[offset >>> 5]! & ((1 << (offset & 31)) - 1)
    return this.#ranks[offset >>> 5]! + popcount32(below)
  }

  /** The word that holds the position's bit: looked for around the one before, in steps that double. */
  #wordOf(position: number): number {
    const ranks = this.#ranks
    let low = this.#recent
    let high = low + 1
    if (position < ranks[low]!) {
      for (let step = 1; position < ranks[low]!; step *= 2) {
        high = low
        low = Math.max(0, low - step)
      }
    } else {
      for (let step = 1; high < ranks.length - 1 && position >= ranks[high]!; step *= 2) {
        low = high
        high = Math.min(ranks.length - 1, high + step)
      }
    }
    // ranks[low] ≤ position < ranks[high]
    while (high - low > 1) {
      const middle = (low + high) >>> 1
      if (position < ranks[middle]!) high = middle
      else low = middle
    }
    this.#recent = low
    return low
  }
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

/** The first index whose number is not below `offset`. */
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
