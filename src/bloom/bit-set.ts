/**
 * A set of integers in [0, size) as bits in JavaScript memory, for results that outlive the row memory's frames.
 *
 * Invariant: bits at and beyond `size` in the last word are 0, so that counting and comparing words suffices.
 */
import NpmBitSet, { type BitSet as NpmBitSetType } from 'bitset'
import { PetalError } from '../model/errors.ts'

/**
 * @example
 * const set = new BitSet(100)
 * set.set(3)
 * set.set(97)
 * set.forEachDescending((i) => console.log(i)) // 97, 3
 */
export class BitSet {
  /** One more than the largest permitted member. */
  readonly size: number
  /** Bit i is bit (i & 31) of words[i >>> 5]. */
  readonly words: Uint32Array

  /** @throws PetalError BadValue unless `size` is an integer in 0…2^32 */
  constructor(size: number) {
    if (!Number.isInteger(size) || size < 0 || size > 2 ** 32) {
      throw new PetalError('BadValue', `BitSet: size must be an integer from 0 to 2^32, got ${size}`)
    }
    this.size = size
    this.words = new Uint32Array(Math.ceil(size / 32))
  }

  /** Adds a member. @throws PetalError BadValue outside [0, size): the bit would be lost silently */
  set(index: number): void {
    this.#check(index)
    const word = index >>> 5
    this.words[word] = (this.words[word] as number) | (1 << (index & 31))
  }

  /** Removes a member. @throws PetalError BadValue outside [0, size) */
  clear(index: number): void {
    this.#check(index)
    const word = index >>> 5
    this.words[word] = (this.words[word] as number) & ~(1 << (index & 31))
  }

  /** False for anything outside [0, size). */
  get(index: number): boolean {
    if (!(index >= 0 && index < this.size)) return false
    return (((this.words[index >>> 5] as number) >>> (index & 31)) & 1) === 1
  }

  count(): number {
    let total = 0
    for (const word of this.words) total += popcount32(word)
    return total
  }

  isEmpty(): boolean {
    return this.words.every((word) => word === 0)
  }

  clone(): BitSet {
    const copy = new BitSet(this.size)
    copy.words.set(this.words)
    return copy
  }

  /** Calls `visit` with every member, ascending. The set must not change meanwhile. */
  forEach(visit: (index: number) => void): void {
    for (let i = 0; i < this.words.length; i++) {
      for (let word = this.words[i] as number; word !== 0; word = (word & (word - 1)) >>> 0) {
        visit(i * 32 + 31 - Math.clz32(word & -word))
      }
    }
  }

  /** As forEach, from the largest member down. */
  forEachDescending(visit: (index: number) => void): void {
    for (let i = this.words.length - 1; i >= 0; i--) {
      for (let word = this.words[i] as number; word !== 0; ) {
        const bit = 31 - Math.clz32(word)
        visit(i * 32 + bit)
        word = (word ^ (1 << bit)) >>> 0
      }
    }
  }

  /** this &= other, in place. @throws PetalError BadValue unless the sizes are equal */
  and(other: BitSet): this {
    this.#checkSize(other)
    for (let i = 0; i < this.words.length; i++) this.words[i] = (this.words[i] as number) & (other.words[i] as number)
    return this
  }

  /** this |= other, in place. @throws PetalError BadValue unless the sizes are equal */
  or(other: BitSet): this {
    this.#checkSize(other)
    for (let i = 0; i < this.words.length; i++) this.words[i] = (this.words[i] as number) | (other.words[i] as number)
    return this
  }

  /** this &= ~other, in place. @throws PetalError BadValue unless the sizes are equal */
  andNot(other: BitSet): this {
    this.#checkSize(other)
    for (let i = 0; i < this.words.length; i++) this.words[i] = (this.words[i] as number) & ~(other.words[i] as number)
    return this
  }

  /** A copy as npm `bitset`, for callers who continue with that library. */
  toBitSet(): NpmBitSetType {
    const copy = new NpmBitSet()
    // Its constructor also takes bytes, but processes them bit by bit.
    copy.data = Array.from(this.words, (word) => word | 0)
    return copy
  }

  #check(index: number): void {
    if (Number.isInteger(index) && index >= 0 && index < this.size) return
    throw new PetalError('BadValue', `BitSet: expected an integer in [0, ${this.size}), got ${index}`)
  }

  #checkSize(other: BitSet): void {
    if (other.size === this.size) return
    throw new PetalError('BadValue', `BitSet: sizes differ, ${this.size} and ${other.size}`)
  }
}

/** Number of set bits of a 32-bit word. */
export function popcount32(word: number): number {
  let sums = word - ((word >>> 1) & 0x55555555)
  sums = (sums & 0x33333333) + ((sums >>> 2) & 0x33333333)
  return Math.imul((sums + (sums >>> 4)) & 0x0f0f0f0f, 0x01010101) >>> 24
}
