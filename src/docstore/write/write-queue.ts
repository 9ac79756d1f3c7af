/**
 * Runs the writes of one collection one after the other, in the order in which they were called.
 *
 * Invariants:
 * 1. A task starts when the one before it has ended, whether well or badly.
 * 2. A task that fails fails its own caller only.
 */
export class WriteQueue {
  #last: Promise<unknown> = Promise.resolve()
  #length = 0

  /** Tasks that wait or run. */
  get length(): number {
    return this.#length
  }

  run<T>(task: () => T | Promise<T>): Promise<T> {
    this.#length++
    const result = this.#last.then(task).finally(() => {
      this.#length--
    })
    this.#last = result.catch(ignore)
    return result
  }

  /** Resolves when everything queued so far has ended. */
  async idle(): Promise<void> {
    await this.#last
  }
}

/** The caller of the task has the error. */
function ignore(): void {}
