/** A place that a lookup searches: a memtable or a table. */
import type { Hits } from './hits.ts'
import type { EncodedRange, ZoneRange } from './zone-maps.ts'

/** The condition of a lookup. */
export type LookupCondition =
  | {
      readonly kind: 'pair'
      /** The two halves of the pair's hash. */
      readonly hashes: Int32Array
      /** The pair's bit positions in a table's filter. */
      readonly positions: Int32Array
    }
  | {
      readonly kind: 'range'
      readonly field: string
      readonly range: ZoneRange
      readonly encoded: EncodedRange
    }

export interface LookupSource {
  /** Bounds of the sequence numbers of its entries. */
  readonly smallestSequence: number
  readonly largestSequence: number
  /** Offers its candidate entries to `hits`; yields wherever the event loop may turn. */
  search(hits: Hits): Generator<void, void>
}
