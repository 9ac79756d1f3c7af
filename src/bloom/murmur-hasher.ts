/**
 * A 64-bit Murmur-style hash over the UTF-16 units of a string or the bytes of a double, in plain JavaScript.
 *
 * Strings are not encoded first and nothing is allocated: that makes it faster here than any hash called across a
 * language boundary (docs/hashing.md). It does not resist crafted collisions: an index compares pairs by their bytes
 * wherever equality has to be exact.
 */
import type { PairHasher } from './hash.ts'
import { PairMixer, TAG_FACTOR } from './pair-mixer.ts'

const double = new Float64Array(1)
const words = new Int32Array(double.buffer)

export class MurmurHasher extends PairMixer implements PairHasher {
  readonly name = 'murmur'

  hashString(seedLo: number, seedHi: number, tag: number, text: string): void {
    const length = text.length
    const wide = length & ~3
    let a = seedLo ^ Math.imul(tag, TAG_FACTOR)
    let b = seedHi | 0
    let i = 0
    for (; i < wide; i += 4) {
      let k = Math.imul(text.charCodeAt(i) | (text.charCodeAt(i + 1) << 16), 0x239b961b)
      a ^= Math.imul((k << 15) | (k >>> 17), 0xab0e9789)
      a = (Math.imul(((a << 19) | (a >>> 13)) + b, 5) + 0x561ccd1b) | 0
      k = Math.imul(text.charCodeAt(i + 2) | (text.charCodeAt(i + 3) << 16), 0xab0e9789)
      b ^= Math.imul((k << 16) | (k >>> 16), 0x38b34ae5)
      b = (Math.imul(((b << 17) | (b >>> 15)) + a, 5) + 0x0bcaa747) | 0
    }
    if (i < length) {
      let word0 = text.charCodeAt(i)
      if (i + 1 < length) word0 |= text.charCodeAt(i + 1) << 16
      let k = Math.imul(word0, 0x239b961b)
      a ^= Math.imul((k << 15) | (k >>> 17), 0xab0e9789)
      a = (Math.imul(((a << 19) | (a >>> 13)) + b, 5) + 0x561ccd1b) | 0
      if (i + 2 < length) {
        k = Math.imul(text.charCodeAt(i + 2), 0xab0e9789)
        b ^= Math.imul((k << 16) | (k >>> 16), 0x38b34ae5)
        b = (Math.imul(((b << 17) | (b >>> 15)) + a, 5) + 0x0bcaa747) | 0
      }
    }
    this.finish(a, b, length)
  }

  hashNumber(seedLo: number, seedHi: number, tag: number, value: number): void {
    // Adding 0 turns −0 into 0. A NaN may have any payload, and the hash must not depend on it.
    double[0] = value + 0
    const isNan = Number.isNaN(value)
    const low = isNan ? 0 : (words[0] as number)
    const high = isNan ? 0x7ff80000 : (words[1] as number)
    this.mixWords(seedLo, seedHi, tag, low, high, 4)
  }
}
