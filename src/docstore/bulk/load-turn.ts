/**
 * Decides when to try building units: where a segment ends, but not soon after a unit that could not be published.
 *
 * Invariant: after the first failure, one segment is inserted the ordinary way; after each further one, twice as many
 * as before; and one again after a unit was published.
 */

/** Maximum number of segments inserted the ordinary way after a failure. */
const maxRest = 16

export class LoadTurn {
  readonly #segmentDocuments: number
  /** Documents to insert the ordinary way before the next try. */
  #documentsBefore = 0
  #rest = 0
  #lastRest = 0

  constructor(segmentDocuments: number) {
    this.#segmentDocuments = segmentDocuments
  }

  get isDue(): boolean {
    return this.#documentsBefore <= 0
  }

  /** A document was inserted the ordinary way. */
  passed(): void {
    this.#documentsBefore--
  }

  /**
   * Must be called when isDue. False if documents have to be inserted the ordinary way first.
   * @param room free places in the open segment
   */
  begins(room: number): boolean {
    this.#documentsBefore = room + this.#rest * this.#segmentDocuments
    this.#rest = 0
    return this.isDue
  }

  published(): void {
    this.#lastRest = 0
  }

  /** A unit could not be published, or was not filled. */
  gaveUp(): void {
    this.#lastRest = Math.min(maxRest, Math.max(1, 2 * this.#lastRest))
    this.#rest = this.#lastRest
  }
}
