/** What can end or pause a read from outside: an AbortSignal, a time limit, and the event loop's turn. */
import { PetalError, throwIfAborted } from '../../model/errors.ts'
import { nextTurn, sliceMilliseconds } from '../../model/time-slice.ts'
import { type ReadOptions, wholeNumber } from '../options.ts'

export class Control {
  readonly #signal: AbortSignal | undefined
  readonly #maxTimeMS: number
  readonly #started: number
  #sliceStarted: number

  constructor(options: ReadOptions = {}) {
    this.#signal = options.signal
    this.#maxTimeMS = wholeNumber('maxTimeMS', options.maxTimeMS, 0)
    this.#started = performance.now()
    this.#sliceStarted = this.#started
    throwIfAborted(this.#signal)
  }

  get elapsedMilliseconds(): number {
    return performance.now() - this.#started
  }

  /** True when the event loop has waited long enough; costs one look at the clock. */
  get isPauseDue(): boolean {
    return performance.now() - this.#sliceStarted > sliceMilliseconds
  }

  async pause(): Promise<void> {
    await nextTurn()
    this.#sliceStarted = performance.now()
  }

  /** @throws AbortedError, PetalError MaxTimeMSExpired */
  check(): void {
    throwIfAborted(this.#signal)
    if (this.#maxTimeMS > 0 && this.elapsedMilliseconds > this.#maxTimeMS) {
      throw new PetalError('MaxTimeMSExpired', `The operation exceeded its time limit of ${this.#maxTimeMS} ms`, {
        details: { maxTimeMS: this.#maxTimeMS }
      })
    }
  }
}
