/**
 * The documents that a find returns, one after the other.
 *
 * Invariants:
 * 1. Nothing happens before the first pull; then the whole cursor sees the state of that instant.
 * 2. A cursor runs once. It cannot be changed after the first pull; clone() gives a fresh one.
 * 3. Sort, then skip, then limit, then projection, then map: whatever the order of the calls.
 */
import { PetalError } from '../../model/errors.ts'
import type { Document } from '../../model/types.ts'
import type { OpenCollection } from '../open-collection.ts'
import { assertFunction, type FindOptions, type SortSpec } from '../options.ts'
import { countFound } from './count.ts'
import { type Explanation, explainFind } from './explain.ts'
import { compileFind, FindRun } from './find.ts'

/** Gives the collection to read, undefined while it does not exist. */
export type Readable = () => OpenCollection | undefined | Promise<OpenCollection | undefined>

type Pulled = readonly Document[] | undefined | Promise<readonly Document[] | undefined>

type Transform = (document: Document) => unknown

/** Views of cursors that were dropped without being closed would be kept until the database closes. */
const abandoned = new FinalizationRegistry<{ close(): void }>((view) => view.close())

/**
 * @example
 * const cursor = db.find({ lang: 'en' }).sort({ at: -1 }).limit(10)
 * for await (const tweet of cursor) console.log(tweet.text)
 */
export class FindCursor<T = Document> implements AsyncIterable<T>, AsyncDisposable {
  readonly #readable: Readable
  readonly #filter: unknown
  readonly #transform: Transform | undefined
  #options: FindOptions
  #run: FindRun | undefined
  #phase: 'new' | 'running' | 'over' = 'new'
  #slice: readonly Document[] = []
  #position = 0
  #filling: Promise<boolean> | undefined
  #pulling: Promise<readonly Document[] | undefined> | undefined

  /** Cursors come from Collection.find(). */
  constructor(readable: Readable, filter: unknown, options: FindOptions, transform?: Transform) {
    this.#readable = readable
    this.#filter = filter
    this.#options = options
    this.#transform = transform
  }

  /** True when the cursor has nothing more to give, or was closed. */
  get closed(): boolean {
    return this.#phase === 'over' && this.#position >= this.#slice.length
  }

  /** @param direction of a single field; default 1 */
  sort(sort: SortSpec, direction?: 1 | -1): this {
    return this.#change({ sort: direction === undefined ? sort : [[sort, direction]] })
  }

  skip(skip: number): this {
    return this.#change({ skip })
  }

  /** 0 is no limit. */
  limit(limit: number): this {
    return this.#change({ limit })
  }

  project<U = T>(projection: Readonly<Record<string, unknown>>): FindCursor<U> {
    return this.#change({ projection }) as unknown as FindCursor<U>
  }

  /** A cursor over what `transform` makes of each document; this one is not to be used any more. */
  map<U>(transform: (value: T) => U): FindCursor<U> {
    this.#assertNew()
    assertFunction('The callback of map', transform)
    const first = this.#transform
    const both: Transform =
      first === undefined ? (transform as Transform) : (document) => transform(first(document) as T)
    return new FindCursor<U>(this.#readable, this.#filter, this.#options, both)
  }

  /** The same question again, to be asked of the state at its own first pull. */
  clone(): FindCursor<T> {
    return new FindCursor<T>(this.#readable, this.#filter, this.#options, this.#transform)
  }

  /** The next document; null at the end. */
  async next(): Promise<T | null> {
    while (this.#position >= this.#slice.length) if (!(await this.#fill())) return null
    return this.#take()
  }

  /** As next(): a find never waits for documents to come. */
  tryNext(): Promise<T | null> {
    return this.next()
  }

  async hasNext(): Promise<boolean> {
    return this.#position < this.#slice.length || this.#fill()
  }

  /** All remaining documents. */
  async toArray(): Promise<T[]> {
    this.#assertRunnable()
    const result = this.#restOfSlice()
    for (;;) {
      const pulled = this.#pull()
      const slice = pulled instanceof Promise ? await pulled : pulled
      if (slice === undefined) return result
      if (this.#transform === undefined) for (const document of slice) result.push(document as T)
      else for (const document of slice) result.push(this.#transform(document) as T)
    }
  }

  /** @param visit returning false ends the iteration */
  async forEach(visit: (value: T) => unknown): Promise<void> {
    assertFunction('The callback of forEach', visit)
    for await (const value of this) if (visit(value) === false) return
  }

  /** The number of documents the cursor would give, skip and limit included. Does not use the cursor up. */
  async count(): Promise<number> {
    return countFound(await this.#readable(), this.#filter, this.#options)
  }

  /** How the find runs, and what it costs: it is run for that. Does not use the cursor up. */
  async explain(): Promise<Explanation> {
    return explainFind(await this.#readable(), this.#filter, this.#options)
  }

  /** Frees what the cursor holds. Harmless when repeated. */
  async close(): Promise<void> {
    this.#slice = []
    this.#position = 0
    this.#end()
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close()
  }

  [Symbol.asyncIterator](): AsyncIterator<T, undefined> {
    this.#assertRunnable()
    return {
      next: async () => {
        while (this.#position >= this.#slice.length) if (!(await this.#fill())) return { done: true, value: undefined }
        return { done: false, value: this.#take() }
      },
      return: async () => {
        await this.close()
        return { done: true, value: undefined }
      }
    }
  }

  #change(options: FindOptions): this {
    this.#assertNew()
    this.#options = { ...this.#options, ...options }
    return this
  }

  #assertNew(): void {
    if (this.#phase === 'new') return
    throw new PetalError('IllegalOperation', 'A cursor cannot be changed after its first pull; clone() it')
  }

  #assertRunnable(): void {
    if (!this.closed) return
    throw new PetalError('CursorNotFound', 'The cursor is used up or closed; clone() it to run again')
  }

  #take(): T {
    const document = this.#slice[this.#position++]!
    return (this.#transform === undefined ? document : this.#transform(document)) as T
  }

  #restOfSlice(): T[] {
    const rest: T[] = []
    while (this.#position < this.#slice.length) rest.push(this.#take())
    return rest
  }

  /** Gets the next slice, once for all who wait for it; false at the end. */
  #fill(): Promise<boolean> {
    this.#filling ??= this.#fillNow().finally(() => {
      this.#filling = undefined
    })
    return this.#filling
  }

  async #fillNow(): Promise<boolean> {
    const pulled = this.#pull()
    const slice = pulled instanceof Promise ? await pulled : pulled
    if (slice === undefined) return false
    this.#slice = slice
    this.#position = 0
    return true
  }

  /** One pull at a time: toArray() beside next() gets the slice after. */
  #pull(): Pulled {
    if (this.#pulling !== undefined) {
      const again = (): Pulled => this.#pull()
      return this.#pulling.then(again, again)
    }
    try {
      const pulled = this.#pullNow()
      if (!(pulled instanceof Promise)) return this.#note(pulled)
      this.#pulling = pulled
        .then(
          (slice) => this.#note(slice),
          (error: unknown) => {
            this.#end()
            throw error
          }
        )
        .finally(() => {
          this.#pulling = undefined
        })
      return this.#pulling
    } catch (error) {
      this.#end()
      throw error
    }
  }

  #pullNow(): Pulled {
    if (this.#phase === 'over') return undefined
    if (this.#run !== undefined) return this.#run.next()
    this.#phase = 'running'
    const collection = this.#readable()
    return collection instanceof Promise ? collection.then((opened) => this.#begin(opened)) : this.#begin(collection)
  }

  #begin(collection: OpenCollection | undefined): Pulled {
    const find = compileFind(this.#filter, this.#options)
    if (collection === undefined) return undefined
    const run = new FindRun(collection, find, this.#options)
    this.#run = run
    // A function in the filter may close the cursor meanwhile.
    const first = run.next()
    if (!run.isOver) abandoned.register(this, run.view, this)
    return first
  }

  #note(slice: readonly Document[] | undefined): readonly Document[] | undefined {
    if (slice === undefined || this.#run?.isOver) this.#end()
    return slice
  }

  #end(): void {
    this.#phase = 'over'
    this.#run?.close()
    this.#run = undefined
    abandoned.unregister(this)
  }
}
