/** Computes the hash and row numbers of a pair under one index's seed: documents and queries must agree on them. */
import { type PairHasher, rowNumbers } from '../../bloom/hash.ts'
import type { Pair } from '../../model/pairs.ts'
import type { HashedPair } from '../segment/private-table.ts'
import { type TaggedPair, tagPair } from './pair-tags.ts'

export class PairHash {
  readonly #hasher: PairHasher
  readonly #seedOf: (path: string) => { readonly lo: number; readonly hi: number }

  constructor(hasher: PairHasher, seedOf: (path: string) => { readonly lo: number; readonly hi: number }) {
    this.#hasher = hasher
    this.#seedOf = seedOf
  }

  hash(pair: TaggedPair): HashedPair {
    const seed = this.#seedOf(pair.path)
    const { path, tag, key } = pair
    if (typeof key === 'string') this.#hasher.hashString(seed.lo, seed.hi, tag, key)
    else this.#hasher.hashNumber(seed.lo, seed.hi, tag, key)
    return { path, tag, key, lo: this.#hasher.lo, hi: this.#hasher.hi }
  }

  hashPair(pair: Pair): HashedPair {
    return this.hash(tagPair(pair))
  }

  /** Writes `out.length` row numbers below `shards` to `out`. */
  rows(lo: number, hi: number, shards: number, out: Int32Array): void {
    rowNumbers(lo, hi, shards, out.length, out)
  }
}
