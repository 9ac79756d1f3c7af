/**
 * Periodically deletes the documents of an open collection that have expired by its TTL indexes (`expireAfterSeconds`).
 *
 * Invariants:
 * 1. One sweep at a time; other writes run between its batches. Nothing is scheduled while there is no TTL index.
 * 2. Nothing starts after close(), which waits for the current batch.
 * 3. Nothing waits for a sweep, and failures are reported only through stats(); the next sweep tries again.
 */
import { fromStore } from '../errors.ts'

/** State of automatic expiry. */
export interface ExpiryStats {
  /** False without a TTL index, and in a read-only database. */
  readonly isOn: boolean
  readonly isRunning: boolean
  /** Successful sweeps since the collection was opened. */
  readonly sweeps: number
  /** Documents deleted since the collection was opened. */
  readonly deleted: number
  /** Start time of the last successful sweep. */
  readonly lastSweep: Date | undefined
  /** Error of the last failed sweep; cleared by a successful one. */
  readonly error: string | undefined
}

/** The collection being swept. */
export interface SweepTarget {
  /** Whether the collection has a TTL index. */
  isWanted(): boolean
  /** @param now milliseconds since 1970 */
  sweep(now: number, isOver: () => boolean, onDeleted: (count: number) => void): Promise<void>
}

/** For a collection that is never swept. */
export const neverSwept: ExpiryStats = {
  isOn: false,
  isRunning: false,
  sweeps: 0,
  deleted: 0,
  lastSweep: undefined,
  error: undefined
}

/** Delay of the first sweep, unless the interval is shorter. */
const firstMilliseconds = 1000

export class Expiry {
  readonly #target: SweepTarget
  readonly #intervalMilliseconds: number
  readonly #now: () => number
  #timer: ReturnType<typeof setTimeout> | undefined
  #running: Promise<void> | undefined
  #sweeps = 0
  #deleted = 0
  #lastSweep: Date | undefined
  #error: string | undefined
  #isClosed = false

  /** @param now clock that the dates are compared with */
  constructor(swept: SweepTarget, intervalSeconds: number, now: () => number = Date.now) {
    this.#target = swept
    this.#intervalMilliseconds = intervalSeconds * 1000
    this.#now = now
    this.noteIndexes()
  }

  get stats(): ExpiryStats {
    return {
      isOn: this.#target.isWanted(),
      isRunning: this.#running !== undefined,
      sweeps: this.#sweeps,
      deleted: this.#deleted,
      lastSweep: this.#lastSweep,
      error: this.#error
    }
  }

  /** An index was created or dropped. */
  noteIndexes(): void {
    if (this.#target.isWanted()) this.#schedule(Math.min(firstMilliseconds, this.#intervalMilliseconds))
    else this.#unschedule()
  }

  /** Waits for the current batch. */
  async close(): Promise<void> {
    this.#isClosed = true
    this.#unschedule()
    await this.#running
  }

  #schedule(milliseconds: number): void {
    if (this.#isClosed || this.#running !== undefined || this.#timer !== undefined) return
    this.#timer = setTimeout(() => {
      this.#timer = undefined
      this.#running = this.#sweep()
    }, milliseconds)
    // Node's timers keep a process alive unless unref'ed; a browser's have no such method.
    ;(this.#timer as { unref?: () => unknown }).unref?.()
  }

  #unschedule(): void {
    clearTimeout(this.#timer)
    this.#timer = undefined
  }

  async #sweep(): Promise<void> {
    const now = this.#now()
    const isOver = (): boolean => this.#isClosed
    try {
      await this.#target.sweep(now, isOver, (count) => {
        this.#deleted += count
      })
      this.#sweeps++
      this.#lastSweep = new Date(now)
      this.#error = undefined
    } catch (error) {
      const known = fromStore(error)
      if (!this.#isClosed) this.#error = known instanceof Error ? known.message : String(known)
    }
    this.#running = undefined
    if (this.#target.isWanted()) this.#schedule(this.#intervalMilliseconds)
  }
}
