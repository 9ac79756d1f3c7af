/** What many documents come from, and what is done while nothing comes. */

/** Documents wait no longer for others than this, however many would be inserted together. */
const patienceMilliseconds = 500

/** Somebody who may have something to do while nothing comes. */
interface Waiting {
  /** False when what is late makes no difference. */
  readonly isWaiting: boolean
  pause(): Promise<void>
}

/**
 * What a source gives. When something is late, whoever waits for it is told, once.
 * @param signal ends it, also where the source never answers again: it is closed then without being waited for
 */
export async function* patiently<T>(
  source: AsyncIterable<T> | Iterable<T>,
  waiting: Waiting,
  signal?: AbortSignal
): AsyncGenerator<T> {
  if (!(Symbol.asyncIterator in source)) {
    yield* source
    return
  }
  const iterator = source[Symbol.asyncIterator]()
  const patience = new Patience()
  const ending = signal && new Ending(signal)
  let isOver = false
  try {
    for (;;) {
      if (signal?.aborted) return
      // An iterator that was written by hand may give what is no promise.
      const answer = Promise.resolve(iterator.next())
      const next = ending?.orEnd(answer) ?? answer
      // One that fails is not closed.
      isOver = true
      if (waiting.isWaiting && !(await patience.isInTime(next))) {
        await waiting.pause().catch((error: unknown) => {
          leave(iterator)
          throw error
        })
      }
      const given = await next
      if (given === ended) return leave(iterator)
      const { done, value } = given
      if (done === true) return
      isOver = false
      yield value
    }
  } finally {
    patience.end()
    ending?.end()
    if (!isOver) await iterator.return?.()
  }
}

/** Closes a source that has been asked for more: it would answer after that has come, if ever. */
function leave(iterator: AsyncIterator<unknown>): void {
  const closing = async (): Promise<unknown> => iterator.return?.()
  closing().catch(() => {})
}

/** In the place of an answer. */
const ended = Symbol('ended')

/** Waits for one promise after the other until a signal fires. One listener for all of them, and nothing that each would leave there. */
class Ending {
  readonly #signal: AbortSignal
  #settle: () => void = () => {}
  readonly #onAbort = (): void => this.#settle()

  constructor(signal: AbortSignal) {
    this.#signal = signal
    signal.addEventListener('abort', this.#onAbort)
  }

  orEnd<T>(promise: Promise<T>): Promise<T | typeof ended> {
    return new Promise((resolve, reject) => {
      this.#settle = () => resolve(ended)
      promise.then(resolve, reject)
      if (this.#signal.aborted) this.#settle()
    })
  }

  end(): void {
    this.#signal.removeEventListener('abort', this.#onAbort)
  }
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
