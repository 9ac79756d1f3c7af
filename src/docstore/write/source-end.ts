/** Why a source is asked for nothing more before it has ended: its caller's signal has fired, or the database is being closed. */
import { AbortedError, PetalError } from '../../model/errors.ts'
import type { Closing } from '../closing.ts'

/** In the place of an answer. */
export const ended = Symbol('ended')

/**
 * Waits for one promise after the other until there is an end. One listener for all of them, and nothing that each would leave
 * there.
 */
export class SourceEnd {
  readonly #signal: AbortSignal | undefined
  readonly #closing: Closing
  #error: PetalError | undefined
  #settle: () => void = () => {}
  readonly #onEnd = (): void => {
    this.#look()
    this.#settle()
  }

  constructor(signal: AbortSignal | undefined, closing: Closing) {
    this.#signal = signal
    this.#closing = closing
    signal?.addEventListener('abort', this.#onEnd)
    closing.listen(this.#onEnd)
    this.#look()
  }

  /** undefined while there is none. */
  get error(): PetalError | undefined {
    return this.#error
  }

  orEnd<T>(promise: Promise<T>): Promise<T | typeof ended> {
    return new Promise((resolve, reject) => {
      this.#settle = () => resolve(ended)
      promise.then(resolve, reject)
      if (this.#error !== undefined) this.#settle()
    })
  }

  /** Listens no more. */
  release(): void {
    this.#signal?.removeEventListener('abort', this.#onEnd)
    this.#closing.forget(this.#onEnd)
  }

  #look(): void {
    if (this.#signal?.aborted) this.#error ??= new AbortedError(this.#signal.reason)
    else if (this.#closing.hasBegun) {
      const message = 'The database was closed before the source had ended; what it gave until then is inserted'
      this.#error ??= new PetalError('DatabaseNotOpen', message)
    }
  }
}
