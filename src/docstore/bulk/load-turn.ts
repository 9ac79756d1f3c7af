/**
 * When units are tried: where a segment ends, and not soon again after one that could not be taken.
 *
 * Invariant: after the first that could not be taken one segment goes the ordinary way, then twice as many each time, and one again
 * after a unit was published.
 */

/** Whole segments that go the ordinary way after a unit could not be taken, at most. */
const maxRest = 16

export class LoadTurn {
  readonly #segmentDocuments: number
  /** To be inserted the ordinary way before it is of use to ask. */
  #documentsBefore = 0
  #rest = 0
  #lastRest = 0

  constructor(segmentDocuments: number) {
    this.#segmentDocuments = segmentDocuments
  }

  get isDue(): boolean {
    return this.#documentsBefore <= 0
  }

  /** A document has gone the ordinary way. */
  passed(): void {
    this.#documentsBefore--
  }

  /**
   * Called when it is due. False where documents have to pass first.
   * @param room of the segment that is open
   */
  begins(room: number): boolean {
    this.#documentsBefore = room + this.#rest * this.#segmentDocuments
    this.#rest = 0
    return this.isDue
  }

  published(): void {
    this.#lastRest = 0
  }

  /** A unit could not be taken, or was not filled. */
  gaveUp(): void {
    this.#lastRest = Math.min(maxRest, Math.max(1, 2 * this.#lastRest))
    this.#rest = this.#lastRest
  }
}
