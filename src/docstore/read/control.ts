/**
 * Aborts or pauses an operation: by an AbortSignal, a time limit, the end of what it is part of, and to yield to the event
 * loop.
 */
import { PetalError, throwIfAborted } from '../../model/errors.ts'
import { nextTurn, sliceMilliseconds } from '../../model/time-slice.ts'
import { wholeNumber } from '../option-checks.ts'
import type { ReadOptions } from '../options.ts'

/** Maximum number of documents between two checks of the clock, when each takes little time. */
const maxDocumentsPerCheck = 16

/** What an operation is part of. */
export interface Whole {
  /** Time until assertRunning() throws MaxTimeMSExpired; undefined if there is no limit. */
  readonly remainingMilliseconds: number | undefined
  /** @throws PetalError why it has ended */
  assertRunning(): void
}

export class Control {
  readonly signal: AbortSignal | undefined
  readonly #maxTimeMS: number
  readonly #started: number
  #sliceStarted: number
  #checkedAt: number
  #documentsPerCheck = 1
  #documentsUntilCheck = 1
  #whole: Whole | undefined

  /** The time limit counts from now. */
  constructor(options: Pick<ReadOptions, 'signal' | 'maxTimeMS'> = {}) {
    this.signal = options.signal
    this.#maxTimeMS = wholeNumber('maxTimeMS', options.maxTimeMS, 0)
    this.#started = performance.now()
    this.#sliceStarted = this.#started
    this.#checkedAt = this.#started
    throwIfAborted(this.signal)
  }

  /** Also ends the operation when what it is part of has ended. */
  endWith(whole: Whole): void {
    this.#whole = whole
  }

  get elapsedMilliseconds(): number {
    return performance.now() - this.#started
  }

  /** Time until check() throws MaxTimeMSExpired; undefined if there is no limit. */
  get remainingMilliseconds(): number | undefined {
    const own = this.#maxTimeMS > 0 ? this.#maxTimeMS - this.elapsedMilliseconds : undefined
    const ofWhole = this.#whole?.remainingMilliseconds
    if (own === undefined || ofWhole === undefined) return own ?? ofWhole
    return Math.min(own, ofWhole)
  }

  /** True when it is time to yield to the event loop. Reads the clock. */
  get isPauseDue(): boolean {
    return performance.now() - this.#sliceStarted > sliceMilliseconds
  }

  /** Counts a document that was read; true when it is time for checkClock(). */
  countDocument(): boolean {
    return --this.#documentsUntilCheck <= 0
  }

  /**
   * Checks the clock, and decides after how many documents to check it again: one at first and while documents take
   * long, so that a read ends soon after its time limit, and more while they take little time.
   * @returns isPauseDue
   * @throws AbortedError, PetalError MaxTimeMSExpired
   */
  checkClock(): boolean {
    this.check()
    const now = performance.now()
    const took = now - this.#checkedAt
    this.#checkedAt = now
    if (took > sliceMilliseconds) this.#documentsPerCheck = 1
    else if (this.#documentsUntilCheck <= 0 && took < sliceMilliseconds / 4) {
      this.#documentsPerCheck = Math.min(maxDocumentsPerCheck, this.#documentsPerCheck * 2)
    }
    this.#documentsUntilCheck = this.#documentsPerCheck
    return now - this.#sliceStarted > sliceMilliseconds
  }

  async pause(): Promise<void> {
    await nextTurn(sliceMilliseconds)
    this.beginSlice()
  }

  /** Called when the operation goes on after a wait, which is part of its time, but not of its work. */
  beginSlice(): void {
    this.#sliceStarted = performance.now()
    this.#checkedAt = this.#sliceStarted
  }

  /** @throws AbortedError, PetalError MaxTimeMSExpired; why the whole has ended */
  check(): void {
    throwIfAborted(this.signal)
    this.#whole?.assertRunning()
    if (this.#maxTimeMS > 0 && this.elapsedMilliseconds > this.#maxTimeMS) {
      throw new PetalError('MaxTimeMSExpired', `The operation exceeded its time limit of ${this.#maxTimeMS} ms`, {
        details: { maxTimeMS: this.#maxTimeMS }
      })
    }
  }
}
