/**
 * Which of many Bloom filters may hold a value? The structure over the value filters of all tables.
 *
 * A filter index knows filters by slots: small integers that its owner hands out and reuses. All filters have the same
 * m bits and the same hashes, so a query is a list of bit positions: those of one pair, or of several pairs one after
 * another, which asks for the filters that may hold all of them.
 *
 * Invariants, for every implementation:
 * 1. A slot whose filter has all the positions set is a candidate: no false negatives.
 * 2. A slot without a filter, or with a saturated one, is a candidate of every query.
 * 3. Apart from that, candidates are exactly what testing each filter would give.
 */
import { BitSet } from '../bit-set.ts'
import { LinearFilterIndex } from './linear.ts'
import { SlicedFilterIndex } from './sliced.ts'
import { TreeFilterIndex, type TreeOptions } from './tree.ts'

export type FilterIndexKind = 'linear' | 'tree' | 'sliced'

export interface FilterIndex {
  /** m: bits of every filter. */
  readonly bits: number
  /** Slots in use, those without a filter included. */
  readonly size: number
  /** Slots in use that every query names: no filter, or a saturated one. */
  readonly unfiltered: number
  /** One more than the largest slot there may be, a multiple of 32; grows with insertions. */
  readonly capacity: number
  /** Bytes of filters and of what was built from them. */
  readonly memoryBytes: number
  /** Bytes that a filter at this slot would add to memoryBytes, about. */
  growthOf(slot: number): number

  /**
   * @param slot not in use
   * @param filter ⌈m/8⌉ bytes; bit p is bit (p & 7) of byte p >> 3. Copied. Undefined: nothing is known, always "maybe"
   * @throws PetalError InternalError for a slot in use, BadValue for a filter of another length
   */
  insert(slot: number, filter: Uint8Array | undefined): void
  /** Frees a slot. @throws PetalError InternalError when it is not in use */
  remove(slot: number): void
  /**
   * Finds the slots that may hold everything that was asked for.
   * @param positions bit positions in [0, m), in any order, of one pair or of several; none names every slot
   * @param into receives the slots, and nothing else; its size is `capacity` or more
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
 * index.candidates(positions, candidateSet(index))
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

/** A set that `candidates` can fill now. */
export function candidateSet(index: FilterIndex): BitSet {
  return new BitSet(index.capacity)
}
