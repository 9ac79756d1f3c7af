/**
 * The changes of a collection as its users see them, one after the other.
 *
 * Invariants:
 * 1. Changes are told from the call of watch() on, each once, in the order in which they were committed.
 * 2. An event is the caller's own: nobody else has any part of it that can be changed.
 */
import { AbortedError, throwIfAborted } from '../../model/errors.ts'
import { answered } from '../../model/time-slice.ts'
import type { Document } from '../../model/types.ts'
import { assertOptions } from '../option-checks.ts'
import { eventOf } from './change.ts'
import { ChangeBuffer } from './change-buffer.ts'
import type { ChangeEvent } from './change-event.ts'
import type { ChangeFeed } from './change-feed.ts'
import { streamClosed } from './errors.ts'
import { compilePipeline } from './pipeline.ts'
import { type ChangeStreamOptions, checkWatch, knownWatchOptions } from './watch-options.ts'

/** @throws PetalError BadValue, CommandNotSupported, and those of filters and projections; AbortedError */
export function watchFeed<E extends object>(
  feed: ChangeFeed,
  pipeline: unknown,
  options: ChangeStreamOptions
): ChangeStream<E> {
  assertOptions('watch', options, knownWatchOptions)
  const settings = { ...checkWatch(options), collection: feed.collection, pipeline: compilePipeline(pipeline) }
  throwIfAborted(options.signal)
  const buffer = new ChangeBuffer(settings)
  feed.add(buffer)
  return new ChangeStream<E>(buffer, options.signal)
}

/** A stream that was dropped without being closed would be told of every commit until the database closes. */
const abandoned = new FinalizationRegistry<ChangeBuffer>((buffer) => buffer.discard())

/**
 * @example
 * await using changes = db.watch([{ $match: { operationType: 'insert' } }])
 * await db.insertOne({ lang: 'en' })
 * const change = await changes.next()
 * if (change.operationType === 'insert') console.log(change.fullDocument)
 */
export class ChangeStream<E extends object = ChangeEvent> implements AsyncIterable<E>, AsyncDisposable {
  readonly #buffer: ChangeBuffer
  readonly #signal: AbortSignal | undefined
  readonly #onAbort = (): void => this.#close()
  /** What hasNext() has found. */
  #found: E | undefined

  /** Change streams come from Collection.watch(). */
  constructor(buffer: ChangeBuffer, signal: AbortSignal | undefined) {
    this.#buffer = buffer
    this.#signal = signal
    signal?.addEventListener('abort', this.#onAbort, { once: true })
    abandoned.register(this, buffer, this)
  }

  /** True when no more events will come: it was closed, has failed, or its collection or database is gone and all is told. */
  get closed(): boolean {
    return !this.#buffer.isOpen && this.#buffer.isEmpty && this.#found === undefined
  }

  /**
   * The next event, as soon as there is one.
   * @throws PetalError CursorNotFound when the stream is closed, also while this waits, AbortedError when its signal has closed
   *   it; ChangeStreamHistoryLost when the consumer was too far behind; what a function in the pipeline threw
   */
  async next(): Promise<E> {
    const event = await this.#nextOrEnd()
    if (event !== undefined) return event
    throw this.#signal?.aborted ? new AbortedError(this.#signal.reason) : streamClosed()
  }

  /** The next event if there is one already, or null. @throws as next(), but for a stream that is closed */
  async tryNext(): Promise<E | null> {
    return answered(this.#take() ?? null)
  }

  /** Waits for an event and leaves it there; false when the stream is closed. @throws as next(), but for that */
  async hasNext(): Promise<boolean> {
    for (;;) {
      this.#found = this.#take()
      if (this.#found !== undefined || !this.#buffer.isOpen) return this.#found !== undefined
      await this.#buffer.arrival()
    }
  }

  /** Ends the stream; what was not taken is let go. Harmless when repeated. */
  async close(): Promise<void> {
    this.#close()
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close()
  }

  /** Ends when the stream does, without an error unless it failed; leaving the loop closes it. */
  [Symbol.asyncIterator](): AsyncIterator<E, undefined> {
    return {
      next: async () => {
        const value = await this.#nextOrEnd()
        return value === undefined ? { done: true, value } : { done: false, value }
      },
      return: async () => {
        this.#close()
        return { done: true, value: undefined }
      }
    }
  }

  /** undefined when no event will come. */
  async #nextOrEnd(): Promise<E | undefined> {
    for (;;) {
      const event = this.#take()
      if (event !== undefined || !this.#buffer.isOpen) return event
      await this.#buffer.arrival()
    }
  }

  #take(): E | undefined {
    const found = this.#found
    this.#found = undefined
    if (found !== undefined) return found
    const { settings } = this.#buffer
    for (let change = this.#buffer.take(); change !== undefined; change = this.#buffer.take()) {
      const event = this.#shaped(eventOf(change, settings.collection, settings))
      if (event !== undefined) return event as E
    }
    if (!this.#buffer.isOpen) this.#signal?.removeEventListener('abort', this.#onAbort)
    return undefined
  }

  #shaped(event: Document): Document | undefined {
    try {
      return this.#buffer.settings.pipeline.shape(event)
    } catch (error) {
      this.#buffer.fail(error)
      throw error
    }
  }

  #close(): void {
    this.#found = undefined
    this.#buffer.discard()
    abandoned.unregister(this)
    this.#signal?.removeEventListener('abort', this.#onAbort)
  }
}
