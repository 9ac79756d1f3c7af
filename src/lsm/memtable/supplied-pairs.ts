/**
 * Pair hashes supplied with puts, by sequence number, which need not be extracted from the values.
 *
 * They live as long as the memtable: replaying a log and merging tables call the extractor.
 */

/** Approximate cost of an entry in addition to its hashes. */
const entryBytes = 120

/** The same as plain data, for sending to threads. */
export interface SuppliedPairsData {
  /** Sequence numbers of the entries. */
  readonly sequences: Float64Array
  /** End offset in `halves` of each entry's hashes. */
  readonly ends: Uint32Array
  readonly halves: Int32Array
}

export class SuppliedPairs {
  readonly #bySequence = new Map<number, Int32Array>()
  #halves = 0

  /** Approximate bytes of memory. */
  get bytes(): number {
    return this.#halves * 4 + this.#bySequence.size * entryBytes
  }

  /** @param hashes two int32 halves for each pair; copied */
  add(sequence: number, hashes: Int32Array): void {
    this.#bySequence.set(sequence, hashes.slice())
    this.#halves += hashes.length
  }

  /** The hash halves of an entry's pairs; undefined if they were not supplied. */
  get(sequence: number): Int32Array | undefined {
    return this.#bySequence.get(sequence)
  }

  /** Undefined if there are none. */
  data(): SuppliedPairsData | undefined {
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

  /** Adds everything in the data. */
  addAll({ sequences, ends, halves }: SuppliedPairsData): void {
    let start = 0
    for (const [i, sequence] of sequences.entries()) {
      const end = ends[i] ?? start
      this.add(sequence, halves.subarray(start, end))
      start = end
    }
  }
}
