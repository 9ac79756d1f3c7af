/**
 * Calls a caller's progress function. If the function throws, the caller gets that error unchanged, whatever its code,
 * and whatever the layers in between make of it.
 */
export class ProgressReporter<P> {
  /** undefined if the caller passed no function. */
  readonly report: ((progress: P) => void) | undefined
  #failure: { readonly error: unknown } | undefined

  constructor(onProgress: ((progress: P) => void) | undefined) {
    if (onProgress === undefined) return
    this.report = (progress) => {
      try {
        onProgress(progress)
      } catch (error) {
        this.#failure = { error }
        throw error
      }
    }
  }

  /** Returns why the job failed: the progress function's error if it threw, otherwise the result of `otherwise`. */
  failure(otherwise: () => unknown): unknown {
    return this.#failure === undefined ? otherwise() : this.#failure.error
  }
}
