/**
 * Decides how many lines the units of an import have: as many as a segment has documents or, if the total is known,
 * somewhat fewer, so that no thread builds the last unit while the others are idle.
 *
 * Records take the importing thread almost as long to encode as another to build. So their first and last unit are
 * smaller than the others: the threads begin sooner, and the last one is not built for long after the others.
 *
 * Invariant: no unit has more lines than a segment has documents, and none is planned with less than half of that,
 * because small segments slow down queries.
 */
import type { LineKind } from './load-unit.ts'

export class UnitSizes {
  readonly #kind: LineKind
  readonly #maxLines: number
  readonly #threads: number
  /** Lines to come, from the start of the next unit; undefined if unknown. */
  #left: number | undefined
  /** Units to come, if the number of lines is known. */
  #units: number | undefined
  /** Lines of the first unit, 0 before it was taken. */
  #firstLines = 0

  /** @param maxLines documents of a segment @param threads that build units */
  constructor(kind: LineKind, maxLines: number, threads: number) {
    this.#kind = kind
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
    this.#firstLines = 0
  }

  /** Corrects the number of lines to come from the start of the next unit. */
  expect(left: number): void {
    this.#left = left
  }

  /** Number of lines of the next unit. */
  get nextLines(): number {
    const left = this.#left
    if (left === undefined) return this.#maxLines
    this.#units ??= this.#planUnits(left)
    const units = this.#units
    // The last unit also takes unexpected lines.
    if (units <= 1) return this.#maxLines
    const equal = this.#within(left / units)
    if (this.#kind === 'line') return equal
    // As many lines are left for the last unit as the first one had.
    if (this.#firstLines > 0) return this.#within((left - this.#firstLines) / (units - 1))
    return Math.min(equal, this.#within((left - (units - 2) * this.#maxLines) / 2))
  }

  /** A unit of that many lines was taken. */
  taken(lines: number): void {
    if (this.#firstLines === 0) this.#firstLines = lines
    if (this.#left !== undefined) this.#left -= lines
    if (this.#units !== undefined) this.#units = Math.max(0, this.#units - 1)
  }

  #within(lines: number): number {
    return Math.min(this.#maxLines, Math.max(this.minLines, Math.ceil(lines)))
  }

  /** Returns the number of units, such that all threads build units of the same size in as few rounds as possible. */
  #planUnits(left: number): number {
    const rounds = Math.ceil(left / (this.#threads * this.#maxLines))
    return Math.max(1, Math.min(rounds * this.#threads, Math.floor(left / this.minLines)))
  }
}
