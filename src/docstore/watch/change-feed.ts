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
  readonly #onChange: ((feed: ChangeFeed) => void) | undefined
  #isHeld = false
  #isDropped = false
  /** Never mutated, only replaced. */
  #streams = noStreams

  /** @param onChange called when it may have become needed, or needless */
  constructor(collection: string, onChange?: (feed: ChangeFeed) => void) {
    this.collection = collection
    this.#onChange = onChange
  }

  /** Whether streams or the open collection refer to it: both have to find the same one, until it is dropped. */
  get isNeeded(): boolean {
    return !this.#isDropped && (this.#isHeld || this.#streams.length > 0)
  }

  /** @param isHeld whether the collection is open, or being opened */
  hold(isHeld: boolean): void {
    this.#isHeld = isHeld
    this.#onChange?.(this)
  }

  /** The current streams. */
  get streams(): readonly ChangeBuffer[] {
    return this.#streams
  }

  add(stream: ChangeBuffer): void {
    this.#streams = [...this.#streams, stream]
    this.#onChange?.(this)
    stream.onEnd = () => {
      this.#streams = this.#streams.filter((other) => other !== stream)
      this.#onChange?.(this)
    }
  }

  /** The collection was dropped, or renamed if `to` is given: notifies all streams and ends them. */
  dropped(to?: string): void {
    this.#isDropped = true
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

/**
 * The feeds of all collections of a database.
 *
 * Invariant: only feeds that are needed are kept, so that nothing is left of a name that was watched in passing.
 */
export class ChangeFeeds {
  readonly #feeds = new Map<string, ChangeFeed>()

  /** Number of feeds that are kept. */
  get size(): number {
    return this.#feeds.size
  }

  /**
   * The feed of a collection, which is kept from when it is needed on: use it before anything is awaited.
   * @param collection its name
   */
  of(collection: string): ChangeFeed {
    return this.#feeds.get(collection) ?? new ChangeFeed(collection, (feed) => this.#keepOrForget(feed))
  }

  /**
   * The collection was dropped, or renamed if `to` is given: one created later under the same name gets a new feed.
   */
  dropped(collection: string, to?: string): void {
    const feed = this.#feeds.get(collection)
    this.#feeds.delete(collection)
    feed?.dropped(to)
  }

  end(): void {
    for (const feed of this.#feeds.values()) feed.end()
  }

  #keepOrForget(feed: ChangeFeed): void {
    const { collection } = feed
    const known = this.#feeds.get(collection)
    if (feed.isNeeded) this.#feeds.set(collection, known ?? feed)
    else if (known === feed) this.#feeds.delete(collection)
  }
}
