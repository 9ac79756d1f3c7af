/**
 * The streams that watch a collection, by its name: they exist before the collection is created, and while it is not
 * open.
 *
 * Invariant: a stream receives a commit if it existed when the commit became visible, so a read started after watch()
 * sees whatever the stream does not receive.
 */
import type { ChangeBuffer } from './change-buffer.ts'
import { nextEventTime } from './event-clock.ts'

const noStreams: readonly ChangeBuffer[] = []

export class ChangeFeed {
  readonly collection: string
  /** Never mutated, only replaced. */
  #streams = noStreams

  constructor(collection: string) {
    this.collection = collection
  }

  /** The current streams. */
  get streams(): readonly ChangeBuffer[] {
    return this.#streams
  }

  add(stream: ChangeBuffer): void {
    this.#streams = [...this.#streams, stream]
    stream.onEnd = () => {
      this.#streams = this.#streams.filter((other) => other !== stream)
    }
  }

  /** The collection was dropped, or renamed if `to` is given: notifies all streams and ends them. */
  dropped(to?: string): void {
    for (const stream of this.#streams) {
      const time = nextEventTime()
      stream.put(to === undefined ? { kind: 'drop', time } : { kind: 'rename', time, to })
      stream.put({ kind: 'invalidate', time: nextEventTime() })
      stream.end()
    }
  }

  /** The database was closed. */
  end(): void {
    for (const stream of this.#streams) stream.end()
  }
}

/** The feeds of all collections of a database. */
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

  /**
   * The collection was dropped, or renamed if `to` is given: one created later under the same name gets a new feed, and
   * nothing is retained for unused names.
   */
  dropped(collection: string, to?: string): void {
    const feed = this.#feeds.get(collection)
    this.#feeds.delete(collection)
    feed?.dropped(to)
  }

  end(): void {
    for (const feed of this.#feeds.values()) feed.end()
  }
}
