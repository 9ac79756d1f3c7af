/**
 * The result of one query: the positions that may belong to matching ids, and those that certainly do.
 *
 * Invariant: bits are mapped to ids only while the structure they were read from is unchanged. After a change the
 * methods that map them throw, because an id might be missed; the bits themselves stay readable.
 */
import type { BitSet as NpmBitSet } from 'bitset'
import type { BitSet } from '../../bloom/bit-set.ts'
import { PetalError } from '../../model/errors.ts'
import type { Bounds } from './evaluate.ts'
import type { IdCodec } from './ids/id-codec.ts'
import type { Id } from './options.ts'

/**
 * @example
 * const result = structure.query(and(['lang', 'en'], not(['verified', true])))
 * for (const id of result.candidates()) {
 *   if (result.isCertain(id) || matches(documents.get(id))) console.log(id)
 * }
 */
export class QueryResult {
  /** Positions of ids that may match: an id is a candidate when all of its positions are here. */
  readonly upper: BitSet
  /** Positions of ids that match: an id matches when any of its positions is here. */
  readonly lower: BitSet
  readonly #codec: IdCodec
  readonly #positions: Uint32Array
  readonly #isCurrent: () => boolean

  constructor({ lower, upper }: Bounds, codec: IdCodec, bitsPerId: number, isCurrent: () => boolean) {
    this.lower = lower
    this.upper = upper
    this.#codec = codec
    this.#positions = new Uint32Array(bitsPerId)
    this.#isCurrent = isCurrent
  }

  /** `upper` as an npm `bitset`. */
  toBitSet(): NpmBitSet {
    return this.upper.toBitSet()
  }

  /**
   * Returns every added id that matches, and possibly false positives, in no particular order.
   * @param ids the ids to choose from; codec `rehash` needs all of them, the other codecs know them
   * @throws PetalError BadValue without ids for `rehash`; IllegalOperation after a change of the structure
   */
  candidates(ids?: Iterable<Id>): Id[] {
    this.#checkCurrent()
    if (ids !== undefined) {
      const chosen: Id[] = []
      for (const id of ids) if (this.mayMatch(id)) chosen.push(id)
      return chosen
    }
    const recovered = this.#codec.recover(this.upper)
    if (recovered !== undefined) return recovered
    throw new PetalError('BadValue', "ids: 'rehash' does not store ids: pass all of them to candidates()")
  }

  /** False only for an id that was not added or does not match. @throws PetalError IllegalOperation after a change */
  mayMatch(id: Id): boolean {
    this.#checkCurrent()
    return this.#codec.positionsOf(id, this.#positions) && this.#positions.every((position) => this.upper.get(position))
  }

  /**
   * True only for an id that matches; it needs no confirmation.
   * REQUIRES: the id was added; a codec that keeps no ids cannot check this.
   * @throws PetalError IllegalOperation after a change
   */
  isCertain(id: Id): boolean {
    this.#checkCurrent()
    return this.#codec.positionsOf(id, this.#positions) && this.#positions.some((position) => this.lower.get(position))
  }

  #checkCurrent(): void {
    if (this.#isCurrent()) return
    throw new PetalError('IllegalOperation', 'The structure has changed since the query: run the query again')
  }
}
