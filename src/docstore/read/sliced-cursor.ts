/**
 * Base class of all cursors: hands out documents one by one while the query produces them in slices.
 *
 * Invariants:
 * 1. Nothing happens before the first pull; the whole cursor then sees the state of that instant.
 * 2. A cursor runs once, and cannot be changed after the first pull.
 * 3. At most one slice is being pulled at a time, no matter how many callers wait for it.
 * 4. Concurrent calls receive documents in the order of the calls.
 */
import { PetalError } from '../../model/errors.ts'
import { deliver } from '../../model/time-slice.ts'
import type { Document } from '../../model/types.ts'
import type { OpenCollection } from '../open-collection.ts'
import { assertFunction } from '../option-checks.ts'

/** Returns the collection to read; undefined while it does not exist. */
export type Readable = () => OpenCollection | undefined | Promise<OpenCollection | undefined>

type Pulled = readonly Document[] | undefined | Promise<readonly Document[] | undefined>

/** Applied to each document, see map(). */
export type Transform = (document: Document) => unknown

/** The query run that a cursor pulls from. */
export interface CursorRun {
  /** True when no more documents will come. */
  readonly isOver: boolean
  /** What to free when the cursor is dropped without being closed. Must not reference the cursor. */
  readonly views: { close(): void }
  /** Returns the next documents, at least one; undefined at the end. A promise only if the run had to wait. */
  next(): Pulled
  close(): void
}

/**
 * Indirection to the views that a running cursor reads. V8 promotes what is registered with a FinalizationRegistry to
 * the old generation, and retains whatever it references until the next full collection, even after unregister():
 * without the indirection, the views of every find, some ten kilobytes.
 */
interface ViewsRef {
  views: { close(): void } | undefined
}

/**
 * Closes the views of cursors that were dropped without being closed; otherwise they would live until the database
 * closes.
 */
const abandoned = new FinalizationRegistry<ViewsRef>((held) => held.views?.close())

export abstract class SlicedCursor<T> implements AsyncIterable<T>, AsyncDisposable {
  readonly #transform: Transform | undefined
  #run: CursorRun | undefined
  #viewsRef: ViewsRef | undefined
  /** toArray() is waiting for the remaining documents: the cursor cannot be dropped. */
  #isDraining = false
  #phase: 'new' | 'running' | 'over' = 'new'
  /** A loop or toArray() had the remaining documents, a pull failed, or the cursor was closed. */
  #isSpent = false
  #slice: readonly Document[] = []
  #position = 0
  #filling: Promise<boolean> | undefined
  #pulling: Promise<readonly Document[] | undefined> | undefined
  /** Settles when the last of the calls waiting for a document has it; undefined when none is waiting. */
  #lastTurn: Promise<void> | undefined

  protected constructor(transform: Transform | undefined) {
    this.#transform = transform
  }

  /** Starts the run, synchronously where possible; undefined if there is nothing to read. */
  protected abstract begin(): CursorRun | undefined | Promise<CursorRun | undefined>

  /** True when the cursor is exhausted or was closed. */
  get closed(): boolean {
    return this.#phase === 'over' && this.#position >= this.#slice.length
  }

  /** Returns the next document; null at the end. @throws as the call that made the cursor, the first time */
  async next(): Promise<T | null> {
    if (this.#hasBuffered) return this.#take()
    const { done, value } = await this.#takeQueued()
    return done ? null : value
  }

  /** Same as next(): a find never waits for documents to arrive. */
  tryNext(): Promise<T | null> {
    return this.next()
  }

  /** Whether there is another document. @throws as next() */
  async hasNext(): Promise<boolean> {
    return this.#position < this.#slice.length || this.#fill()
  }

  /** Returns all remaining documents. @throws as next(); PetalError CursorNotFound if they were had, or the cursor closed */
  async toArray(): Promise<T[]> {
    this.#beginDrain()
    this.#isDraining = true
    try {
      const result = this.#restOfSlice()
      for (;;) {
        const pulled = this.#pull()
        const slice = pulled instanceof Promise ? await pulled : pulled
        if (slice === undefined) return deliver(result)
        if (this.#transform === undefined) for (const document of slice) result.push(document as T)
        else for (const document of slice) result.push(this.#transform(document) as T)
      }
    } catch (error) {
      throw await deliver(error)
    } finally {
      // A map() callback may have thrown.
      this.#end()
    }
  }

  /**
   * Calls `visit` for each remaining document.
   * @param visit returning false ends the iteration; a promise that it returns is not waited for
   * @throws as toArray(); whatever `visit` throws
   */
  async forEach(visit: (value: T) => unknown): Promise<void> {
    assertFunction('The callback of forEach', visit)
    for await (const value of this) if (visit(value) === false) return
  }

  /** Frees the cursor's resources. Calling it again is harmless. */
  async close(): Promise<void> {
    this.#isSpent = true
    this.#slice = []
    this.#position = 0
    this.#end()
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close()
  }

  [Symbol.asyncIterator](): AsyncIterator<T, undefined> {
    this.#beginDrain()
    return {
      next: async () => {
        if (this.#hasBuffered) return { done: false, value: this.#take() }
        return this.#takeQueued()
      },
      return: async () => {
        await this.close()
        return { done: true, value: undefined }
      }
    }
  }

  /** Returns the composition of the existing transform and the given one. */
  protected mapped<U>(transform: (value: T) => U): Transform {
    this.assertNew()
    assertFunction('The callback of map', transform)
    const first = this.#transform
    return first === undefined ? (transform as Transform) : (document) => transform(first(document) as T)
  }

  protected get transform(): Transform | undefined {
    return this.#transform
  }

  protected assertNew(): void {
    if (this.#phase === 'new') return
    throw new PetalError('IllegalOperation', 'A cursor cannot be changed once iteration has started; use clone()')
  }

  /** Of a cursor that next() or hasNext() exhausted nothing remains: that is no mistake of whoever asks for the rest. */
  #beginDrain(): void {
    if (this.closed && this.#isSpent)
      throw new PetalError('CursorNotFound', 'The cursor is exhausted or closed; use clone() to run it again')
    this.#isSpent = true
  }

  /** A document is buffered, and no earlier call is waiting for one. */
  get #hasBuffered(): boolean {
    return this.#position < this.#slice.length && this.#lastTurn === undefined
  }

  #takeQueued(): Promise<IteratorResult<T, undefined>> {
    const take = async (): Promise<IteratorResult<T, undefined>> => {
      while (this.#position >= this.#slice.length) {
        if (!(await this.#fill())) return deliver({ done: true, value: undefined })
      }
      return { done: false, value: this.#take() }
    }
    const taken = this.#lastTurn === undefined ? take() : this.#lastTurn.then(take)
    const end = (): void => {
      if (this.#lastTurn === turn) this.#lastTurn = undefined
    }
    const turn = taken.then(end, end)
    this.#lastTurn = turn
    return taken
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

  /** Pulls the next slice, once for all waiting calls; false at the end. */
  #fill(): Promise<boolean> {
    this.#filling ??= this.#fillNow().finally(() => {
      this.#filling = undefined
    })
    return this.#filling
  }

  async #fillNow(): Promise<boolean> {
    try {
      const pulled = this.#pull()
      const slice = pulled instanceof Promise ? await pulled : pulled
      if (slice === undefined) return false
      this.#slice = slice
      this.#position = 0
      return true
    } catch (error) {
      throw await deliver(error)
    }
  }

  /** One pull at a time: a toArray() during a next() gets the following slice. */
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
            this.#fail()
            throw error
          }
        )
        .finally(() => {
          this.#pulling = undefined
        })
      return this.#pulling
    } catch (error) {
      this.#fail()
      throw error
    }
  }

  #pullNow(): Pulled {
    if (this.#phase === 'over') return undefined
    if (this.#run !== undefined) return this.#run.next()
    this.#phase = 'running'
    const run = this.begin()
    return run instanceof Promise ? run.then((begun) => this.#pullFirst(begun)) : this.#pullFirst(run)
  }

  #pullFirst(run: CursorRun | undefined): Pulled {
    if (run === undefined) return undefined
    if (this.closed) {
      // Closed while the collection was being opened.
      run.close()
      return undefined
    }
    this.#run = run
    // A function in the filter may close the cursor meanwhile.
    const first = run.next()
    if (!run.isOver && !this.#isDraining) {
      this.#viewsRef = { views: run.views }
      abandoned.register(this, this.#viewsRef, this)
    }
    return first
  }

  #note(slice: readonly Document[] | undefined): readonly Document[] | undefined {
    if (slice === undefined || this.#run?.isOver) this.#end()
    return slice
  }

  #fail(): void {
    this.#isSpent = true
    this.#end()
  }

  #end(): void {
    this.#phase = 'over'
    this.#run?.close()
    this.#run = undefined
    if (this.#viewsRef === undefined) return
    this.#viewsRef.views = undefined
    this.#viewsRef = undefined
    abandoned.unregister(this)
  }
}
