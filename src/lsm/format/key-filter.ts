/**
 * The Bloom filter over a table's keys, which saves lookups from reading the table.
 *
 * Invariants:
 * 1. No false negatives: an added key is always reported. A filter of unknown kind answers "maybe" to everything.
 * 2. A key is hashed once per lookup, whatever the number of tables: filters differ in size only.
 *
 * Section: kind u8 = 1 | probes u8 | bits u32 | the bits; bit p is bit (p & 7) of byte p >> 3.
 */
import { optimalHashes } from '../../bloom/sizing.ts'
import { readU32, writeU32 } from './bytes.ts'

const headerBytes = 6
const doubleHashing = 1
const maxProbes = 24
/** 256 MiB. Far below the size at which the product in bitOf() could round up to the next position. */
const maxBits = 2 ** 31

/**
 * A 53-bit hash of bytes[start, end): Murmur-style, two lanes in one pass.
 * @returns an integer in 0…2^53 − 1: the first 32-bit hash in the low half, 21 bits of the second one above it
 */
export function keyHash(bytes: Uint8Array, start: number, end: number): number {
  const wide = start + ((end - start) & ~3)
  let a = 0x1b873593
  let b = 0x2545f491
  for (let i = start; i < wide; i += 4) {
    const word = bytes[i]! | (bytes[i + 1]! << 8) | (bytes[i + 2]! << 16) | (bytes[i + 3]! << 24)
    const k = Math.imul(word, 0xcc9e2d51)
    a ^= (k << 15) | (k >>> 17)
    a = (Math.imul((a << 13) | (a >>> 19), 5) + 0xe6546b64) | 0
    b = Math.imul(b ^ word, 0x9e3779b1)
    b ^= (b >>> 15) ^ a
  }
  let tail = end - start
  for (let i = wide; i < end; i++) tail = (tail << 8) | bytes[i]!
  a = mix(a ^ Math.imul(tail, 0xcc9e2d51))
  b = mix(b ^ Math.imul(tail ^ 0x55555555, 0x9e3779b1) ^ a)
  return (b >>> 11) * 0x1_0000_0000 + (a >>> 0)
}

function mix(word: number): number {
  let h = Math.imul(word ^ (word >>> 16), 0x85ebca6b)
  h = Math.imul(h ^ (h >>> 13), 0xc2b2ae35)
  return h ^ (h >>> 16)
}

/** The distance between probes, derived from the upper 21 bits of a key's hash; odd, so never 0. */
function stepOf(hash: number): number {
  return Math.imul(Math.floor(hash / 0x1_0000_0000) * 2 + 1, 0x9e3779b1)
}

/** Maps a probe to a position below `bits`: multiplication instead of division, which uses the hash's upper bits. */
function bitOf(probe: number, bits: number): number {
  return Math.floor((probe >>> 0) * 2 ** -32 * bits)
}

/** Collects the hashes of a table's keys, so that the filter can be sized for the actual number of keys. */
export class KeyFilterBuilder {
  readonly #bitsPerKey: number
  #hashes = new Float64Array(1024)
  #count = 0

  /** @param bitsPerKey may be fractional; 0: no filter */
  constructor(bitsPerKey: number) {
    this.#bitsPerKey = bitsPerKey
  }

  /** Call once per key; adding a key again only wastes bits. */
  add(hash: number): void {
    if (this.#count === this.#hashes.length) {
      const larger = new Float64Array(this.#count * 2)
      larger.set(this.#hashes)
      this.#hashes = larger
    }
    this.#hashes[this.#count++] = hash
  }

  /** Current size of the result of finish(). */
  get bytes(): number {
    return this.#bitsPerKey > 0 ? headerBytes + Math.ceil(filterBits(this.#count, this.#bitsPerKey) / 8) : 0
  }

  /** The section; undefined if there is to be no filter. */
  finish(): Uint8Array | undefined {
    return keyFilterSection(this.#count, this.#bitsPerKey, (target, bits, probes) => this.#fill(target, bits, probes))
  }

  #fill(target: Uint8Array, bits: number, probes: number): void {
    for (let i = 0; i < this.#count; i++) {
      const hash = this.#hashes[i]!
      const step = stepOf(hash)
      for (let probe = 0, h = hash | 0; probe < probes; probe++, h = (h + step) | 0) {
        const bit = bitOf(h, bits)
        target[bit >>> 3]! |= 1 << (bit & 7)
      }
    }
  }
}

/** Size in bits of a filter over `keys` keys. @param bitsPerKey above 0 */
export function filterBits(keys: number, bitsPerKey: number): number {
  return Math.min(maxBits, Math.max(64, Math.ceil(keys * bitsPerKey)))
}

/**
 * Builds the section of a filter; undefined if there is to be none.
 * @param fill sets the bits of all keys in the zeroed bytes
 */
export function keyFilterSection(
  keys: number,
  bitsPerKey: number,
  fill: (target: Uint8Array, bits: number, probes: number) => void
): Uint8Array | undefined {
  if (bitsPerKey <= 0) return undefined
  const bits = filterBits(keys, bitsPerKey)
  const probes = Math.min(maxProbes, optimalHashes(bitsPerKey))
  const bytes = Buffer.alloc(headerBytes + Math.ceil(bits / 8))
  bytes[0] = doubleHashing
  bytes[1] = probes
  writeU32(bytes, 2, bits)
  fill(bytes.subarray(headerBytes), bits, probes)
  return bytes
}

export class KeyFilter {
  readonly #bytes: Uint8Array
  readonly #probes: number
  readonly #bits: number

  private constructor(bytes: Uint8Array, probes: number, bits: number) {
    this.#bytes = bytes
    this.#probes = probes
    this.#bits = bits
  }

  /** Undefined for a filter of a later kind or a malformed one: both mean "maybe". */
  static read(section: Uint8Array): KeyFilter | undefined {
    if (section.length < headerBytes || section[0] !== doubleHashing) return undefined
    const probes = section[1]!
    const bits = readU32(section, 2)
    const isSound = probes <= maxProbes && bits >= 1 && bits <= maxBits
    if (!isSound || section.length !== headerBytes + Math.ceil(bits / 8)) return undefined
    return new KeyFilter(section, probes, bits)
  }

  /** False if no key of the table has this hash. @param hash see keyHash() */
  mayContain(hash: number): boolean {
    const bytes = this.#bytes
    const probes = this.#probes
    const bits = this.#bits
    const step = stepOf(hash)
    for (let probe = 0, h = hash | 0; probe < probes; probe++, h = (h + step) | 0) {
      const bit = bitOf(h, bits)
      if ((bytes[headerBytes + (bit >>> 3)]! & (1 << (bit & 7))) === 0) return false
    }
    return true
  }

  get memoryBytes(): number {
    return this.#bytes.length
  }
}
