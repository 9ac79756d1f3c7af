/**
 * A sample of a segment's documents and the frequency of each value pair in it, from which the next segment's
 * parameters are chosen.
 *
 * Every `stride`-th document is sampled. When the sample is full, every second document is dropped and the stride
 * doubles, so that the sample is spread evenly over the segment whatever its length.
 *
 * Invariant: the sample depends only on the documents' pairs and their order, not on whether they came as objects or as
 * bytes.
 */
import type { FlatDocument } from '../pairs/flatten.ts'
import type { ColumnSample, ColumnValues } from '../ranges/choose-columns.ts'
import type { HashedPair } from '../segment/private-table.ts'
import { FlatPairs, type PairList } from './pair-list.ts'
import { type SampledPair, SampledPairs } from './sampled-pairs.ts'

/** Maximum pairs sampled per document. */
const maxPairsPerDocument = 1024
/** Number of distinct pairs, some 60 bytes each, beyond which the sample is thinned while it has documents to spare. */
const maxPairs = 1 << 18
const minDocuments = 512
const documentsPerStep = 512
const noMembers = new Int32Array(0)
const fewestMembers = 64
/** Member array of a closed sampler, for the next one that has documents; the largest. */
let idleMembers: Int32Array = noMembers
const maxIdleMembers = 1 << 19

export class Sampler implements ColumnSample {
  readonly #maxDocuments: number
  readonly #pairs = new SampledPairs()
  readonly #flatPairs = new FlatPairs()
  /** The numbers of the sampled documents' pairs, document after document. */
  members: Int32Array = noMembers
  /** End of each document's numbers. */
  #ends: number[] = []
  /** Number of each document's pairs that are not counted: too long, or too many. */
  #uncounted: number[] = []
  #stride: number
  #seen = 0

  /** @param stride initial stride; 1 for a choice after few documents */
  constructor(stride = 1, maxDocuments = 4096) {
    this.#stride = stride
    this.#maxDocuments = maxDocuments
  }

  get size(): number {
    return this.#ends.length
  }

  /** True when the next document observed will be in the sample. */
  get isNextSampled(): boolean {
    return this.#seen % this.#stride === 0
  }

  /** Counts a document without sampling it. */
  skip(): void {
    this.#seen++
  }

  /** Passes its memory on to the next sampler. REQUIRES: it is not used any more. */
  close(): void {
    this.#pairs.close()
    const { length } = this.members
    if (length > idleMembers.length && length <= maxIdleMembers) idleMembers = this.members
    this.members = noMembers
  }

  observe(flat: FlatDocument): void {
    if (!this.#begin(flat.count)) return
    this.#flatPairs.read(flat)
    const start = this.startOf(this.size)
    this.#end(this.#pairs.observeHere(this.#flatPairs, this.#seen, this.members, start, maxPairsPerDocument))
  }

  observePairs(list: PairList): void {
    if (!this.#begin(list.count)) return
    const start = this.startOf(this.size)
    this.#end(this.#pairs.observe(list, this.#seen, this.members, start, maxPairsPerDocument))
  }

  /** Returns false for a document that is not sampled. */
  #begin(count: number): boolean {
    if (this.#seen++ % this.#stride !== 0) return false
    const hasTooManyPairs = this.#pairs.size > maxPairs && this.size >= minDocuments
    if (this.size >= this.#maxDocuments || hasTooManyPairs) this.#thin()
    this.#reserve(this.startOf(this.size) + Math.min(count, maxPairsPerDocument))
    return true
  }

  #end(end: number): void {
    this.#ends.push(end)
    this.#uncounted.push(this.#pairs.uncounted)
  }

  /** Pairs in at least `minCount` documents of the sample, the most frequent first. */
  frequent(minCount: number): SampledPair[] {
    return this.#pairs.frequent(minCount)
  }

  /** As frequent(), in steps. */
  frequentSteps(minCount: number): Generator<void, SampledPair[]> {
    return this.#pairs.frequentSteps(minCount)
  }

  get values(): ColumnValues {
    return this.#pairs.values
  }

  /** Index in `members` of the document's first number. */
  startOf(document: number): number {
    return document === 0 ? 0 : this.#ends[document - 1]!
  }

  /** The pairs of each sampled document, in ordinal order. */
  documents(): readonly (readonly HashedPair[])[] {
    const documents: HashedPair[][] = []
    for (let i = 0; i < this.size; i++) {
      const numbers = this.members.subarray(this.startOf(i), this.#ends[i])
      documents.push(Array.from(numbers, (number) => this.#pairs.at(number)))
    }
    return documents
  }

  /** For each sampled document, how many of its value pairs are not in `privatePairs`; in steps. */
  *hashedPairsSteps(privatePairs: Iterable<HashedPair>): Generator<void, Uint32Array> {
    const isPrivate = this.#pairs.marked(privatePairs)
    const counts = Uint32Array.from(this.#uncounted)
    for (let document = 0; document < counts.length; document += documentsPerStep) {
      this.#countHashed(isPrivate, counts, document, Math.min(counts.length, document + documentsPerStep))
      yield
    }
    return counts
  }

  #countHashed(isPrivate: Uint8Array, counts: Uint32Array, from: number, to: number): void {
    for (let document = from, at = this.startOf(from); document < to; document++) {
      let count = 0
      for (const end = this.#ends[document]!; at < end; at++) count += 1 - isPrivate[this.members[at]!]!
      counts[document]! += count
    }
  }

  #reserve(length: number): void {
    if (length <= this.members.length) return
    const isIdleLarger = length <= idleMembers.length
    const larger = isIdleLarger ? idleMembers : new Int32Array(Math.max(length, this.members.length * 2, fewestMembers))
    if (isIdleLarger) idleMembers = noMembers
    larger.set(this.members)
    this.members = larger
  }

  #thin(): void {
    const members = this.members
    const ends: number[] = []
    let kept = 0
    for (let i = 0; i < this.size; i++) {
      const from = this.startOf(i)
      const to = this.#ends[i]!
      if (i % 2 === 0) {
        members.copyWithin(kept, from, to)
        kept += to - from
        ends.push(kept)
      } else for (let at = from; at < to; at++) this.#pairs.uncount(members[at]!)
    }
    const renumbered = this.#pairs.dropUncounted()
    for (let at = 0; at < kept; at++) members[at] = renumbered[members[at]!]!
    this.#ends = ends
    this.#uncounted = this.#uncounted.filter((_, i) => i % 2 === 0)
    this.#stride *= 2
  }
}
