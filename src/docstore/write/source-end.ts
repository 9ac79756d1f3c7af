/** Stops reading a source before its end: when the caller's signal fires, or the database closes. */
import { AbortedError, PetalError } from '../../model/errors.ts'
import { callOnAbort } from '../call-on-abort.ts'
import type { CloseSignal } from '../close-signal.ts'

/** What a wait resolves to when reading stops. */
export const ended = Symbol('ended')

/**
 * Waits for promises, one after the other, until reading has to stop. All of them share one listener, so none leaves a
 * listener behind.
 */
export class SourceEnd {
  readonly #signal: AbortSignal | undefined
  readonly #closing: CloseSignal
  #error: PetalError | undefined
  #settle: () => void = () => {}
  readonly #onEnd = (): void => {
    this.#look()
    this.#settle()
  }
  /** Stops listening to the signal. */
  readonly #forget: (() => void) | undefined

  constructor(signal: AbortSignal | undefined, closing: CloseSignal) {
    this.#signal = signal
    this.#closing = closing
    this.#forget = signal && callOnAbort(signal, this.#onEnd)
    closing.listen(this.#onEnd)
    this.#look()
  }

  /** Why reading stopped; undefined until then. */
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

  /** Removes the listeners. */
  release(): void {
    this.#forget?.()
    this.#closing.forget(this.#onEnd)
  }

  #look(): void {
    if (this.#signal?.aborted) this.#error ??= new AbortedError(this.#signal.reason)
    else if (this.#closing.hasBegun) {
      const message = 'The database was closed before the source ended; the documents received until then were inserted'
      this.#error ??= new PetalError('DatabaseNotOpen', message)
    }
  }
}
