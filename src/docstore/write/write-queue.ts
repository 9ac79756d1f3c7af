/**
 * Runs the writes of a collection one after the other, in call order.
 *
 * Invariants:
 * 1. A task starts when the previous one has settled, whether fulfilled or rejected.
 * 2. A failing task fails only for its own caller.
 */
export class WriteQueue {
  #last: Promise<unknown> = Promise.resolve()
  #length = 0

  /** Number of tasks that are waiting or running. */
  get length(): number {
    return this.#length
  }

  run<T>(task: () => T | Promise<T>): Promise<T> {
    this.#length++
    const result = this.#last.then(task).finally(() => {
      this.#length--
    })
    // The task's caller gets its error. Not its result, which an idle collection would keep: ids, for example.
    this.#last = result.then(
      () => {},
      () => {}
    )
    return result
  }

  /** Resolves when everything queued so far has ended. */
  async idle(): Promise<void> {
    await this.#last
  }
}
