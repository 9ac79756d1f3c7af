/** Measures work without the time of those who take its results, or that it waits. */
import type { Steps } from '../steps.ts'

export class Stopwatch {
  #milliseconds = 0

  get milliseconds(): number {
    return this.#milliseconds
  }

  /** Does the work. */
  *time<T>(work: Steps<T>): Steps<T> {
    try {
      for (let step = this.#advance(work, undefined); step.done !== true; ) {
        step = this.#advance(work, yield step.value)
      }
    } finally {
      work.return()
    }
  }

  #advance<T>(work: Steps<T>, value: unknown): IteratorResult<T | Promise<unknown>, void> {
    const begin = performance.now()
    const step = work.next(value)
    this.#milliseconds += performance.now() - begin
    return step
  }
}
