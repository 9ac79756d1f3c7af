/**
 * Reads items from a scan, one or many at a time, for abstract-level's three iterators.
 *
 * Reading is synchronous, and resolved promises never let the event loop turn: so the reader checks how long the
 * event-loop turn has lasted, and yields when it is due.
 */
import { isTurnLong, nextTurn } from '../engine/event-loop-turn.ts'
import { aborted } from '../errors.ts'
import { RangeScan, type ScanOptions } from './range-scan.ts'
import type { ReadView } from './read-view.ts'

/** Creates an item from the scan's current entry. */
export type ItemOf<T> = (scan: RangeScan) => T

export interface ReaderOptions extends ScanOptions {
  /** nextv() returns once it has more bytes than this. Default 16 KiB. */
  readonly highWaterMarkBytes?: number | undefined
  readonly signal?: AbortSignal | undefined
}

const defaultHighWaterMark = 16 * 1024

/** The clock is checked once per this many bytes or items. */
const sliceBytes = 64 * 1024
const sliceItems = 128

export class ItemReader<T> {
  readonly #scan: RangeScan
  readonly #itemOf: ItemOf<T>
  readonly #highWaterMark: number
  readonly #signal: AbortSignal | undefined
  #itemsInSlice = 0

  /** @param view released by close() */
  constructor(view: ReadView, options: ReaderOptions, itemOf: ItemOf<T>) {
    this.#scan = new RangeScan(view, options)
    this.#itemOf = itemOf
    const { highWaterMarkBytes = defaultHighWaterMark } = options
    // NaN and negative numbers are ignored.
    this.#highWaterMark = highWaterMarkBytes >= 0 ? highWaterMarkBytes : defaultHighWaterMark
    this.#signal = options.signal ?? undefined
  }

  /** The next item; undefined at the end. */
  next(): T | undefined | Promise<T | undefined> {
    if (this.#scan.prepareSlice()) return this.#prepare().then(() => this.next())
    if (++this.#itemsInSlice >= sliceItems && this.#isTurnDue()) return nextTurn().then(() => this.next())
    const item = this.#scan.advance() ? this.#itemOf(this.#scan) : undefined
    return this.#signal === undefined ? item : this.#unlessAborted(item)
  }

  /** At least one item, at most `size`; none at the end. */
  nextv(size: number): T[] | Promise<T[]> {
    if (this.#scan.prepareSlice()) return this.#prepare().then(() => this.nextv(size))
    if (this.#isTurnDue()) return nextTurn().then(() => this.nextv(size))
    const items: T[] = []
    let bytesLeft = this.#highWaterMark
    do {
      bytesLeft -= this.#take(items, size, bytesLeft)
    } while (items.length < size && bytesLeft >= 0 && !this.#scan.hasEnded && !this.#isTurnDue())
    return this.#signal === undefined ? items : this.#unlessAborted(items)
  }

  /** All remaining items, at most `limit`, yielding to the event loop as needed. */
  async all(limit: number): Promise<T[]> {
    const items: T[] = []
    await this.#prepare()
    while (items.length < limit && !this.#scan.hasEnded) {
      if (this.#isTurnDue()) await nextTurn()
      if (this.#signal?.aborted) throw aborted(this.#signal.reason)
      this.#take(items, limit, Number.POSITIVE_INFINITY)
    }
    return this.#signal === undefined ? items : this.#unlessAborted(items)
  }

  seek(target: Uint8Array): void {
    this.#scan.seek(target)
  }

  close(): void {
    this.#scan.close()
  }

  /** Adds a slice of items, until there are `size` or more than `maxBytes` have been read; returns the bytes read. */
  #take(items: T[], size: number, maxBytes: number): number {
    const scan = this.#scan
    const itemOf = this.#itemOf
    const enough = Math.min(size, items.length + sliceItems)
    const enoughBytes = Math.min(maxBytes, sliceBytes)
    let bytes = 0
    while (items.length < enough && bytes <= enoughBytes && scan.advance()) {
      items.push(itemOf(scan))
      bytes += scan.entryBytes
    }
    return bytes
  }

  async #prepare(): Promise<void> {
    while (this.#scan.prepareSlice()) if (isTurnLong()) await nextTurn()
  }

  #isTurnDue(): boolean {
    this.#itemsInSlice = 0
    return isTurnLong()
  }

  /** A caller who aborts right after the call expects its promise to be rejected. */
  async #unlessAborted<U>(result: U): Promise<U> {
    await undefined
    if (this.#signal?.aborted) throw aborted(this.#signal.reason)
    return result
  }
}
