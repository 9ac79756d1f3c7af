/** The cursor over what a find in a transaction returns: read as a whole at the first request, in its turn. */
import type { Document } from '../../model/types.ts'
import type { FindOptions } from '../options.ts'
import { FindOptionsCursor } from '../read/find-options-cursor.ts'
import type { CursorRun } from '../read/sliced-cursor.ts'

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
export class TransactionCursor<T = Document> extends FindOptionsCursor<T> {
  readonly #find: Find

  /** Not to be called directly: use TransactionCollection.find(). */
  constructor(find: Find, options: FindOptions) {
    super(options, undefined)
    this.#find = find
  }

  /** Sets the fields to include or exclude, like the option `projection`. */
  project<U = T>(projection: NonNullable<FindOptions['projection']>): TransactionCursor<U> {
    return this.change({ projection }) as unknown as TransactionCursor<U>
  }

  /** Returns a new cursor for the same find, which sees the transaction's changes at its own first request. */
  clone(): TransactionCursor<T> {
    return new TransactionCursor<T>(this.#find, this.options)
  }

  protected async begin(): Promise<CursorRun | undefined> {
    const found = await this.#find(this.options)
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
}
