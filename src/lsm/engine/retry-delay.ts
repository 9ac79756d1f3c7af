/** When to try a failed job again: later and later, in case the disk is full and somebody makes room. */

const firstDelay = 50
const longestDelay = 5000
/** After so many failures in a row nobody who writes should wait any longer: 50 + 100 + 200 + 400 ms. */
const hopelessAfter = 5

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

  get isHopeless(): boolean {
    return this.#failures >= hopelessAfter
  }

  /** @param isAwaited whether somebody's promise hangs on it; otherwise it does not keep the process alive */
  failed(isAwaited: boolean): void {
    const delay = Math.min(longestDelay, firstDelay * 2 ** this.#failures)
    this.#failures++
    clearTimeout(this.#timer)
    this.#timer = setTimeout(() => {
      this.#timer = undefined
      this.#retry()
    }, delay)
    if (!isAwaited) this.#timer.unref()
  }

  /** Somebody waits from now on: who has no hope gets a last try at once. */
  hold(): void {
    this.#timer?.ref()
    if (this.#timer === undefined || !this.isHopeless) return
    this.cancel()
    this.#retry()
  }

  /** It worked. */
  reset(): void {
    this.#failures = 0
  }

  cancel(): void {
    clearTimeout(this.#timer)
    this.#timer = undefined
  }
}
