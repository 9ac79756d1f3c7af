/** The cursor over what a find in a transaction returns: read as a whole at the first request, in its turn. */
import type { Document } from '../../model/types.ts'
import type { FindOptions, SortDirection, SortSpec } from '../options.ts'
import { type CursorRun, SlicedCursor } from '../read/sliced-cursor.ts'

type Find = (options: FindOptions) => Promise<readonly Document[]>

const noViews = { close: () => {} }

/**
 * A cursor over the documents that match a filter.
 * @example
 * await db.withTransaction(async (tx) => {
 *   const unpaid = tx.collection('orders').find({ paid: false })
 *   for await (const order of unpaid.sort({ at: 1 }).limit(10)) console.log(order)
 * })
 */
export class TransactionCursor<T = Document> extends SlicedCursor<T> {
  readonly #find: Find
  #options: FindOptions

  /** Not to be called directly: use TransactionCollection.find(). */
  constructor(find: Find, options: FindOptions) {
    super(undefined)
    this.#find = find
    this.#options = options
  }

  /** Sorts the results. @param direction for a single field; default 1 */
  sort(sort: SortSpec, direction?: SortDirection): this {
    return this.#change({ sort: direction === undefined ? sort : [[sort as string, direction]] })
  }

  /** Sets the number of documents to skip, after sorting. */
  skip(skip: number): this {
    return this.#change({ skip })
  }

  /** 0 means no limit. */
  limit(limit: number): this {
    return this.#change({ limit })
  }

  /** Sets the fields to include or exclude, like the option `projection`. */
  project<U = T>(projection: Readonly<Record<string, unknown>>): TransactionCursor<U> {
    return this.#change({ projection }) as unknown as TransactionCursor<U>
  }

  /** Returns a new cursor for the same find, which sees the transaction's changes at its own first request. */
  clone(): TransactionCursor<T> {
    return new TransactionCursor<T>(this.#find, this.#options)
  }

  protected async begin(): Promise<CursorRun | undefined> {
    const found = await this.#find(this.#options)
    let isOver = false
    return {
      get isOver() {
        return isOver
      },
      views: noViews,
      next: () => {
        if (isOver || found.length === 0) return undefined
        isOver = true
        return found
      },
      close: () => {
        isOver = true
      }
    }
  }

  #change(options: FindOptions): this {
    this.assertNew()
    this.#options = { ...this.#options, ...options }
    return this
  }
}
