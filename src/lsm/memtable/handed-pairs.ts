/**
 * Hashes of pairs that came along with puts, by sequence number, so that nobody need look for them in the values.
 *
 * They live as long as the memtable: whoever replays a log or merges tables asks the extractor.
 */

/** What an entry costs beside its hashes, about. */
const entryBytes = 120

/** The same as data, which crosses threads. */
export interface HandedPairsData {
  /** Sequence numbers of the entries. */
  readonly sequences: Float64Array
  /** Where in `halves` the hashes of each entry end. */
  readonly ends: Uint32Array
  readonly halves: Int32Array
}

export class HandedPairs {
  readonly #bySequence = new Map<number, Int32Array>()
  #halves = 0

  /** Bytes of memory, about. */
  get bytes(): number {
    return this.#halves * 4 + this.#bySequence.size * entryBytes
  }

  /** @param hashes two int32 halves for each pair; copied */
  add(sequence: number, hashes: Int32Array): void {
    this.#bySequence.set(sequence, hashes.slice())
    this.#halves += hashes.length
  }

  /** The halves of the hashes of an entry's pairs; undefined when they did not come along. */
  of(sequence: number): Int32Array | undefined {
    return this.#bySequence.get(sequence)
  }

  /** Undefined when there are none. */
  data(): HandedPairsData | undefined {
    if (this.#bySequence.size === 0) return undefined
    const sequences = Float64Array.from(this.#bySequence.keys())
    const ends = new Uint32Array(sequences.length)
    const halves = new Int32Array(this.#halves)
    let entry = 0
    let end = 0
    for (const hashes of this.#bySequence.values()) {
      halves.set(hashes, end)
      end += hashes.length
      ends[entry++] = end
    }
    return { sequences, ends, halves }
  }

  /** Adds all that is in the data. */
  take({ sequences, ends, halves }: HandedPairsData): void {
    let start = 0
    for (const [i, sequence] of sequences.entries()) {
      const end = ends[i] ?? start
      this.add(sequence, halves.subarray(start, end))
      start = end
    }
  }
}
