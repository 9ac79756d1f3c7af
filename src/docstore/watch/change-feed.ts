/**
 * Who watches a collection, by its name: streams are there before the collection is, and outlive its being opened.
 *
 * Invariant: a stream is told of a commit if it was there when the commit became visible: what it is not told of, a read that
 * begins after watch() sees.
 */
import type { Change } from './change.ts'
import type { ChangeBuffer } from './change-buffer.ts'
import { nextEventTime } from './event-clock.ts'

const nobody: readonly ChangeBuffer[] = []

export class ChangeFeed {
  readonly collection: string
  /** Never changed: another list takes its place. */
  #streams = nobody

  constructor(collection: string) {
    this.collection = collection
  }

  /** Streams of this moment. */
  get streams(): readonly ChangeBuffer[] {
    return this.#streams
  }

  add(stream: ChangeBuffer): void {
    this.#streams = [...this.#streams, stream]
    stream.onEnd = () => {
      this.#streams = this.#streams.filter((other) => other !== stream)
    }
  }

  /** The collection is gone: all streams are told, and end. */
  dropped(): void {
    for (const stream of this.#streams) {
      for (const kind of ['drop', 'invalidate'] as const) {
        const change: Change = { kind, time: nextEventTime() }
        stream.put(change)
      }
      stream.end()
    }
  }

  /** The database is closed. */
  end(): void {
    for (const stream of this.#streams) stream.end()
  }
}

/** The feeds of a database. */
export class ChangeFeeds {
  readonly #feeds = new Map<string, ChangeFeed>()

  /** @param collection its name */
  of(collection: string): ChangeFeed {
    const known = this.#feeds.get(collection)
    if (known !== undefined) return known
    const feed = new ChangeFeed(collection)
    this.#feeds.set(collection, feed)
    return feed
  }

  /** The collection is gone: one of the same name begins anew, and nothing is kept for names that never come back. */
  dropped(collection: string): void {
    const feed = this.#feeds.get(collection)
    this.#feeds.delete(collection)
    feed?.dropped()
  }

  end(): void {
    for (const feed of this.#feeds.values()) feed.end()
  }
}
