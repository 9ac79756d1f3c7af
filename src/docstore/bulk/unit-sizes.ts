/**
 * Decides how many lines the units of an import have: as many as a segment has documents or, if the total is known,
 * somewhat fewer, so that no thread builds the last unit while the others are idle.
 *
 * Threads that build lines are never in step, so the last unit of each has the lines with which they finish together;
 * the others leave room for that. Records take the importing thread almost as long to encode as another to build. So
 * their first and last unit are smaller than the others: the threads begin sooner, and the last one is not built for
 * long after the others.
 *
 * Invariant: no unit has more lines than a segment has documents, and none is planned with less than half of that,
 * because small segments slow down queries.
 */
import type { LineKind } from './load-unit.ts'

/**
 * Of a segment's documents: what the last units have on average, so that there is room to make one larger, and what is
 * left for each of them, because the number of lines to come may be estimated.
 */
const lastShare = 0.75
const leastShare = 0.6

export class UnitSizes {
  readonly #kind: LineKind
  readonly #maxLines: number
  readonly #threads: number
  readonly #linesBeingBuilt: () => readonly number[]
  /** Lines to come, from the start of the next unit; undefined if unknown. */
  #left: number | undefined
  /** Units to come, if the number of lines is known. */
  #units: number | undefined
  /** Lines of the first unit, 0 before it was taken. */
  #firstLines = 0

  /**
   * @param maxLines documents of a segment
   * @param threads that build units
   * @param linesBeingBuilt for each unit being built: how many of its lines are left to build
   */
  constructor(kind: LineKind, maxLines: number, threads: number, linesBeingBuilt: () => readonly number[]) {
    this.#kind = kind
    this.#maxLines = maxLines
    this.#threads = threads
    this.#linesBeingBuilt = linesBeingBuilt
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
    return this.#kind === 'line' ? this.#nextLines(left, units) : this.#nextRecords(left, units)
  }

  /** A unit of that many lines was taken. */
  taken(lines: number): void {
    if (this.#firstLines === 0) this.#firstLines = lines
    if (this.#left !== undefined) this.#left -= lines
    if (this.#units !== undefined) this.#units = Math.max(0, this.#units - 1)
  }

  /** Of `left` lines in `units` units, two or more. */
  #nextLines(left: number, units: number): number {
    const threads = this.#threads
    const equal = left / units
    if (threads === 1) return this.#within(equal)
    if (units > threads) {
      const last = threads * Math.min(equal, lastShare * this.#maxLines)
      return this.#within((left - last) / (units - threads))
    }
    // The threads that are free first have one unit each to build, the next one goes to the first of them.
    const ahead = [...new Array<number>(threads).fill(0), ...this.#linesBeingBuilt()].slice(-threads)
    const busy = ahead.sort((a, b) => a - b).slice(0, units)
    const together = busy.reduce((sum, lines) => sum + lines, left) / units
    const others = units - 1
    const least = left - others * this.#maxLines
    const most = Math.max(equal, left - others * leastShare * this.#maxLines)
    return this.#within(Math.max(least, Math.min(most, together - busy[0]!)))
  }

  /** As #nextLines(). */
  #nextRecords(left: number, units: number): number {
    // As many lines are left for the last unit as the first one had.
    if (this.#firstLines > 0) return this.#within((left - this.#firstLines) / (units - 1))
    return this.#within(Math.min(left / units, (left - (units - 2) * this.#maxLines) / 2))
  }

  #within(lines: number): number {
    return Math.min(this.#maxLines, Math.max(this.minLines, Math.ceil(lines)))
  }

  /** Returns the number of units, such that all threads build as many in as few rounds as possible. */
  #planUnits(left: number): number {
    const rounds = Math.ceil(left / (this.#threads * this.#maxLines))
    return Math.max(1, Math.min(rounds * this.#threads, Math.floor(left / this.minLines)))
  }
}
