/**
 * The documents that a find returns, one after the other.
 *
 * Invariants: those of sliced-cursor.ts, and
 * 1. Sort, then skip, then limit, then projection, then map: whatever the order of the calls.
 * 2. clone() gives a fresh cursor.
 */
import type { Document } from '../../model/types.ts'
import type { Collation } from '../../query/collation.ts'
import type { FindOptions, SortDirection, SortSpec } from '../options.ts'
import { countFound } from './count.ts'
import { type Explanation, explainFind } from './explain.ts'
import { compileFind, FindRun, withoutCollection } from './find.ts'
import { type CursorRun, type Readable, SlicedCursor, type Transform } from './sliced-cursor.ts'

/**
 * @example
 * const cursor = db.find({ lang: 'en' }).sort({ at: -1 }).limit(10)
 * for await (const tweet of cursor) console.log(tweet.text)
 */
export class FindCursor<T = Document> extends SlicedCursor<T> {
  readonly #readable: Readable
  readonly #filter: unknown
  #options: FindOptions

  /** Cursors come from Collection.find(). */
  constructor(readable: Readable, filter: unknown, options: FindOptions, transform?: Transform) {
    super(transform)
    this.#readable = readable
    this.#filter = filter
    this.#options = options
  }

  /** @param direction of a single field; default 1 */
  sort(sort: SortSpec, direction?: SortDirection): this {
    // A sort that is no path fails the first pull.
    return this.#change({ sort: direction === undefined ? sort : [[sort as string, direction]] })
  }

  /**
   * How strings compare in the filter and in the sort: docs/query-semantics.md.
   * @example
   * const byName = await db.find({ lang: 'EN' }).collation({ locale: 'en', strength: 2 }).sort({ 'user.name': 1 }).toArray()
   */
  collation(collation: Collation): this {
    return this.#change({ collation })
  }

  skip(skip: number): this {
    return this.#change({ skip })
  }

  /** 0 is no limit. */
  limit(limit: number): this {
    return this.#change({ limit })
  }

  /** Forces a plan: see ReadOptions. */
  hint(hint: NonNullable<FindOptions['hint']>): this {
    return this.#change({ hint })
  }

  /** Milliseconds after which the find fails with MaxTimeMSExpired, from its first pull on. */
  maxTimeMS(milliseconds: number): this {
    return this.#change({ maxTimeMS: milliseconds })
  }

  project<U = T>(projection: Readonly<Record<string, unknown>>): FindCursor<U> {
    return this.#change({ projection }) as unknown as FindCursor<U>
  }

  /** A cursor over what `transform` makes of each document; this one is not to be used any more. */
  map<U>(transform: (value: T) => U): FindCursor<U> {
    return new FindCursor<U>(this.#readable, this.#filter, this.#options, this.mapped(transform))
  }

  /** The same question again, to be asked of the state at its own first pull. */
  clone(): FindCursor<T> {
    return new FindCursor<T>(this.#readable, this.#filter, this.#options, this.transform)
  }

  /** The number of documents the cursor would give, skip and limit included. Does not use the cursor up. */
  async count(): Promise<number> {
    return countFound(this.#readable, this.#filter, this.#options)
  }

  /** How the find runs, and what it costs: it is run for that. Does not use the cursor up. */
  async explain(): Promise<Explanation> {
    return explainFind(this.#readable, this.#filter, this.#options)
  }

  protected begin(): CursorRun | undefined | Promise<CursorRun | undefined> {
    const collection = this.#readable()
    if (collection instanceof Promise) return collection.then((opened) => this.#beginIn(opened))
    return this.#beginIn(collection)
  }

  #beginIn(collection: Awaited<ReturnType<Readable>>): ReturnType<FindCursor<T>['begin']> {
    const find = compileFind(this.#filter, this.#options)
    if (collection !== undefined) return new FindRun(collection, find, this.#options)
    return find.prepare === undefined ? undefined : withoutCollection(find, undefined)
  }

  #change(options: FindOptions): this {
    this.assertNew()
    this.#options = { ...this.#options, ...options }
    return this
  }
}
