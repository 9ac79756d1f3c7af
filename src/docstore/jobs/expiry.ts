/**
 * Deletes the documents of a collection that have expired by its indexes with `expireAfterSeconds`, every now and then while it
 * is open.
 *
 * Invariants:
 * 1. One sweep at a time; between two batches of it other writes run. Nothing is scheduled while there is no such index.
 * 2. It begins nothing after close(), which waits for the batch under way.
 * 3. Nobody waits for it, and its failure is nobody's: stats() tells, and the next sweep tries again.
 */
import { fromStore } from '../errors.ts'

export interface ExpiryStats {
  /** False without an index that has `expireAfterSeconds`, and in a database that is only read. */
  readonly isOn: boolean
  readonly isRunning: boolean
  /** Sweeps that ended well since the collection was opened. */
  readonly sweeps: number
  /** Documents deleted since then. */
  readonly deleted: number
  /** When the last sweep that ended well began. */
  readonly lastSweep: Date | undefined
  /** Why the last one failed, unless one has ended well since. */
  readonly error: string | undefined
}

/** What is swept, and how. */
export interface Swept {
  /** Whether there is an index by which documents expire. */
  isWanted(): boolean
  /** @param now milliseconds since 1970 */
  sweep(now: number, isOver: () => boolean, onDeleted: (count: number) => void): Promise<void>
}

/** Of a collection that is never swept. */
export const neverSwept: ExpiryStats = {
  isOn: false,
  isRunning: false,
  sweeps: 0,
  deleted: 0,
  lastSweep: undefined,
  error: undefined
}

/** The first sweep comes so soon, or after the interval if that is shorter. */
const firstMilliseconds = 1000

export class Expiry {
  readonly #swept: Swept
  readonly #intervalMilliseconds: number
  readonly #now: () => number
  #timer: ReturnType<typeof setTimeout> | undefined
  #running: Promise<void> | undefined
  #sweeps = 0
  #deleted = 0
  #lastSweep: Date | undefined
  #error: string | undefined
  #isClosed = false

  /** @param now the clock that dates are compared with */
  constructor(swept: Swept, intervalSeconds: number, now: () => number = Date.now) {
    this.#swept = swept
    this.#intervalMilliseconds = intervalSeconds * 1000
    this.#now = now
    this.noteIndexes()
  }

  get stats(): ExpiryStats {
    return {
      isOn: this.#swept.isWanted(),
      isRunning: this.#running !== undefined,
      sweeps: this.#sweeps,
      deleted: this.#deleted,
      lastSweep: this.#lastSweep,
      error: this.#error
    }
  }

  /** An index was made or dropped. */
  noteIndexes(): void {
    if (this.#swept.isWanted()) this.#schedule(Math.min(firstMilliseconds, this.#intervalMilliseconds))
    else this.#unschedule()
  }

  /** Waits for the batch under way. */
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
    // Node's timers keep a process alive unless told not to; a browser's have no such method.
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
      await this.#swept.sweep(now, isOver, (count) => {
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
    if (this.#swept.isWanted()) this.#schedule(this.#intervalMilliseconds)
  }
}
