/**
 * A keyed permutation of the integers in [0, size), and its inverse: it yields random-looking positions from which the
 * integer can be computed back.
 *
 * The domain is widened to the next power of two, 2^w, and run through a Feistel network whose halves have ⌈w/2⌉ and
 * ⌊w/2⌋ bits: each round XORs one half with a function of the other, which is its own inverse. A result outside the
 * domain is encrypted again until it is inside (cycle walking): fewer than two passes on average, since more than half
 * of 2^w is inside.
 *
 * Invariants:
 * 1. forward is a bijection of [0, size), whatever the size and the key, and inverse(forward(x)) = x.
 * 2. The permutation depends on size and key alone and is part of the file format:
 *    test/sharded-bloom/standalone-permutation.test.ts pins it.
 *
 * It scatters but does not conceal: the rounds are fast, not cryptographically strong.
 * @see Luby and Rackoff, How to construct pseudorandom permutations from pseudorandom functions, 1988
 * @see Black and Rogaway, Ciphers with arbitrary finite domains, 2002, for cycle walking
 */
import { PetalError } from '../../model/errors.ts'

/** Even. Four are enough in theory, but with halves of few bits each round absorbs little of the key. */
const ROUNDS = 6

/**
 * @example
 * const permutation = new KeyedPermutation(1000, 1, 2)
 * const position = permutation.forward(7) // somewhere in [0, 1000)
 * permutation.inverse(position) // 7
 */
export class KeyedPermutation {
  /** Size of the domain. */
  readonly size: number
  readonly #keys: Int32Array
  /** 2^⌈w/2⌉ − 1 and 2^⌊w/2⌋ − 1: at most 27 bits, so that both halves are int32. */
  readonly #highMask: number
  readonly #lowMask: number

  /**
   * @param size an integer in 1…2^53
   * @param keyLo low half of the key, any int32; `keyHi` the high half
   * @throws PetalError BadValue for another size
   */
  constructor(size: number, keyLo: number, keyHi: number) {
    if (!Number.isInteger(size) || size < 1 || size > 2 ** 53) {
      throw new PetalError('BadValue', `Keyed permutation: size must be an integer from 1 to 2^53, got ${size}`)
    }
    this.size = size
    const bits = bitsBelow(size)
    this.#highMask = 2 ** Math.ceil(bits / 2) - 1
    this.#lowMask = 2 ** Math.floor(bits / 2) - 1
    this.#keys = new Int32Array(ROUNDS)
    for (let round = 0; round < ROUNDS; round++) {
      this.#keys[round] = mix(keyLo + Math.imul(round + 1, 0x9e3779b9)) ^ mix(keyHi ^ Math.imul(round + 1, 0x85ebca6b))
    }
  }

  /** @throws PetalError BadValue unless `value` is an integer in [0, size) */
  forward(value: number): number {
    this.#check(value)
    let walked = value
    do walked = this.#encrypt(walked)
    while (walked >= this.size)
    return walked
  }

  /** @throws PetalError BadValue unless `value` is an integer in [0, size) */
  inverse(value: number): number {
    this.#check(value)
    let walked = value
    do walked = this.#decrypt(walked)
    while (walked >= this.size)
    return walked
  }

  #encrypt(value: number): number {
    const width = this.#lowMask + 1
    let high = Math.floor(value / width)
    let low = value - high * width
    for (let round = 0; round < ROUNDS; round += 2) {
      high ^= mix(low ^ this.#keys[round]!) & this.#highMask
      low ^= mix(high ^ this.#keys[round + 1]!) & this.#lowMask
    }
    return high * width + low
  }

  #decrypt(value: number): number {
    const width = this.#lowMask + 1
    let high = Math.floor(value / width)
    let low = value - high * width
    for (let round = ROUNDS - 2; round >= 0; round -= 2) {
      low ^= mix(high ^ this.#keys[round + 1]!) & this.#lowMask
      high ^= mix(low ^ this.#keys[round]!) & this.#highMask
    }
    return high * width + low
  }

  #check(value: number): void {
    if (Number.isInteger(value) && value >= 0 && value < this.size) return
    throw new PetalError('BadValue', `Keyed permutation: expected an integer in [0, ${this.size}), got ${value}`)
  }
}

/**
 * Number of bits of the integers below `size`. Not computed by Math.log2, which rounds up just below a power of two.
 */
function bitsBelow(size: number): number {
  let bits = 0
  for (let reach = 1; reach < size; reach *= 2) bits++
  return bits
}

/** The finaliser of MurmurHash3 (Appleby 2011): a bijection in which every bit depends on every other. */
function mix(word: number): number {
  let mixed = Math.imul(word ^ (word >>> 16), 0x85ebca6b)
  mixed = Math.imul(mixed ^ (mixed >>> 13), 0xc2b2ae35)
  return mixed ^ (mixed >>> 16)
}
