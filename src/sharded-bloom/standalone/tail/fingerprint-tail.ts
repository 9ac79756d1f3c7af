/**
 * Buckets of fingerprints, each stored with the position of an id that has the pair: a variant of the essay's quotient
 * filter. A pair's hash gives the bucket (the quotient) and f more bits, the fingerprint (the remainder).
 *
 * An entry is one u32, the fingerprint above the position, and a bucket is sorted when first read after an add, which
 * makes the positions of a pair adjacent. A false positive takes a collision of bucket and fingerprint, since entries
 * share no bits: this is the structure with R = 1 and P·2^f rows, of which only the set bits are stored.
 *
 * Invariant: a sorted bucket holds each entry once or, when counting, as often as it was added.
 *
 * As bytes: for each bucket the number of entries, the first entry, and the distance of each further entry from the one
 * before, all LEB128.
 * @see Bender et al., Don't thrash: how to cache your hash on flash, 2012, for quotient filters
 */
import type { BitSet } from '../../../bloom/bit-set.ts'
import { nextProbe, reduce } from '../../../bloom/row-numbers.ts'
import { ByteReader } from '../byte-reader.ts'
import { varintBytes, writeVarint } from '../byte-writer.ts'
import { bitWidth, type Parameters } from '../options.ts'
import { Bucket } from './bucket.ts'
import type { Tail } from './tail.ts'

export class FingerprintTail implements Tail {
  readonly #buckets: readonly Bucket[]
  readonly #bits: number
  readonly #positionBits: number
  readonly #fingerprintBits: number
  readonly #isCounting: boolean
  /** Entry of the fingerprint last looked up with position 0; see #find(). */
  #first = 0

  constructor({ shards, bits, fingerprintBits, counting }: Parameters) {
    this.#buckets = Array.from({ length: shards }, () => new Bucket(counting))
    this.#bits = bits
    this.#positionBits = bitWidth(bits)
    this.#fingerprintBits = fingerprintBits
    this.#isCounting = counting
  }

  get virtualShards(): number {
    return this.#buckets.length * 2 ** this.#fingerprintBits
  }

  get byteLength(): number {
    return this.#buckets.reduce((sum, bucket) => sum + bucket.byteLength, 0)
  }

  add(lo: number, hi: number, positions: Uint32Array): void {
    const bucket = this.#find(lo, hi)
    for (const position of positions) bucket.push(this.#first + position)
  }

  remove(lo: number, hi: number, positions: Uint32Array): boolean {
    if (!this.mayContain(lo, hi, positions)) return false
    const bucket = this.#find(lo, hi)
    for (const position of positions) bucket.removeOne(this.#first + position)
    return true
  }

  mayContain(lo: number, hi: number, positions: Uint32Array): boolean {
    const bucket = this.#find(lo, hi)
    const entries = bucket.sorted()
    for (const position of positions) {
      const entry = this.#first + position
      if (entries[bucket.firstFrom(entry)] !== entry) return false
    }
    return true
  }

  read(lo: number, hi: number, out: BitSet): void {
    out.words.fill(0)
    const bucket = this.#find(lo, hi)
    const entries = bucket.sorted()
    const end = this.#first + this.#bits
    for (let i = bucket.firstFrom(this.#first); i < entries.length && entries[i]! < end; i++) {
      out.set(entries[i]! - this.#first)
    }
  }

  density(): number {
    let entries = 0
    for (const bucket of this.#buckets) entries += bucket.countDistinct()
    return entries / (this.virtualShards * this.#bits)
  }

  toBytes(): Uint8Array {
    let length = 0
    const count = (value: number): void => {
      length += varintBytes(value)
    }
    for (const bucket of this.#buckets) eachNumber(bucket.sorted(), count)
    const bytes = new Uint8Array(length)
    let at = 0
    const write = (value: number): void => {
      at = writeVarint(bytes, at, value)
    }
    for (const bucket of this.#buckets) eachNumber(bucket.sorted(), write)
    return bytes
  }

  load(bytes: Uint8Array): void {
    const reader = new ByteReader(bytes, 'buckets')
    const end = 2 ** (this.#fingerprintBits + this.#positionBits)
    for (const bucket of this.#buckets) {
      // Each entry takes at least one byte, so no more is reserved than the bytes can hold.
      const count = reader.varint(reader.remaining)
      bucket.reserve(count)
      let entry = 0
      for (let i = 0; i < count; i++) {
        const distance = reader.varint(2 ** 32)
        entry += distance
        if (entry >= end || entry % 2 ** this.#positionBits >= this.#bits)
          throw reader.corrupt(`invalid entry ${entry}`)
        if (i > 0 && distance === 0 && !this.#isCounting) throw reader.corrupt(`entry ${entry} occurs twice`)
        bucket.push(entry)
      }
    }
    if (reader.remaining > 0) throw reader.corrupt(`${reader.remaining} extra bytes`)
  }

  /** Takes the bucket from the generator's first state, the fingerprint from its second, to use all 64 bits. */
  #find(lo: number, hi: number): Bucket {
    const state = nextProbe(lo, hi)
    this.#first = reduce(nextProbe(state, hi), 2 ** this.#fingerprintBits) * 2 ** this.#positionBits
    return this.#buckets[reduce(state, this.#buckets.length)]!
  }
}

function eachNumber(entries: Uint32Array, visit: (value: number) => void): void {
  visit(entries.length)
  let before = 0
  for (let i = 0; i < entries.length; i++) {
    visit(entries[i]! - before)
    before = entries[i]!
  }
}
