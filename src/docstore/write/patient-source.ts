/** What many documents come from, and what is done while nothing comes. */

/** Documents wait no longer for others than this, however many would be inserted together. */
const patienceMilliseconds = 500

/** Somebody who may have something to do while nothing comes. */
interface Waiting {
  /** False when what is late makes no difference. */
  readonly isWaiting: boolean
  pause(): Promise<void>
}

/** What a source gives. When something is late, whoever waits for it is told, once. */
export async function* patiently<T>(source: AsyncIterable<T> | Iterable<T>, waiting: Waiting): AsyncGenerator<T> {
  if (!(Symbol.asyncIterator in source)) {
    yield* source
    return
  }
  const iterator = source[Symbol.asyncIterator]()
  const patience = new Patience()
  let isOver = false
  try {
    for (;;) {
      // An iterator that was written by hand may give what is no promise.
      const next = Promise.resolve(iterator.next())
      // One that fails is not closed.
      isOver = true
      if (waiting.isWaiting && !(await patience.isInTime(next))) {
        await waiting.pause().catch((error: unknown) => leave(iterator, error))
      }
      const { done, value } = await next
      if (done === true) return
      isOver = false
      yield value
    }
  } finally {
    patience.end()
    if (!isOver) await iterator.return?.()
  }
}

/** Closes a source that has been asked for more: it would answer after that has come, if ever. */
function leave(iterator: AsyncIterator<unknown>, error: unknown): never {
  Promise.resolve(iterator.return?.()).catch(() => {})
  throw error
}

/** Waits for one promise after the other, each for some time. */
class Patience {
  /** One for all of them: a timer for each would take as long as a line. */
  #timer: NodeJS.Timeout | undefined
  #settle: (isInTime: boolean) => void = () => {}

  /** False when the promise has not settled in time. */
  isInTime(promise: Promise<unknown>): Promise<boolean> {
    if (this.#timer === undefined) this.#timer = setTimeout(() => this.#settle(false), patienceMilliseconds)
    else this.#timer.refresh()
    return new Promise((resolve, reject) => {
      this.#settle = resolve
      promise.then(() => resolve(true), reject)
    })
  }

  end(): void {
    clearTimeout(this.#timer)
  }
}
