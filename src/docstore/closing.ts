/**
 * The moment at which a database begins to close, for what waits for something that may never come. Not an AbortSignal: Node
 * warns where more than ten listen to one.
 */
export class Closing {
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
