/**
 * A zero-copy scan: it exposes entries in place, without creating buffers, strings or pairs.
 *
 * Invariants:
 * 1. It sees one read view, and releases it when the scan or the database is closed.
 * 2. The exposed bytes do not change until the next step or close(); they may be part of shared memory that grows after
 *    them.
 * 3. It runs on this thread: the caller of next() has to check the clock.
 */
import { notOpen } from '../errors.ts'
import type { ResourceOwner } from '../value/attached.ts'
import { RangeScan, type ScanOptions } from './range-scan.ts'
import type { ReadView } from './read-view.ts'

/** Position of the entry's key and value; meaningless before the first next() and after one that returned false. */
export interface EntryPlace {
  readonly keyBytes: Uint8Array
  readonly keyStart: number
  readonly keyEnd: number
  readonly valueBytes: Uint8Array
  readonly valueStart: number
  readonly valueEnd: number
  /** The block that holds the value and the adjacent entries; undefined if the value is not in a block. */
  readonly block?: ByteSpan | undefined
}

/** Bytes that do not change until the next step or close(). A new object for every block. */
export interface ByteSpan {
  readonly bytes: Uint8Array
  readonly start: number
  readonly entriesEnd: number
  /**
   * Findings about these bytes, kept with the block while it is cached; 0 at first. Shared by all readers of a store,
   * which have to agree on the meaning.
   */
  marks: number
}

export interface ByteScanOptions extends ScanOptions {
  /**
   * Approximate bytes that will be scanned repeatedly: if the block cache has room for them, blocks are added to it
   * unless `fillCache` says otherwise.
   */
  readonly expectedBytes?: number | undefined
}

/** The share of the block cache that a scan may take. */
const cacheShare = 3 / 4

/** Whether a scan adds blocks to a cache of this size. */
export function fillsCache({ fillCache, expectedBytes }: ByteScanOptions, cacheBytes: number): boolean {
  return fillCache ?? (expectedBytes !== undefined && expectedBytes <= cacheBytes * cacheShare)
}

/** A scan over a range of keys that exposes entries without copying them. */
export class ByteScan {
  readonly #owner: ResourceOwner
  readonly #scan: RangeScan
  #isOpen = true
  /** A step has thrown or is in progress: the scan's position is undefined. */
  #hasFailed = false

  /** @param view released by close() */
  constructor(owner: ResourceOwner, view: ReadView, options: ScanOptions) {
    this.#owner = owner
    this.#scan = new RangeScan(view, options, true)
    owner.attachResource(this)
  }

  /** Does a slice of the work for the first next(); false when little is left. */
  prepareSlice(): boolean {
    return this.#isOpen && this.#scan.prepareSlice()
  }

  /**
   * Moves to the next entry; false at the end and after an error.
   * @throws LEVEL_DATABASE_NOT_OPEN if it was closed, LEVEL_CORRUPTION, LEVEL_IO_ERROR
   */
  next(): boolean {
    return this.#step(undefined)
  }

  /**
   * Like next(), but skips the rest of the entry's block, and some of the following blocks for which `mayHold` returns
   * false. Without a block, or in reverse, the same as next().
   * @param mayHold the block's bytes are valid only during the call
   */
  skipBlocks(mayHold: (block: ByteSpan) => boolean): boolean {
    return this.#step(mayHold)
  }

  #step(mayHold: ((block: ByteSpan) => boolean) | undefined): boolean {
    if (!this.#isOpen) throw notOpen()
    if (this.#hasFailed) return false
    this.#hasFailed = true
    const isThere = mayHold === undefined ? this.#scan.advance() : this.#scan.skipBlocks(mayHold)
    this.#hasFailed = false
    return isThere
  }

  get entry(): EntryPlace {
    return this.#scan.entry
  }

  /** The value decoded from UTF-8. */
  valueText(): string {
    return this.#scan.valueText()
  }

  /** May be called twice. */
  async close(): Promise<void> {
    if (!this.#isOpen) return
    this.#isOpen = false
    this.#owner.detachResource(this)
    this.#scan.close()
  }
}
