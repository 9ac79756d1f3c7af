/**
 * From ids to positions and back, behind one interface.
 *
 * | codec | positions of an id | back to ids | kept |
 * | --- | --- | --- | --- |
 * | `table`, by order | the next free one | looked up | every id, and its place |
 * | `table`, by hash | K, by its hash | looked up | every id, and its place |
 * | `reversible` | one, by a keyed permutation of the domain | computed | nothing |
 * | `rehash` | K, by its hash | all ids, supplied by the caller, are hashed and tried | nothing |
 *
 * Invariants:
 * 1. An id that was added, and not removed as often, keeps its positions, which are distinct.
 * 2. recover(upper) misses no such id all of whose positions are in `upper`. What else it names has all of its positions in
 *    `upper` too, but may never have been added, where nothing is kept.
 */
import type { BitSet } from '../../../bloom/bit-set.ts'
import type { PairHasher } from '../../../bloom/hash.ts'
import type { Id, Parameters } from '../options.ts'
import { HashedPositions } from './hashed-positions.ts'
import { RehashIds } from './rehash-ids.ts'
import { ReversibleIds } from './reversible-ids.ts'
import { TableIds } from './table-ids.ts'

export interface IdCodec {
  /**
   * Takes an id in and writes its K positions, ascending.
   * @throws PetalError BadValue for what is no id of the codec; nothing has changed then
   */
  add(id: Id, positions: Uint32Array): void
  /** Takes back one add. REQUIRES: the id was added, unless the codec keeps nothing. */
  remove(id: Id): void
  /**
   * Writes the K positions of an id that was added.
   * @returns false when it certainly was not
   * @throws PetalError BadValue for what is no id of the codec
   */
  positionsOf(id: Id, positions: Uint32Array): boolean
  /** Every id with all positions in `upper`, in no order; undefined when the caller has to supply the ids. */
  recover(upper: BitSet): Id[] | undefined
  /** How ids share positions, for the prediction of false positives. */
  crowding(ids: number): Crowding
  /** What is kept, for serialise(). */
  toBytes(): Uint8Array
  /**
   * Takes in what toBytes() wrote. REQUIRES: nothing was added yet.
   * @throws PetalError DataCorruption
   */
  load(bytes: Uint8Array): void
}

/** How many other ids have a bit at a position: distributions as generating functions, E(z^count). */
export interface Crowding {
  /** Others at a position of an id that was added. */
  readonly othersOfMember: (z: number) => number
  /** Ids that were never added and are named all the same when their position is found. */
  readonly strangers: number
  /** Ids at a stranger's position. */
  readonly othersOfStranger: (z: number) => number
}

export function createIdCodec(parameters: Parameters, hasher: PairHasher): IdCodec {
  const { ids, bits, bitsPerId, seed } = parameters
  const hashed = new HashedPositions(hasher, seed, bits, bitsPerId)
  switch (ids.codec) {
    case 'table':
      return new TableIds(bits, ids.positions === 'hash' ? hashed : undefined)
    case 'reversible':
      return new ReversibleIds(ids.from ?? 0, ids.to, bits, seed)
    case 'rehash':
      return new RehashIds(hashed)
  }
}
