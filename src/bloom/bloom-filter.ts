/**
 * A Bloom filter over 64-bit hashes, which answers "maybe" or "certainly not".
 *
 * Invariants:
 * 1. A key that was added may be contained, for ever: in copies, in unions, and after any round trip through bytes.
 * 2. A key's bits are the numbers from rowNumbers(lo, hi, bits, hashes, …), so that an index over many filters of one
 *    shape computes them once.
 *
 * Encoding: format (1), hashes, two zeros, bits / 64 as u32, then the bits; little-endian, bit p is bit (p & 7) of
 * byte p >> 3. No checksum: the block or record that contains a filter has one.
 */
import { PetalError } from '../model/errors.ts'
import { popcount32 } from './bit-set.ts'
import { nextProbe, reduce } from './row-numbers.ts'
import { optimalBits, optimalHashes } from './sizing.ts'

const FORMAT = 1
const HEADER_BYTES = 8
const MAX_BITS = 2 ** 30
const MAX_HASHES = 32

/**
 * @example
 * const filter = BloomFilter.forKeys(1000, 0.01)
 * hasher.hashString(0, 0, 0, 'petal')
 * filter.add(hasher.lo, hasher.hi)
 * filter.mayContain(hasher.lo, hasher.hi) // true
 */
export class BloomFilter {
  /** m, a multiple of 64. */
  readonly bits: number
  /** k, the number of distinct bits set per key. */
  readonly hashes: number
  readonly #bytes: Uint8Array
  readonly #width: number
  /** From this probe on, strata are one bit wider: together they hold the remainder of bits / hashes. */
  readonly #firstWider: number

  /**
   * @param bits m, a multiple of 64, 64…2^30
   * @param hashes k, 1…32
   * @throws PetalError BadValue for anything else
   */
  constructor(bits: number, hashes: number) {
    const problem = shapeProblem(bits, hashes)
    if (problem !== undefined) throw new PetalError('BadValue', `Bloom filter: ${problem}`)
    this.bits = bits
    this.hashes = hashes
    this.#bytes = new Uint8Array(bits / 8)
    this.#width = Math.floor(bits / hashes)
    this.#firstWider = hashes - (bits % hashes)
  }

  /** Creates a filter for this number of keys and this false-positive rate. */
  static forKeys(keys: number, falsePositiveRate: number): BloomFilter {
    const bits = Math.max(64, Math.ceil(optimalBits(keys, falsePositiveRate) / 64) * 64)
    return new BloomFilter(bits, Math.min(MAX_HASHES, optimalHashes(bits / Math.max(1, keys))))
  }

  /** Adds a key by its hash, as left by `PairHasher`. */
  add(lo: number, hi: number): void {
    let state = lo
    let first = 0
    for (let i = 0; i < this.hashes; i++) {
      state = nextProbe(state, hi)
      const width = i < this.#firstWider ? this.#width : this.#width + 1
      const bit = first + reduce(state, width)
      this.#bytes[bit >>> 3] = (this.#bytes[bit >>> 3] as number) | (1 << (bit & 7))
      first += width
    }
  }

  /** False only if no key with this hash was added. */
  mayContain(lo: number, hi: number): boolean {
    let state = lo
    let first = 0
    for (let i = 0; i < this.hashes; i++) {
      state = nextProbe(state, hi)
      const width = i < this.#firstWider ? this.#width : this.#width + 1
      const bit = first + reduce(state, width)
      if ((((this.#bytes[bit >>> 3] as number) >>> (bit & 7)) & 1) === 0) return false
      first += width
    }
    return true
  }

  /** Adds every key of another filter, in place. @throws PetalError BadValue unless bits and hashes are equal */
  union(other: BloomFilter): this {
    if (other.bits !== this.bits || other.hashes !== this.hashes) {
      throw new PetalError(
        'BadValue',
        `Bloom filter: cannot combine filters of ${this.bits} bits, ${this.hashes} hashes and ${other.bits} bits, ${other.hashes} hashes`
      )
    }
    const bytes = this.#bytes
    for (let i = 0; i < bytes.length; i++) bytes[i] = (bytes[i] as number) | (other.#bytes[i] as number)
    return this
  }

  clone(): BloomFilter {
    return new BloomFilter(this.bits, this.hashes).union(this)
  }

  /** Share of set bits, 0…1; its k-th power is the false-positive rate. */
  fillRatio(): number {
    let count = 0
    for (const byte of this.#bytes) count += popcount32(byte)
    return count / this.bits
  }

  toBytes(): Uint8Array {
    const bytes = new Uint8Array(HEADER_BYTES + this.#bytes.length)
    bytes[0] = FORMAT
    bytes[1] = this.hashes
    new DataView(bytes.buffer).setUint32(4, this.bits / 64, true)
    bytes.set(this.#bytes, HEADER_BYTES)
    return bytes
  }

  /**
   * Restores a filter from the output of toBytes(), as a copy. Never allocates more than the size of `bytes`.
   * @param source where the bytes come from, for the error
   * @throws PetalError UnsupportedFormat for a different format number, DataCorruption for any other problem
   */
  static fromBytes(bytes: Uint8Array, source = 'Bloom filter'): BloomFilter {
    if (bytes.length < HEADER_BYTES) {
      throw corrupt(source, bytes.length, `expected at least ${HEADER_BYTES} bytes, got ${bytes.length}`)
    }
    const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength)
    const format = view.getUint8(0)
    if (format !== FORMAT) {
      throw new PetalError('UnsupportedFormat', `${source}: expected format ${FORMAT}, got ${format}`, {
        details: { source, offset: 0 }
      })
    }
    const hashes = view.getUint8(1)
    const bits = view.getUint32(4, true) * 64
    const problem = shapeProblem(bits, hashes)
    if (problem !== undefined) throw corrupt(source, 1, problem)
    if (view.getUint16(2, true) !== 0) throw corrupt(source, 2, 'expected two zero bytes')
    if (bytes.length !== HEADER_BYTES + bits / 8) {
      throw corrupt(source, HEADER_BYTES, `expected ${bits / 8} bytes of bits, got ${bytes.length - HEADER_BYTES}`)
    }
    const filter = new BloomFilter(bits, hashes)
    filter.#bytes.set(bytes.subarray(HEADER_BYTES))
    return filter
  }
}

function shapeProblem(bits: number, hashes: number): string | undefined {
  if (!Number.isInteger(bits) || bits < 64 || bits > MAX_BITS || bits % 64 !== 0) {
    return `bits must be a multiple of 64 from 64 to 2^30, got ${bits}`
  }
  if (!Number.isInteger(hashes) || hashes < 1 || hashes > MAX_HASHES) {
    return `hashes must be an integer from 1 to ${MAX_HASHES}, got ${hashes}`
  }
  return undefined
}

function corrupt(source: string, offset: number, problem: string): PetalError {
  return new PetalError('DataCorruption', `${source}: damaged Bloom filter at byte ${offset}: ${problem}`, {
    details: { source, offset }
  })
}
