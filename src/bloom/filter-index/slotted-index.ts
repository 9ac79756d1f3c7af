/**
 * The common part of all filter indexes: which slots are in use, and which of those have no filter worth testing.
 *
 * Invariant: `filtered` and `unfiltered` are disjoint, and together are the slots in use.
 */

import { PetalError } from '../../model/errors.ts'
import { type BitSet, popcount32 } from '../bit-set.ts'
import type { FilterIndex } from './filter-index.ts'

/**
 * Share of set bits above which testing is not worthwhile: at k = 6 half of all absent values pass. Such a filter is
 * treated as all ones.
 */
export const saturatedFill = 0.9

const maxSlots = 2 ** 24

export abstract class SlottedIndex implements FilterIndex {
  readonly bits: number
  /** Bytes of a filter. */
  protected readonly filterBytes: number
  /** Slots with a filter worth testing, as a bit set. */
  protected filtered = new Uint32Array(0)
  #unfiltered = new Uint32Array(0)
  #size = 0
  #unfilteredSize = 0

  constructor(bits: number) {
    if (!Number.isInteger(bits) || bits < 1 || bits > 2 ** 30) {
      throw new PetalError('BadValue', `Filter index: bits must be an integer from 1 to 2^30, got ${bits}`)
    }
    this.bits = bits
    this.filterBytes = Math.ceil(bits / 8)
  }

  abstract readonly memoryBytes: number

  growthOf(_slot: number): number {
    return this.filterBytes
  }

  get size(): number {
    return this.#size
  }

  get unfiltered(): number {
    return this.#unfilteredSize
  }

  get capacity(): number {
    return this.filtered.length * 32
  }

  insert(slot: number, filter: Uint8Array | undefined): void {
    this.#reserve(slot)
    if (filter !== undefined && filter.length !== this.filterBytes) {
      throw new PetalError('BadValue', `Filter index: expected ${this.filterBytes} bytes, got ${filter.length}`)
    }
    if (filter === undefined || countBits(filter) > saturatedFill * this.bits) {
      setBit(this.#unfiltered, slot)
      this.#unfilteredSize++
    } else {
      this.add(slot, filter)
      setBit(this.filtered, slot)
    }
    this.#size++
  }

  remove(slot: number): void {
    if (hasBit(this.filtered, slot)) {
      clearBit(this.filtered, slot)
      this.drop(slot)
    } else if (hasBit(this.#unfiltered, slot)) {
      clearBit(this.#unfiltered, slot)
      this.#unfilteredSize--
    } else {
      throw new PetalError('InternalError', `Filter index: slot ${slot} is not in use`)
    }
    this.#size--
  }

  candidates(positions: Int32Array, into: BitSet): void {
    if (into.size < this.capacity) {
      throw new PetalError('BadValue', `Filter index: a set of ${into.size} cannot hold ${this.capacity} slots`)
    }
    into.words.fill(0)
    into.words.set(this.#unfiltered)
    this.match(positions, into.words)
  }

  /** Adds a filter worth testing. */
  protected abstract add(slot: number, filter: Uint8Array): void
  /** Removes a filter added by add(); its slot is no longer in `filtered`. */
  protected abstract drop(slot: number): void
  /** Sets the bits of the filtered slots whose filters have all the positions set. */
  protected abstract match(positions: Int32Array, found: Uint32Array): void

  #reserve(slot: number): void {
    if (!Number.isInteger(slot) || slot < 0 || slot >= maxSlots) {
      throw new PetalError('InternalError', `Filter index: a slot is an integer in [0, ${maxSlots}), got ${slot}`)
    }
    if (hasBit(this.filtered, slot) || hasBit(this.#unfiltered, slot)) {
      throw new PetalError('InternalError', `Filter index: slot ${slot} is in use`)
    }
    const words = (slot >>> 5) + 1
    if (words <= this.filtered.length) return
    const capacity = Math.max(words, this.filtered.length * 2)
    this.filtered = widened(this.filtered, capacity)
    this.#unfiltered = widened(this.#unfiltered, capacity)
  }
}

/** Number of set bits. */
export function countBits(bytes: Uint8Array): number {
  let count = 0
  let i = 0
  for (const end = bytes.length & ~3; i < end; i += 4) {
    count += popcount32(bytes[i]! | (bytes[i + 1]! << 8) | (bytes[i + 2]! << 16) | (bytes[i + 3]! << 24))
  }
  for (; i < bytes.length; i++) count += popcount32(bytes[i]!)
  return count
}

/** Whether a filter has all of the positions set. */
export function hasAll(filter: Uint8Array, positions: Int32Array): boolean {
  for (let i = 0; i < positions.length; i++) {
    const position = positions[i]!
    if (((filter[position >>> 3]! >>> (position & 7)) & 1) === 0) return false
  }
  return true
}

export function setBit(words: Uint32Array, slot: number): void {
  words[slot >>> 5] = words[slot >>> 5]! | (1 << (slot & 31))
}

export function clearBit(words: Uint32Array, slot: number): void {
  words[slot >>> 5] = words[slot >>> 5]! & ~(1 << (slot & 31))
}

function hasBit(words: Uint32Array, slot: number): boolean {
  // Reads past the end yield undefined, which shifts as 0.
  return ((words[slot >>> 5]! >>> (slot & 31)) & 1) === 1
}

function widened(words: Uint32Array, length: number): Uint32Array<ArrayBuffer> {
  const wider = new Uint32Array(length)
  wider.set(words)
  return wider
}
