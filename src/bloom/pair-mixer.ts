/**
 * The final mixing of every PairHasher: 64 bits of state in two 32-bit lanes.
 *
 * The rounds are those of MurmurHash3_x86_128 reduced to two lanes. The finaliser is different: with two lanes, a
 * difference in only the highest bits would cancel out in the original one. For one seed and tag the result is a
 * bijection of the two words, so distinct pairs of words never collide.
 *
 * Everything here is part of the file format: test/bloom/hash-golden.test.ts pins it.
 * @see Appleby, MurmurHash3, 2011
 */

/** Separates tags from seeds: an odd number, so that different tags change the seed differently. */
export const TAG_FACTOR = 0x9e3779b1

export abstract class PairMixer {
  /** Low 32 bits of the last hash, as int32. */
  lo = 0
  /** High 32 bits of the last hash, as int32. */
  hi = 0

  /** Hashes two words. `length` distinguishes inputs that differ only in padding. */
  protected mixWords(seedLo: number, seedHi: number, tag: number, word0: number, word1: number, length: number): void {
    let a = seedLo ^ Math.imul(tag, TAG_FACTOR)
    let b = seedHi
    let k = Math.imul(word0, 0x239b961b)
    a ^= Math.imul((k << 15) | (k >>> 17), 0xab0e9789)
    a = (Math.imul(((a << 19) | (a >>> 13)) + b, 5) + 0x561ccd1b) | 0
    k = Math.imul(word1, 0xab0e9789)
    b ^= Math.imul((k << 16) | (k >>> 16), 0x38b34ae5)
    b = (Math.imul(((b << 17) | (b >>> 15)) + a, 5) + 0x0bcaa747) | 0
    this.finish(a, b, length)
  }

  /** Spreads every difference in the state over all 64 bits: the lanes are crossed before, between and after. */
  protected finish(a: number, b: number, length: number): void {
    const crossed = b ^ length
    let lo = ((a ^ length) + crossed) | 0
    let hi = (((crossed << 13) | (crossed >>> 19)) + lo) | 0
    lo = Math.imul(lo ^ (lo >>> 16), 0x85ebca6b)
    hi = Math.imul(hi ^ (hi >>> 16), 0xc2b2ae35)
    lo = (lo + ((hi << 16) | (hi >>> 16))) | 0
    hi = (hi + ((lo << 16) | (lo >>> 16))) | 0
    lo = Math.imul(lo ^ (lo >>> 15), 0x85ebca6b)
    hi = Math.imul(hi ^ (hi >>> 15), 0xc2b2ae35)
    lo ^= (hi << 16) | (hi >>> 16)
    hi = (hi + ((lo << 15) | (lo >>> 17))) | 0
    this.lo = lo ^ (lo >>> 16)
    this.hi = hi ^ (hi >>> 15)
  }
}
