/** 64-bit hashes of pairs. They equal those of a collection's index and are part of the file format. */
import type { PairHasher } from '../../bloom/hash.ts'
import { PetalError } from '../../model/errors.ts'
import { toScalar } from '../../model/scalar.ts'
import { Tag } from '../pairs/pair-tags.ts'
import { isPair, type Pair } from './expression.ts'
import { shown } from './options.ts'
import { seedHalves } from './seed.ts'

/** Bounds memory, whatever the keys: past this many the cached seeds are dropped. */
const MAX_KEYS = 65_536

type Halves = { readonly lo: number; readonly hi: number }

export class PairHashes {
  readonly #hasher: PairHasher
  readonly #seed: Halves
  readonly #seedOfKey = new Map<string, Halves>()

  constructor(hasher: PairHasher, seed: number) {
    this.#hasher = hasher
    this.#seed = seedHalves(seed)
  }

  /** @throws PetalError BadValue unless it is [key, scalar] */
  hash(pair: Pair): Halves {
    const [key, value] = isPair(pair) && pair.length === 2 && typeof pair[0] === 'string' ? pair : refuse(pair)
    const scalar = toScalar(value) ?? refuse(pair)
    const seed = this.#seedOf(key)
    if (typeof scalar.key === 'string') this.#hasher.hashString(seed.lo, seed.hi, scalar.type, scalar.key)
    else this.#hasher.hashNumber(seed.lo, seed.hi, scalar.type, scalar.key)
    return { lo: this.#hasher.lo, hi: this.#hasher.hi }
  }

  /**
   * Each distinct hash once, as low and high halves in turn. @throws PetalError BadValue unless all are [key, scalar]
   */
  hashAll(pairs: Iterable<Pair>): Int32Array {
    if (typeof (pairs as Partial<typeof pairs> | null | undefined)?.[Symbol.iterator] !== 'function') {
      throw new PetalError('BadValue', `Pairs must be an iterable of [key, scalar], got ${shown(pairs)}`)
    }
    const known = new Map<number, Set<number>>()
    const hashes: number[] = []
    for (const pair of pairs) {
      const { lo, hi } = this.hash(pair)
      const highs = known.get(lo)
      if (highs?.has(hi)) continue
      if (highs === undefined) known.set(lo, new Set([hi]))
      else highs.add(hi)
      hashes.push(lo, hi)
    }
    return Int32Array.from(hashes)
  }

  #seedOf(key: string): Halves {
    const known = this.#seedOfKey.get(key)
    if (known !== undefined) return known
    if (this.#seedOfKey.size >= MAX_KEYS) this.#seedOfKey.clear()
    this.#hasher.hashString(this.#seed.lo, this.#seed.hi, Tag.path, key)
    const seed = { lo: this.#hasher.lo, hi: this.#hasher.hi }
    this.#seedOfKey.set(key, seed)
    return seed
  }
}

function refuse(pair: unknown): never {
  throw new PetalError('BadValue', `A pair must be [key, scalar], got ${shown(pair)}`)
}
