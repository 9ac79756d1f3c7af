/** Remembers when some of the recently requested documents were last requested. */

/** log2 of the number of documents remembered. */
const markBits = 16
/** Associativity: number of slots where a document's mark may be. */
const marksPerSet = 4

/**
 * A set-associative table of marks.
 *
 * A new mark replaces the older of two randomly chosen ones. If it always replaced the oldest, a loop over five
 * documents of one set of four would never find any of them marked.
 */
export class AccessHistory {
  #marks: Uint32Array | undefined
  #times: Float64Array | undefined
  #chance = 1

  /**
   * @param document any number that identifies it
   * @returns time of the previous request, if known
   */
  note(document: number, now: number): number | undefined {
    this.#marks ??= new Uint32Array(1 << markBits)
    this.#times ??= new Float64Array(1 << markBits)
    const marks = this.#marks
    const times = this.#times
    // Numbers that differ by 2 ** 32 collide: a document is then cached a little too early.
    const mark = (document + 1) >>> 0 || 1
    const first = (Math.imul(mark, 0x9e3779b1) >>> (32 - markBits)) & -marksPerSet
    for (let slot = first; slot < first + marksPerSet; slot++) {
      if (marks[slot] === mark) {
        const before = times[slot]
        times[slot] = now
        return before
      }
      // Marks are never removed, so there is none after an empty slot.
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
