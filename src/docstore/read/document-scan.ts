/** Scans the records of an ordinal range in place in the store, on this thread. */
import type { ByteScan, ByteSpan } from '../../lsm/read/byte-scan.ts'
import { wrapStoreErrors } from '../store/store-errors.ts'

/** A record that has not been decoded yet. */
export interface RecordPlace {
  readonly bytes: Uint8Array
  readonly start: number
  readonly end: number
  /** The block that contains the record, with its neighbours. */
  readonly block?: ByteSpan | undefined
  text(): string
}

export class DocumentScan implements RecordPlace {
  readonly #scan: ByteScan
  readonly #ordinalOf: (bytes: Uint8Array, start: number, end: number) => number
  readonly #next: () => boolean

  ordinal = 0
  bytes: Uint8Array = new Uint8Array(0)
  start = 0
  end = 0
  block: ByteSpan | undefined

  constructor(scan: ByteScan, ordinalOf: (bytes: Uint8Array, start: number, end: number) => number) {
    this.#scan = scan
    this.#ordinalOf = ordinalOf
    this.#next = () => scan.next()
  }

  /** Does a part of the work of the first next(); false when none is left. */
  prepareSome(): boolean {
    return this.#scan.prepareSlice()
  }

  /** Advances to the next record; false at the end. */
  next(): boolean {
    return this.#show(wrapStoreErrors(this.#next))
  }

  /**
   * Like next(), but skips blocks for which `mayHold` returns false; see ByteScan. REQUIRES: it does so for this
   * record's block.
   */
  skipBlocks(mayHold: (block: ByteSpan) => boolean): boolean {
    return this.#show(wrapStoreErrors(() => this.#scan.skipBlocks(mayHold)))
  }

  #show(isThere: boolean): boolean {
    if (!isThere) return false
    const { keyBytes, keyStart, keyEnd, valueBytes, valueStart, valueEnd, block } = this.#scan.entry
    this.ordinal = this.#ordinalOf(keyBytes, keyStart, keyEnd)
    this.bytes = valueBytes
    this.start = valueStart
    this.end = valueEnd
    this.block = block
    return true
  }

  text(): string {
    return this.#scan.valueText()
  }

  close(): Promise<void> {
    return this.#scan.close()
  }
}
