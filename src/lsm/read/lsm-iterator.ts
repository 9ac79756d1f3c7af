/** abstract-level's iterators: entries, keys and values of a range in one read view. */
import { AbstractIterator, AbstractKeyIterator, AbstractValueIterator } from 'abstract-level'
import { type ItemOf, ItemReader, type ReaderOptions } from './item-reader.ts'
import { itemOfEntry, itemOfKey, itemOfValue } from './items.ts'
import type { ReadView } from './read-view.ts'

/** Options that abstract-level passes to _iterator(), _keys() and _values(). */
export interface LsmIteratorOptions extends ReaderOptions {
  /** False omits keys from entries. */
  readonly keys?: boolean | undefined
  /** False omits values from entries. */
  readonly values?: boolean | undefined
}

/** Methods that abstract-level calls but does not declare; they may return results synchronously. */
interface IteratorContract<T> {
  _next(): T | undefined | Promise<T | undefined>
  _nextv(size: number): T[] | Promise<T[]>
  _all(): Promise<T[]>
  _seek(target: Uint8Array): void
  _close(): Promise<void>
}

/** The common part of abstract-level's three classes, with the options that the constructor really takes. */
type IteratorBase = new (db: object, options: object) => { readonly limit: number; readonly count: number }

/** Creates an iterator class over the items of a scan: the three differ in base class and item. */
function iteratorClass<T>(Base: IteratorBase, itemOf: (options: LsmIteratorOptions) => ItemOf<T>) {
  return class extends Base implements IteratorContract<T> {
    readonly #reader: ItemReader<T>

    constructor(db: object, view: ReadView, options: LsmIteratorOptions) {
      super(db, options)
      this.#reader = new ItemReader(view, options, itemOf(options))
    }

    _next(): T | undefined | Promise<T | undefined> {
      return this.#reader.next()
    }

    _nextv(size: number): T[] | Promise<T[]> {
      return this.#reader.nextv(size)
    }

    _all(): Promise<T[]> {
      return this.#reader.all(this.limit - this.count)
    }

    _seek(target: Uint8Array): void {
      this.#reader.seek(target)
    }

    async _close(): Promise<void> {
      this.#reader.close()
    }
  }
}

// The bases declare the public options, whose ranges are not encoded yet, and a class made by a function has no type
// parameters: the casts restore them. Each iterator releases its view when it is closed.

export type LsmIterator<D, K, V> = AbstractIterator<D, K, V>
export const LsmIterator = iteratorClass(AbstractIterator as unknown as IteratorBase, itemOfEntry) as unknown as {
  new <D, K, V>(db: D, view: ReadView, options: LsmIteratorOptions): LsmIterator<D, K, V>
}

export type LsmKeyIterator<D, K> = AbstractKeyIterator<D, K>
export const LsmKeyIterator = iteratorClass(AbstractKeyIterator as unknown as IteratorBase, itemOfKey) as unknown as {
  new <D, K>(db: D, view: ReadView, options: LsmIteratorOptions): LsmKeyIterator<D, K>
}

export type LsmValueIterator<D, K, V> = AbstractValueIterator<D, K, V>
export const LsmValueIterator = iteratorClass(
  AbstractValueIterator as unknown as IteratorBase,
  itemOfValue
) as unknown as {
  new <D, K, V>(db: D, view: ReadView, options: LsmIteratorOptions): LsmValueIterator<D, K, V>
}
