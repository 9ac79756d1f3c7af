/** Exponential backoff for failed jobs, in case the disk is full and somebody frees space. */

const firstDelay = 50
const longestDelay = 5000
/** After this many consecutive failures writers should not wait any longer: 50 + 100 + 200 + 400 ms. */
const exhaustedAfter = 5

export class RetryDelay {
  readonly #retry: () => void
  #failures = 0
  #timer: NodeJS.Timeout | undefined

  constructor(retry: () => void) {
    this.#retry = retry
  }

  get isWaiting(): boolean {
    return this.#timer !== undefined
  }

  get isExhausted(): boolean {
    return this.#failures >= exhaustedAfter
  }

  /** @param isAwaited whether a caller waits for the job; otherwise the timer does not keep the process alive */
  scheduleRetry(isAwaited: boolean): void {
    const delay = Math.min(longestDelay, firstDelay * 2 ** this.#failures)
    this.#failures++
    clearTimeout(this.#timer)
    this.#timer = setTimeout(() => {
      this.#timer = undefined
      this.#retry()
    }, delay)
    if (!isAwaited) this.#timer.unref()
  }

  /** Somebody is waiting now: a hopeless job gets a last try at once. */
  expedite(): void {
    this.#timer?.ref()
    if (this.#timer === undefined || !this.isExhausted) return
    this.cancel()
    this.#retry()
  }

  /** The job succeeded. */
  reset(): void {
    this.#failures = 0
  }

  cancel(): void {
    clearTimeout(this.#timer)
    this.#timer = undefined
  }
}
