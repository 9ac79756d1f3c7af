/**
 * A scan that shows entries where they lie: no buffer, no string and no pair is made of them.
 *
 * Invariants:
 * 1. It sees one read view, and releases it when it is closed, or the database is.
 * 2. The bytes it shows are as they are until the next step; they may be shared memory that grows behind them.
 * 3. It runs on this thread: whoever calls next() looks at the clock.
 */
import { notOpen } from '../errors.ts'
import type { ResourceOwner } from '../value/attached.ts'
import { RangeScan, type ScanOptions } from './range-scan.ts'
import type { ReadView } from './read-view.ts'

/** Where the entry's key and value lie; meaningless before the first next() and after one that said false. */
export interface EntryPlace {
  readonly keyBytes: Uint8Array
  readonly keyStart: number
  readonly keyEnd: number
  readonly valueBytes: Uint8Array
  readonly valueStart: number
  readonly valueEnd: number
  /** The block that the value lies in, with its neighbours; undefined where it lies alone. */
  readonly block?: ByteSpan | undefined
}

/** Bytes that stay as they are until the next step. Another object for every block. */
export interface ByteSpan {
  readonly bytes: Uint8Array
  readonly start: number
  readonly entriesEnd: number
  /**
   * What was found out about these bytes, to be seen by whoever meets the block again in the cache; 0 at first. All readers of a
   * store share it, and have to mean the same by it.
   */
  marks: number
}

export interface ByteScanOptions extends ScanOptions {
  /**
   * Bytes that are there to be scanned, about, again and again: when the block cache has room for them, blocks that are
   * read are kept in it unless `fillCache` says otherwise.
   */
  readonly expectedBytes?: number | undefined
}

/** The share of the block cache that a scan may take. */
const cacheShare = 3 / 4

/** Whether a scan keeps what it reads in a cache of so many bytes. */
export function fillsCache({ fillCache, expectedBytes }: ByteScanOptions, cacheBytes: number): boolean {
  return fillCache ?? (expectedBytes !== undefined && expectedBytes <= cacheBytes * cacheShare)
}

export class ByteScan {
  readonly #owner: ResourceOwner
  readonly #scan: RangeScan
  #isOpen = true
  /** A step threw, or is under way: where the scan stands, nobody knows. */
  #hasFailed = false

  /** @param view released by close() */
  constructor(owner: ResourceOwner, view: ReadView, options: ScanOptions) {
    this.#owner = owner
    this.#scan = new RangeScan(view, options, true)
    owner.attachResource(this)
  }

  /** Does a slice of what the first next() takes; false when it takes no time any more. */
  prepareSome(): boolean {
    return this.#isOpen && this.#scan.prepareSome()
  }

  /**
   * To the next entry; false at the end, which an error is, too.
   * @throws LEVEL_DATABASE_NOT_OPEN when it was closed, LEVEL_CORRUPTION, LEVEL_IO_ERROR
   */
  next(): boolean {
    return this.#step(undefined)
  }

  /**
   * As next(), for those who want nothing of the rest of the entry's block, nor of blocks behind it that `mayHold` says no
   * of: some of those are passed. Without a block, or backwards, it is next().
   * @param mayHold the block's bytes are valid until it returns
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

  /** The value as a string of UTF-8. */
  valueText(): string {
    return this.#scan.valueText()
  }

  /** Fine when called twice. */
  async close(): Promise<void> {
    if (!this.#isOpen) return
    this.#isOpen = false
    this.#owner.detachResource(this)
    this.#scan.close()
  }
}
