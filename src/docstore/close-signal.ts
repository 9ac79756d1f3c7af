/**
 * Tells waiting operations that the database has begun to close, so that none waits for something that may never come.
 * Not an AbortSignal, because Node warns when one has more than ten listeners.
 */
export class CloseSignal {
  readonly #listeners = new Set<() => void>()
  #hasBegun = false

  get hasBegun(): boolean {
    return this.#hasBegun
  }

  begin(): void {
    this.#hasBegun = true
    for (const listener of [...this.#listeners]) listener()
  }

  listen(listener: () => void): void {
    this.#listeners.add(listener)
  }

  forget(listener: () => void): void {
    this.#listeners.delete(listener)
  }
}
