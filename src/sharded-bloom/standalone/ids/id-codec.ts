/**
 * Maps ids to positions and back.
 *
 * | codec | positions of an id | back to ids | state |
 * | --- | --- | --- | --- |
 * | `table`, by order | the next free one | looked up | every id, and its place |
 * | `table`, by hash | K, by its hash | looked up | every id, and its place |
 * | `reversible` | one, by a keyed permutation of the domain | computed | nothing |
 * | `rehash` | K, by its hash | all ids, supplied by the caller, are hashed and tested | nothing |
 *
 * Invariants:
 * 1. An id that was added, and not removed as often, keeps its positions, which are distinct.
 * 2. recover(upper) misses no such id all of whose positions are in `upper`. Every id it returns has all of its
 *    positions in `upper`, but a codec without state may return ids that were never added.
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
   * Adds an id and writes its K positions, ascending.
   * @throws PetalError BadValue for a value that is not an id of the codec; nothing has changed then
   */
  add(id: Id, positions: Uint32Array): void
  /** Reverts one add. REQUIRES: the id was added, unless the codec has no state. */
  remove(id: Id): void
  /**
   * Writes the K positions of an id that was added.
   * @returns false when it certainly was not added
   * @throws PetalError BadValue for a value that is not an id of the codec
   */
  positionsOf(id: Id, positions: Uint32Array): boolean
  /**
   * Every id with all positions in `upper`, in no particular order; undefined when the caller has to supply the ids.
   */
  recover(upper: BitSet): Id[] | undefined
  /** How ids share positions, for the prediction of false positives. */
  occupancy(ids: number): Occupancy
  /** The codec's state, for serialise(). */
  toBytes(): Uint8Array
  /**
   * Restores the state that toBytes() wrote. REQUIRES: nothing was added yet.
   * @throws PetalError DataCorruption
   */
  load(bytes: Uint8Array): void
}

/** How many other ids have a bit at a position: distributions given as generating functions, E(z^count). */
export interface Occupancy {
  /** Other ids at a position of an id that was added. */
  readonly othersOfMember: (z: number) => number
  /** Number of ids that were never added but are returned when their position is found. */
  readonly strangers: number
  /** Added ids at a stranger's position. */
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
