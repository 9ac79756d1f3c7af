/**
 * Integer ids of a domain [from, to) with D = to − from members, added in any order: a keyed permutation permutes the
 * domain, and the position is the permuted number modulo M.
 *
 * A position p stands for the permuted numbers p, p + M, p + 2M… below D, so each bit leads back to about D/M ids. With
 * D ≤ M that is at most one id, and no position is shared; with a domain much larger than M, most ids that a bit stands
 * for were never added.
 */
import type { BitSet } from '../../../bloom/bit-set.ts'
import { PetalError } from '../../../model/errors.ts'
import { KeyedPermutation } from '../keyed-permutation.ts'
import type { Id } from '../options.ts'
import { seedHalves } from '../seed.ts'
import type { IdCodec, Occupancy } from './id-codec.ts'

export class ReversibleIds implements IdCodec {
  readonly #from: number
  readonly #to: number
  readonly #bits: number
  readonly #permutation: KeyedPermutation

  constructor(from: number, to: number, bits: number, seed: number) {
    this.#from = from
    this.#to = to
    this.#bits = bits
    const { lo, hi } = seedHalves(seed)
    this.#permutation = new KeyedPermutation(to - from, lo, hi)
  }

  add(id: Id, positions: Uint32Array): void {
    this.positionsOf(id, positions)
  }

  remove(): void {
    // No state.
  }

  positionsOf(id: Id, positions: Uint32Array): boolean {
    if (typeof id !== 'number' || !Number.isSafeInteger(id) || id < this.#from || id >= this.#to) {
      throw new PetalError(
        'BadValue',
        `ids: 'reversible' takes integers in [${this.#from}, ${this.#to}), got ${JSON.stringify(id)}`,
        { details: { id, from: this.#from, to: this.#to } }
      )
    }
    positions[0] = this.#permutation.forward(id - this.#from) % this.#bits
    return true
  }

  recover(upper: BitSet): Id[] {
    const ids: Id[] = []
    const { size } = this.#permutation
    upper.forEach((position) => {
      for (let number = position; number < size; number += this.#bits) {
        ids.push(this.#from + this.#permutation.inverse(number))
      }
    })
    return ids
  }

  /** Each of the ⌊D/M⌋ or ⌈D/M⌉ domain members at a position was added with the same probability. */
  occupancy(ids: number): Occupancy {
    const { size } = this.#permutation
    const few = Math.floor(size / this.#bits)
    const atFuller = ((size % this.#bits) * (few + 1)) / size
    const others = (added: number) => {
      const share = size > 1 ? Math.min(1, Math.max(0, added / (size - 1))) : 0
      return (z: number): number => {
        const factor = 1 - share * (1 - z)
        return (few > 0 ? (1 - atFuller) * factor ** (few - 1) : 0) + atFuller * factor ** few
      }
    }
    return {
      othersOfMember: others(ids - 1),
      strangers: Math.max(0, size - ids),
      othersOfStranger: others(ids)
    }
  }

  toBytes(): Uint8Array {
    return new Uint8Array(0)
  }

  load(bytes: Uint8Array): void {
    if (bytes.length > 0) throw new PetalError('DataCorruption', `ids: expected 0 bytes, got ${bytes.length}`)
  }
}
