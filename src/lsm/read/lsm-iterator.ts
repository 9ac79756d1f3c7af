/** The iterators of abstract-level: entries, keys and values of a range, as one read view sees it. */
import {
  AbstractIterator,
  type AbstractIteratorOptions,
  AbstractKeyIterator,
  type AbstractKeyIteratorOptions,
  AbstractValueIterator,
  type AbstractValueIteratorOptions
} from 'abstract-level'
import { ItemReader, type ReaderOptions } from './item-reader.ts'
import { type Entry, type Item, itemOfEntry, itemOfKey, itemOfValue } from './items.ts'
import type { ReadView } from './read-view.ts'

/** What abstract-level hands to _iterator(), _keys() and _values(). */
export interface LsmIteratorOptions extends ReaderOptions {
  /** False leaves keys out of entries. */
  readonly keys?: boolean | undefined
  /** False leaves values out of entries. */
  readonly values?: boolean | undefined
}

/** Methods that abstract-level calls and its types do not declare; results may be at hand. */
interface IteratorContract<T> {
  _next(): T | undefined | Promise<T | undefined>
  _nextv(size: number): T[] | Promise<T[]>
  _all(): Promise<T[]>
  _seek(target: Uint8Array): void
  _close(): Promise<void>
}

export class LsmIterator<D, K, V> extends AbstractIterator<D, K, V> implements IteratorContract<Entry> {
  readonly #reader: ItemReader<Entry>

  /** @param view what to read; released when the iterator is closed */
  constructor(db: D, view: ReadView, options: LsmIteratorOptions) {
    // The declared type is that of the public options, whose ranges are not encoded yet.
    super(db, options as AbstractIteratorOptions<K, V>)
    this.#reader = new ItemReader(view, options, itemOfEntry(options))
  }

  _next(): Entry | undefined | Promise<Entry | undefined> {
    return this.#reader.next()
  }

  _nextv(size: number): Entry[] | Promise<Entry[]> {
    return this.#reader.nextv(size)
  }

  _all(): Promise<Entry[]> {
    return this.#reader.all(this.limit - this.count)
  }

  _seek(target: Uint8Array): void {
    this.#reader.seek(target)
  }

  async _close(): Promise<void> {
    this.#reader.close()
  }
}

export class LsmKeyIterator<D, K> extends AbstractKeyIterator<D, K> implements IteratorContract<Item> {
  readonly #reader: ItemReader<Item>

  /** @param view what to read; released when the iterator is closed */
  constructor(db: D, view: ReadView, options: LsmIteratorOptions) {
    super(db, options as AbstractKeyIteratorOptions<K>)
    this.#reader = new ItemReader(view, options, itemOfKey(options))
  }

  _next(): Item | undefined | Promise<Item | undefined> {
    return this.#reader.next()
  }

  _nextv(size: number): Item[] | Promise<Item[]> {
    return this.#reader.nextv(size)
  }

  _all(): Promise<Item[]> {
    return this.#reader.all(this.limit - this.count)
  }

  _seek(target: Uint8Array): void {
    this.#reader.seek(target)
  }

  async _close(): Promise<void> {
    this.#reader.close()
  }
}

export class LsmValueIterator<D, K, V> extends AbstractValueIterator<D, K, V> implements IteratorContract<Item> {
  readonly #reader: ItemReader<Item>

  /** @param view what to read; released when the iterator is closed */
  constructor(db: D, view: ReadView, options: LsmIteratorOptions) {
    super(db, options as AbstractValueIteratorOptions<K, V>)
    this.#reader = new ItemReader(view, options, itemOfValue(options))
  }

  _next(): Item | undefined | Promise<Item | undefined> {
    return this.#reader.next()
  }

  _nextv(size: number): Item[] | Promise<Item[]> {
    return this.#reader.nextv(size)
  }

  _all(): Promise<Item[]> {
    return this.#reader.all(this.limit - this.count)
  }

  _seek(target: Uint8Array): void {
    this.#reader.seek(target)
  }

  async _close(): Promise<void> {
    this.#reader.close()
  }
}
