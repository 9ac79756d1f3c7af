/**
 * Finds which of many Bloom filters may hold a value: the index over the value filters of all tables.
 *
 * A filter index refers to filters by slots: small integers that its owner assigns and reuses. All filters have the
 * same m bits and the same hashes, so a query is a list of bit positions: those of one pair, or the concatenated
 * positions of several pairs, which finds the filters that may hold all of them.
 *
 * Invariants, for every implementation:
 * 1. A slot whose filter has all the positions set is a candidate: no false negatives.
 * 2. A slot without a filter, or with a saturated one, is a candidate for every query.
 * 3. Apart from that, candidates are exactly those that testing each filter would find.
 */
import type { BitSet } from '../bit-set.ts'
import { LinearFilterIndex } from './linear.ts'
import { SlicedFilterIndex } from './sliced.ts'
import { TreeFilterIndex, type TreeOptions } from './tree.ts'

export type FilterIndexKind = 'linear' | 'tree' | 'sliced'

export interface FilterIndex {
  /** m: number of bits of every filter. */
  readonly bits: number
  /** Number of slots in use, including those without a filter. */
  readonly size: number
  /** Number of used slots that are candidates for every query: no filter, or a saturated one. */
  readonly unfiltered: number
  /** One more than the largest possible slot, a multiple of 32; grows with insertions. */
  readonly capacity: number
  /** Bytes of filters and of structures built from them. */
  readonly memoryBytes: number
  /** Approximate increase of memoryBytes for a filter at this slot. */
  growthOf(slot: number): number

  /**
   * @param slot must not be in use
   * @param filter ⌈m/8⌉ bytes; bit p is bit (p & 7) of byte p >> 3. Copied. Undefined: nothing is known, always
   * "maybe"
   * @throws PetalError InternalError for a slot in use, BadValue for a filter of a different length
   */
  insert(slot: number, filter: Uint8Array | undefined): void
  /** Frees a slot. @throws PetalError InternalError if it is not in use */
  remove(slot: number): void
  /**
   * Finds the slots that may hold everything in the query.
   * @param positions bit positions in [0, m), in any order, of one or more pairs; if empty, every slot is a candidate
   * @param into receives exactly the candidates; its size is at least `capacity`
   */
  candidates(positions: Int32Array, into: BitSet): void
}

export interface FilterIndexOptions extends Partial<TreeOptions> {
  readonly kind: FilterIndexKind
  /** m. */
  readonly bits: number
}

/**
 * @example
 * const index = createFilterIndex({ kind: 'sliced', bits: 2 ** 18 })
 * index.insert(0, filter)
 * rowNumbers(hasher.lo, hasher.hi, index.bits, 6, positions)
 * index.candidates(positions, new BitSet(index.capacity))
 */
export function createFilterIndex({ kind, bits, ...tree }: FilterIndexOptions): FilterIndex {
  switch (kind) {
    case 'linear':
      return new LinearFilterIndex(bits)
    case 'tree':
      return new TreeFilterIndex(bits, tree)
    case 'sliced':
      return new SlicedFilterIndex(bits)
  }
}
