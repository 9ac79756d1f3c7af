/** When documents were asked for last, of some of those that were asked for lately. */

/** Documents of which is known when they were asked for last: 2 ** markBits. */
const markBits = 16
/** One document's mark may stand in any of so many places. */
const marksPerSet = 4

/**
 * Sets of a few marks each.
 *
 * A later mark takes the place of the earlier of two, by chance. If it took that of the earliest, whoever goes round over
 * five documents of one set of four would find none of them marked, ever.
 */
export class LastAsked {
  #marks: Uint32Array | undefined
  #times: Float64Array | undefined
  #chance = 1

  /**
   * @param document any number that tells it from others
   * @returns when it was asked for before, if that is known
   */
  note(document: number, now: number): number | undefined {
    this.#marks ??= new Uint32Array(1 << markBits)
    this.#times ??= new Float64Array(1 << markBits)
    const marks = this.#marks
    const times = this.#times
    // Two numbers 2 ** 32 apart are taken for one: a document is then kept a little too early.
    const mark = (document + 1) >>> 0 || 1
    const first = (Math.imul(mark, 0x9e3779b1) >>> (32 - markBits)) & -marksPerSet
    for (let slot = first; slot < first + marksPerSet; slot++) {
      if (marks[slot] === mark) {
        const before = times[slot]
        times[slot] = now
        return before
      }
      // No mark is ever taken away: behind an empty place there is none.
      if (marks[slot] === 0) return this.#mark(slot, mark, now)
    }
    this.#chance = Math.imul(this.#chance, 0x915f77f5) + 0x3c6ef35f
    const one = first + (this.#chance >>> 30)
    const other = first + ((this.#chance >>> 28) & (marksPerSet - 1))
    return this.#mark(times[one]! < times[other]! ? one : other, mark, now)
  }

  #mark(slot: number, mark: number, now: number): undefined {
    this.#marks![slot] = mark
    this.#times![slot] = now
  }
}
