/** Reads from a slow source of documents, with a hook for doing other work while it is idle. */
import { ended, type SourceEnd } from './source-end.ts'

/** How long documents wait to be inserted together with later ones. */
const idleMilliseconds = 500

/** The consumer, which may have work to do while the source is idle. */
interface Consumer {
  /** False if a delay of the source makes no difference. */
  readonly hasPending: boolean
  pause(): Promise<void>
}

/**
 * Yields the items of the source. When an item is late, calls `pause()` once.
 * @param end stops the iteration even if the source never answers; the source is then closed without waiting for it
 */
export async function* withIdlePause<T>(
  source: AsyncIterable<T> | Iterable<T>,
  consumer: Consumer,
  end: SourceEnd
): AsyncGenerator<T> {
  if (!(Symbol.asyncIterator in source)) {
    yield* source
    return
  }
  const iterator = source[Symbol.asyncIterator]()
  const idleTimer = new IdleTimer()
  let isOver = false
  try {
    for (;;) {
      // A source that fails is not closed.
      isOver = true
      // A hand-written iterator may not return a promise.
      const next = end.error === undefined ? end.orEnd(Promise.resolve(iterator.next())) : ended
      if (next !== ended && consumer.hasPending && !(await idleTimer.isInTime(next))) {
        await consumer.pause().catch((error: unknown) => {
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
    idleTimer.end()
    if (!isOver) await iterator.return?.()
  }
}

/** Closes a source with a pending next(), without waiting: it would only answer after that next() has, if ever. */
function leave(iterator: AsyncIterator<unknown>): void {
  const closing = async (): Promise<unknown> => iterator.return?.()
  closing().catch(() => {})
}

/** Waits for one promise after the other, each for some time. */
class IdleTimer {
  /** Shared by all of them: creating a timer takes as long as parsing a line. */
  #timer: NodeJS.Timeout | undefined
  #settle: (isInTime: boolean) => void = () => {}

  /** Resolves to false if the promise does not settle in time. */
  isInTime(promise: Promise<unknown>): Promise<boolean> {
    if (this.#timer === undefined) this.#timer = setTimeout(() => this.#settle(false), idleMilliseconds)
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
