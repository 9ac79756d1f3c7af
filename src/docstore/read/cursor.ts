/**
 * The cursor over the documents that a find returns.
 *
 * Invariants: those of sliced-cursor.ts, and
 * 1. Sort, then skip, then limit, then projection, then map: whatever the order of the calls.
 * 2. clone() returns a fresh cursor.
 */
import { answered } from '../../model/time-slice.ts'
import type { Document } from '../../model/types.ts'
import type { Collation } from '../../query/collation.ts'
import type { FindOptions } from '../options.ts'
import { countDocuments } from './count.ts'
import { type Explanation, explainFind } from './explain.ts'
import { compileFind, FindRun, resultWithoutCollection } from './find.ts'
import { FindOptionsCursor } from './find-options-cursor.ts'
import type { CursorRun, Readable, Transform } from './sliced-cursor.ts'

/**
 * A cursor over the documents that match a filter.
 * @example
 * const cursor = db.find({ lang: 'en' }).sort({ at: -1 }).limit(10)
 * for await (const tweet of cursor) console.log(tweet.text)
 */
export class FindCursor<T = Document> extends FindOptionsCursor<T> {
  readonly #readable: Readable
  readonly #filter: unknown

  /** Not to be called directly: use Collection.find(). */
  constructor(readable: Readable, filter: unknown, options: FindOptions, transform?: Transform) {
    super(options, transform)
    this.#readable = readable
    this.#filter = filter
  }

  /**
   * Sets the rules for comparing strings in the filter and the sort: docs/query-semantics.md.
   * @example
   * const byName = await db.find({ lang: 'EN' }).collation({ locale: 'en', strength: 2 }).sort({ 'user.name': 1 }).toArray()
   */
  collation(collation: Collation): this {
    return this.change({ collation })
  }

  /** Forces a plan, like the option `hint`. @throws as sort() */
  hint(hint: NonNullable<FindOptions['hint']>): this {
    return this.change({ hint })
  }

  /** Milliseconds from the first request after which the find fails with MaxTimeMSExpired. @throws as sort() */
  maxTimeMS(milliseconds: number): this {
    return this.change({ maxTimeMS: milliseconds })
  }

  /**
   * Sets the fields to include or exclude, like the option `projection`. The compiler does not derive the type of the
   * result: name it, or it stays that of whole documents.
   * @throws as sort()
   * @example
   * const texts = await db.find().project<{ text: string }>({ text: 1, _id: 0 }).toArray()
   */
  project<U = T>(projection: NonNullable<FindOptions['projection']>): FindCursor<U> {
    return this.change({ projection }) as unknown as FindCursor<U>
  }

  /** Returns a cursor that applies `transform` to each document. This cursor must not be used any more. @throws as sort() */
  map<U>(transform: (value: T) => U): FindCursor<U> {
    return new FindCursor<U>(this.#readable, this.#filter, this.options, this.mapped(transform))
  }

  /** Returns a new cursor for the same query, which sees the state at its own first request. */
  clone(): FindCursor<T> {
    return new FindCursor<T>(this.#readable, this.#filter, this.options, this.transform)
  }

  /**
   * Returns the number of documents the cursor would return, subject to skip and limit. Does not consume the cursor.
   */
  count(): Promise<number> {
    return answered(() => countDocuments(this.#readable, this.#filter, this.options))
  }

  /** Runs the find and explains its plan and cost. Does not consume the cursor. */
  explain(): Promise<Explanation> {
    return answered(() => explainFind(this.#readable, this.#filter, this.options))
  }

  protected begin(): CursorRun | undefined | Promise<CursorRun | undefined> {
    const collection = this.#readable()
    if (collection instanceof Promise) return collection.then((opened) => this.#beginIn(opened))
    return this.#beginIn(collection)
  }

  #beginIn(collection: Awaited<ReturnType<Readable>>): ReturnType<FindCursor<T>['begin']> {
    const find = compileFind(this.#filter, this.options)
    if (collection !== undefined) return new FindRun(collection, find, this.options)
    return find.prepare === undefined ? undefined : resultWithoutCollection(find, undefined)
  }
}
