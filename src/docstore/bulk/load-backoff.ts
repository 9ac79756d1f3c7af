/**
 * Decides when to try building units: where a segment ends, but not soon after a unit that could not be published.
 *
 * Invariant: after the first failure, one segment is inserted the ordinary way; after each further one, twice as many
 * as before; and one again after a unit was published.
 */

/** Maximum number of segments inserted the ordinary way after a failure. */
const maxBackoff = 16

export class LoadBackoff {
  readonly #segmentDocuments: number
  /** Documents to insert the ordinary way before the next try. */
  #documentsBefore = 0
  #backoff = 0
  #lastBackoff = 0

  constructor(segmentDocuments: number) {
    this.#segmentDocuments = segmentDocuments
  }

  get isDue(): boolean {
    return this.#documentsBefore <= 0
  }

  /** A document was inserted the ordinary way. */
  noteInserted(): void {
    this.#documentsBefore--
  }

  /**
   * Must be called when isDue. False if documents have to be inserted the ordinary way first.
   * @param room free places in the open segment
   */
  tryBegin(room: number): boolean {
    this.#documentsBefore = room + this.#backoff * this.#segmentDocuments
    this.#backoff = 0
    return this.isDue
  }

  noteSuccess(): void {
    this.#lastBackoff = 0
  }

  /** A unit could not be published, or was not filled. */
  noteFailure(): void {
    this.#lastBackoff = Math.min(maxBackoff, Math.max(1, 2 * this.#lastBackoff))
    this.#backoff = this.#lastBackoff
  }
}
