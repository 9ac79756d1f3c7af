/**
 * Decides how many lines the units of an import have: as many as a segment has documents or, if the total is known,
 * somewhat fewer, so that no thread builds the last unit while the others are idle.
 *
 * Invariant: no unit has more lines than a segment has documents, and none is planned with less than half of that,
 * because small segments slow down queries.
 */
export class UnitSizes {
  readonly #maxLines: number
  readonly #threads: number
  /** Lines to come, from the start of the next unit; undefined if unknown. */
  #left: number | undefined
  /** Units to come, if the number of lines is known. */
  #units: number | undefined

  /** @param maxLines documents of a segment @param threads that build units */
  constructor(maxLines: number, threads: number) {
    this.#maxLines = maxLines
    this.#threads = threads
  }

  /** Fewer lines are not worth a segment. */
  get minLines(): number {
    return this.#maxLines / 2
  }

  /** An import starts. @param left lines to come, if known */
  begin(left: number | undefined): void {
    this.#left = left
    this.#units = undefined
  }

  /** Corrects the number of lines to come from the start of the next unit. */
  expect(left: number): void {
    this.#left = left
  }

  /** Number of lines of the next unit. */
  get nextLines(): number {
    if (this.#left === undefined) return this.#maxLines
    this.#units ??= this.#planUnits(this.#left)
    // The last unit also takes unexpected lines.
    if (this.#units <= 1) return this.#maxLines
    return Math.min(this.#maxLines, Math.max(this.minLines, Math.ceil(this.#left / this.#units)))
  }

  /** A unit of that many lines was taken. */
  taken(lines: number): void {
    if (this.#left !== undefined) this.#left -= lines
    if (this.#units !== undefined) this.#units = Math.max(0, this.#units - 1)
  }

  /** Returns the number of units, such that all threads build units of the same size in as few rounds as possible. */
  #planUnits(left: number): number {
    const rounds = Math.ceil(left / (this.#threads * this.#maxLines))
    return Math.max(1, Math.min(rounds * this.#threads, Math.floor(left / this.minLines)))
  }
}
