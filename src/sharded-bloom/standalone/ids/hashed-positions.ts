/**
 * The K hashed positions of an id: one in each of K parts of the M positions, so that they are distinct.
 *
 * Positions are part of the file format: a table by hash and ids supplied by the caller must yield the same ones.
 */
import type { PairHasher } from '../../../bloom/hash.ts'
import { rowNumbers } from '../../../bloom/row-numbers.ts'
import { PetalError } from '../../../model/errors.ts'
import type { Id } from '../options.ts'
import { seedHalves } from '../seed.ts'
import type { Occupancy } from './id-codec.ts'

/** Hash tags that keep ids apart from pairs (sharded-bloom/pairs/pair-tags.ts), and strings from numbers. */
const STRING_ID = 32
const NUMBER_ID = 33

export class HashedPositions {
  readonly #hasher: PairHasher
  readonly #seed: { readonly lo: number; readonly hi: number }
  readonly #bits: number
  /** K */
  readonly bitsPerId: number
  readonly #scratch: Int32Array

  constructor(hasher: PairHasher, seed: number, bits: number, bitsPerId: number) {
    this.#hasher = hasher
    this.#seed = seedHalves(seed)
    this.#bits = bits
    this.bitsPerId = bitsPerId
    this.#scratch = new Int32Array(bitsPerId)
  }

  /** Writes K positions, ascending. @throws PetalError BadValue for a value that is not an id */
  write(id: Id, positions: Uint32Array): void {
    checkId(id)
    const { lo, hi } = this.#seed
    if (typeof id === 'string') this.#hasher.hashString(lo, hi, STRING_ID, id)
    else this.#hasher.hashNumber(lo, hi, NUMBER_ID, id)
    rowNumbers(this.#hasher.lo, this.#hasher.hi, this.#bits, this.bitsPerId, this.#scratch)
    positions.set(this.#scratch)
  }

  /** Each other id is at a given position with probability K/M. */
  occupancy(ids: number): Occupancy {
    const share = this.bitsPerId / this.#bits
    const othersOfMember = (z: number): number => (1 - share * (1 - z)) ** Math.max(0, ids - 1)
    return { othersOfMember, strangers: 0, othersOfStranger: () => 1 }
  }
}

/** @throws PetalError BadValue unless it is a string or a finite number */
export function checkId(id: unknown): asserts id is Id {
  if (typeof id === 'string' || Number.isFinite(id)) return
  throw new PetalError('BadValue', `An id must be a string or a finite number, got ${typeof id} ${String(id)}`)
}
