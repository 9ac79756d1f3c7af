/** What cursors over the results of a find have in common: options that can be set until the first pull. */
import type { FindOptions, SortDirection, SortSpec } from '../options.ts'
import { SlicedCursor, type Transform } from './sliced-cursor.ts'

export abstract class FindOptionsCursor<T> extends SlicedCursor<T> {
  #options: FindOptions

  protected constructor(options: FindOptions, transform: Transform | undefined) {
    super(transform)
    this.#options = options
  }

  protected get options(): FindOptions {
    return this.#options
  }

  /**
   * Sorts the results.
   * @param direction for a single field; default 1
   * @throws PetalError IllegalOperation once a document was requested
   * @example
   * const newest = await db.find({ lang: 'en' }).sort({ at: -1, _id: 1 }).limit(10).toArray()
   */
  sort(sort: SortSpec, direction?: SortDirection): this {
    // A field name that is not a string fails the first request.
    return this.change({ sort: direction === undefined ? sort : [[sort as string, direction]] })
  }

  /** Sets the number of documents to skip, after sorting. @throws as sort() */
  skip(skip: number): this {
    return this.change({ skip })
  }

  /** Sets the maximum number of documents to return; 0 means no limit. @throws as sort() */
  limit(limit: number): this {
    return this.change({ limit })
  }

  protected change(options: FindOptions): this {
    this.assertNew()
    this.#options = { ...this.#options, ...options }
    return this
  }
}
