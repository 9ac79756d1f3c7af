/**
 * A sample of a segment's documents and how often each value pair occurs in it: what the next segment's parameters are
 * chosen from.
 *
 * Every `stride`-th document is in the sample. When it is full, every second one leaves and the stride doubles, so the
 * sample is spread evenly over the segment whatever its length.
 *
 * Invariant: the sample depends on the documents' pairs and their order alone, not on whether they came as objects or
 * as bytes.
 */
import { runSteps } from '../../model/time-slice.ts'
import type { FlatDocument } from '../pairs/flatten.ts'
import type { HashedPair } from '../segment/private-table.ts'
import { type PairList, type SampledPair, SampledPairs } from './sampled-pairs.ts'

/** Longer texts are not worth a private row: the row's record would keep a copy of the text. */
const maxTextLength = 256
/** Of one document; the rest is not sampled. */
const maxPairsPerDocument = 1024
/** Distinct pairs, some 100 bytes each, past which the sample is thinned while it has documents to spare. */
const maxPairs = 1 << 18
const minDocuments = 512
const documentsPerStep = 512

export class Sampler {
  readonly #maxDocuments: number
  readonly #pairs = new SampledPairs()
  readonly #flatPairs = new FlatPairs()
  /** Of the sampled documents one after the other: the numbers of their pairs. */
  #members = new Int32Array(1024)
  /** Where each document's numbers end. */
  #ends: number[] = []
  /** Pairs of each document that are not counted: too long, or too many. */
  #uncounted: number[] = []
  #stride: number
  #seen = 0

  /** @param stride to begin with; 1 where a decision has to be taken after few documents */
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

  /** Counts a document that is not to be sampled. */
  skip(): void {
    this.#seen++
  }

  observe(flat: FlatDocument): void {
    this.#flatPairs.flat = flat
    this.observePairs(this.#flatPairs)
  }

  observePairs(list: PairList): void {
    if (this.#seen++ % this.#stride !== 0) return
    const hasTooManyPairs = this.#pairs.size > maxPairs && this.size >= minDocuments
    if (this.size >= this.#maxDocuments || hasTooManyPairs) this.#thin()
    const start = this.#ends.at(-1) ?? 0
    let end = start
    let uncounted = 0
    this.#reserve(start + Math.min(list.count, maxPairsPerDocument))
    for (let i = 0; i < list.count; i++) {
      if (end - start === maxPairsPerDocument || list.textLength(i) > maxTextLength) {
        uncounted++
        continue
      }
      const number = this.#pairs.numberOf(list, i)
      if (this.#pairs.count(number, this.#seen)) this.#members[end++] = number
    }
    this.#ends.push(end)
    this.#uncounted.push(uncounted)
  }

  /** Pairs in at least `minCount` documents of the sample, the most frequent first. */
  frequent(minCount: number): SampledPair[] {
    return this.#pairs.frequent(minCount)
  }

  /** As frequent(), in steps. */
  frequentSteps(minCount: number): Generator<void, SampledPair[]> {
    return this.#pairs.frequentSteps(minCount)
  }

  /** The pairs of every `stride`-th sampled document, in the order of ordinals. */
  documents(stride = 1): readonly (readonly HashedPair[])[] {
    return [...this.eachDocument(stride)]
  }

  /** As documents(), one after the other. */
  *eachDocument(stride: number): Generator<readonly HashedPair[]> {
    for (let i = 0; i < this.size; i += stride) {
      const pairs: HashedPair[] = []
      for (let at = this.#startOf(i); at < this.#ends[i]!; at++) pairs.push(this.#pairs.at(this.#members[at]!))
      yield pairs
    }
  }

  /** For each sampled document, how many of its value pairs are not in `privatePairs`. */
  hashedPairsPerDocument(privatePairs: Iterable<HashedPair>): Uint32Array {
    return runSteps(this.hashedPairsSteps(privatePairs))
  }

  /** As hashedPairsPerDocument(), in steps. */
  *hashedPairsSteps(privatePairs: Iterable<HashedPair>): Generator<void, Uint32Array> {
    const isPrivate = this.#pairs.marked(privatePairs)
    const counts = Uint32Array.from(this.#uncounted)
    for (let i = 0, at = 0; i < counts.length; i++) {
      let count = 0
      for (const end = this.#ends[i]!; at < end; at++) count += 1 - isPrivate[this.#members[at]!]!
      counts[i]! += count
      if (i % documentsPerStep === documentsPerStep - 1) yield
    }
    return counts
  }

  #startOf(document: number): number {
    return document === 0 ? 0 : this.#ends[document - 1]!
  }

  #reserve(length: number): void {
    if (length <= this.#members.length) return
    const larger = new Int32Array(Math.max(length, this.#members.length * 2))
    larger.set(this.#members)
    this.#members = larger
  }

  #thin(): void {
    const members = this.#members
    const ends: number[] = []
    let kept = 0
    for (let i = 0; i < this.size; i++) {
      const from = this.#startOf(i)
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

class FlatPairs implements PairList {
  /** Valid until the next document is flattened. */
  flat: FlatDocument | undefined

  get count(): number {
    return this.flat!.count
  }

  lo(i: number): number {
    return this.flat!.lo[i]!
  }

  textLength(i: number): number {
    const key = this.flat!.keys[i]!
    return typeof key === 'string' ? key.length : 0
  }

  pair(i: number): HashedPair {
    const { nodes, tags, keys, lo, hi } = this.flat!
    return { path: nodes[i]!.path, tag: tags[i]!, key: keys[i]!, lo: lo[i]!, hi: hi[i]! }
  }
}
