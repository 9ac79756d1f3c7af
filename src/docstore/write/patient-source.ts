/** What many documents come from, and what is done while nothing comes. */
import { ended, type SourceEnd } from './source-end.ts'

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
 * @param end of an asynchronous source, also where it never answers again: it is closed then without being waited for
 * @throws the error of the end
 */
export async function* patiently<T>(
  source: AsyncIterable<T> | Iterable<T>,
  waiting: Waiting,
  end: SourceEnd
): AsyncGenerator<T> {
  if (!(Symbol.asyncIterator in source)) {
    yield* source
    return
  }
  const iterator = source[Symbol.asyncIterator]()
  const patience = new Patience()
  let isOver = false
  try {
    for (;;) {
      // One that fails is not closed.
      isOver = true
      // An iterator that was written by hand may give what is no promise.
      const next = end.error === undefined ? end.orEnd(Promise.resolve(iterator.next())) : ended
      if (next !== ended && waiting.isWaiting && !(await patience.isInTime(next))) {
        await waiting.pause().catch((error: unknown) => {
          leave(iterator)
          throw error
        })
      }
      const given = await next
      if (given === ended) {
        leave(iterator)
        throw end.error
      }
      const { done, value } = given
      if (done === true) return
      isOver = false
      yield value
    }
  } finally {
    patience.end()
    if (!isOver) await iterator.return?.()
  }
}

/** Closes a source that may have been asked for more: it would answer after that has come, if ever. */
function leave(iterator: AsyncIterator<unknown>): void {
  const closing = async (): Promise<unknown> => iterator.return?.()
  closing().catch(() => {})
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
