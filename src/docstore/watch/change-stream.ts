/**
 * The stream of a collection's changes, as returned to the caller.
 *
 * Invariants:
 * 1. Reports the changes made after the call of watch(), each once, in commit order.
 * 2. An event belongs to the caller: no mutable part of it is shared.
 */
import { AbortedError, throwIfAborted } from '../../model/errors.ts'
import { deliver } from '../../model/time-slice.ts'
import type { Document } from '../../model/types.ts'
import { callOnAbort } from '../call-on-abort.ts'
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

/**
 * Discards streams that were dropped without being closed; otherwise they would receive every commit until the database
 * closes.
 */
const abandoned = new FinalizationRegistry<Held>(({ buffer, forget }) => {
  buffer.discard()
  forget?.()
})

/** What a stream leaves behind. */
interface Held {
  readonly buffer: ChangeBuffer
  /** Stops listening to the signal. */
  readonly forget: (() => void) | undefined
}

/**
 * A stream of change events, as returned by watch().
 * @example
 * await using changes = db.watch([{ $match: { operationType: 'insert' } }])
 * await db.insertOne({ lang: 'en' })
 * const change = await changes.next()
 * if (change.operationType === 'insert') console.log(change.fullDocument)
 */
export class ChangeStream<E extends object = ChangeEvent> implements AsyncIterable<E>, AsyncDisposable {
  readonly #buffer: ChangeBuffer
  readonly #signal: AbortSignal | undefined
  readonly #forget: (() => void) | undefined
  /** The event found by hasNext(). */
  #found: E | undefined

  /** Not to be called directly: use Collection.watch(). */
  constructor(buffer: ChangeBuffer, signal: AbortSignal | undefined) {
    this.#buffer = buffer
    this.#signal = signal
    // Must not hold the stream, which would then never be found abandoned as long as there is the signal.
    this.#forget = signal && callOnAbort(signal, () => buffer.discard())
    abandoned.register(this, { buffer, forget: this.#forget }, this)
  }

  /**
   * True when no more events will come: the stream was closed or has failed, or its collection or database is gone and
   * all events have been returned.
   */
  get closed(): boolean {
    if (this.#signal?.aborted) return true
    return !this.#buffer.isOpen && this.#buffer.isEmpty && this.#found === undefined
  }

  /**
   * Returns the next event, waiting for one if necessary.
   * @throws PetalError CursorNotFound if the stream is or gets closed, AbortedError if its signal closed it;
   *   ChangeStreamHistoryLost if the consumer fell too far behind; errors thrown by a function in the pipeline
   */
  async next(): Promise<E> {
    const event = await this.#nextOrEnd()
    if (event !== undefined) return event
    throw this.#signal?.aborted ? new AbortedError(this.#signal.reason) : streamClosed()
  }

  /** Returns the next event if there already is one, or null. @throws as next(), except for a closed stream */
  async tryNext(): Promise<E | null> {
    return deliver(this.#take() ?? null)
  }

  /**
   * Waits for an event without consuming it; false when the stream is closed. @throws as next(), except for a closed
   * stream
   */
  async hasNext(): Promise<boolean> {
    for (;;) {
      this.#found = this.#take()
      if (this.#found !== undefined || !this.#buffer.isOpen) return deliver(this.#found !== undefined)
      await this.#buffer.waitForChange()
    }
  }

  /** Closes the stream and discards pending events. Calling it again is harmless. */
  async close(): Promise<void> {
    this.#close()
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close()
  }

  /** Iterates until the stream ends, throwing only if it failed; leaving the loop closes the stream. */
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

  /** Returns undefined when no more events will come. */
  async #nextOrEnd(): Promise<E | undefined> {
    for (;;) {
      const event = this.#take()
      if (event !== undefined || !this.#buffer.isOpen) return deliver(event)
      await this.#buffer.waitForChange()
    }
  }

  #take(): E | undefined {
    if (this.#signal?.aborted) this.#found = undefined
    const found = this.#found
    this.#found = undefined
    if (found !== undefined) return found
    try {
      return this.#nextShaped()
    } finally {
      if (!this.#buffer.isOpen && this.#buffer.isEmpty) this.#forget?.()
    }
  }

  #nextShaped(): E | undefined {
    const { settings } = this.#buffer
    for (let change = this.#buffer.take(); change !== undefined; change = this.#buffer.take()) {
      const event = this.#shaped(eventOf(change, settings.collection, settings))
      if (event !== undefined) return event as E
    }
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
    this.#forget?.()
  }
}
