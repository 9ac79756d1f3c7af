/** Where a lookup looks: a memtable or a table. */
import type { Hits } from './hits.ts'
import type { EncodedRange, ZoneRange } from './zone-maps.ts'

/** What is asked for. */
export type Question =
  | {
      readonly kind: 'pair'
      /** Halves of the pair's hash. */
      readonly hashes: Int32Array
      /** Its bits in the filter of a table. */
      readonly positions: Int32Array
    }
  | {
      readonly kind: 'range'
      readonly field: string
      readonly range: ZoneRange
      readonly encoded: EncodedRange
    }

export interface Place {
  /** Bounds of the sequence numbers of what is here. */
  readonly smallestSequence: number
  readonly largestSequence: number
  /** Offers what is here to the hits; yields wherever the event loop may turn. */
  search(hits: Hits): Generator<void, void>
}
