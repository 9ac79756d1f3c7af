/**
 * Tells a caller's function how far a job is. What the function throws is the caller's own: whatever the layers below make of
 * it, and whatever code it has, the caller gets it unchanged.
 */
export class ToldProgress<P> {
  /** undefined where nobody wants to know. */
  readonly tell: ((progress: P) => void) | undefined
  #failure: { readonly error: unknown } | undefined

  constructor(onProgress: ((progress: P) => void) | undefined) {
    if (onProgress === undefined) return
    this.tell = (progress) => {
      try {
        onProgress(progress)
      } catch (error) {
        this.#failure = { error }
        throw error
      }
    }
  }

  /** Why the job has failed: what the function threw, if it did, or else what `otherwise` gives. */
  failure(otherwise: () => unknown): unknown {
    return this.#failure === undefined ? otherwise() : this.#failure.error
  }
}
