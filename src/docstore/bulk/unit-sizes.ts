/**
 * How many lines the units of an import have: as many as a segment has documents or, where it is known how many are to come,
 * somewhat fewer, so that no thread builds the last unit while others have nothing to do.
 *
 * Invariant: no unit has more lines than a segment has documents, and none is planned that has less than half as many: of smaller
 * segments queries would have too many to ask.
 */
export class UnitSizes {
  readonly #most: number
  readonly #threads: number
  /** Lines to come, from the first of the next unit on; undefined where nobody knows. */
  #left: number | undefined
  /** Units to come, where it is known how many lines are. */
  #units: number | undefined

  /** @param most documents of a segment @param threads that build units */
  constructor(most: number, threads: number) {
    this.#most = most
    this.#threads = threads
  }

  /** Fewer lines are not worth a segment of their own. */
  get fewest(): number {
    return this.#most / 2
  }

  /** An import begins. @param left lines to come, as far as anybody knows */
  begin(left: number | undefined): void {
    this.#left = left
    this.#units = undefined
  }

  /** More, or fewer, lines are to come than was thought, from the first of the next unit on. */
  expect(left: number): void {
    this.#left = left
  }

  /** Lines of the next unit. */
  get next(): number {
    if (this.#left === undefined) return this.#most
    this.#units ??= this.#planned(this.#left)
    // The last one takes what was not expected, too.
    if (this.#units <= 1) return this.#most
    return Math.min(this.#most, Math.max(this.fewest, Math.ceil(this.#left / this.#units)))
  }

  /** A unit has got so many lines. */
  taken(lines: number): void {
    if (this.#left !== undefined) this.#left -= lines
    if (this.#units !== undefined) this.#units = Math.max(0, this.#units - 1)
  }

  /** All threads build units of the same size as often as they must. */
  #planned(left: number): number {
    const rounds = Math.ceil(left / (this.#threads * this.#most))
    return Math.max(1, Math.min(rounds * this.#threads, Math.floor(left / this.fewest)))
  }
}
