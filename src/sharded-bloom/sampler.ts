/**
 * A sample of a segment's documents and how often each value pair occurs in it: what the next segment's parameters are
 * chosen from.
 *
 * Every `stride`-th document is in the sample. When it is full, every second one leaves and the stride doubles, so the
 * sample is spread evenly over the segment whatever its length.
 */
import type { FlatDocument } from './flatten.ts'
import type { HashedPair } from './private-table.ts'

export interface SampledPair extends HashedPair {
  /** Documents of the sample that have the pair. */
  count: number
  /** The document that counted it last. */
  seenIn: number
}

interface SampledDocument {
  readonly pairs: readonly SampledPair[]
  /** Pairs that are not: too long, or too many. */
  readonly uncounted: number
}

/** Longer texts are not worth a private row: the row's record would keep a copy of the text. */
const maxTextLength = 256
/** Of one document; the rest is not sampled. */
const maxPairsPerDocument = 1024
/** Distinct pairs, some 100 bytes each, past which the sample is thinned while it has documents to spare. */
const maxPairs = 1 << 18
const minDocuments = 512

export class Sampler {
  readonly #maxDocuments: number
  /** By half of the hash: two pairs that collide share a count, which costs nothing but an estimate. */
  readonly #pairs = new Map<number, SampledPair>()
  #documents: SampledDocument[] = []
  #stride: number
  #seen = 0

  /** @param stride to begin with; 1 where a decision has to be taken after few documents */
  constructor(stride = 1, maxDocuments = 4096) {
    this.#stride = stride
    this.#maxDocuments = maxDocuments
  }

  get size(): number {
    return this.#documents.length
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
    if (this.#seen++ % this.#stride !== 0) return
    const hasTooManyPairs = this.#pairs.size > maxPairs && this.#documents.length >= minDocuments
    if (this.#documents.length >= this.#maxDocuments || hasTooManyPairs) this.#thin()
    const pairs: SampledPair[] = []
    let uncounted = 0
    for (let i = 0; i < flat.count; i++) {
      const key = flat.keys[i]!
      if (pairs.length === maxPairsPerDocument || (typeof key === 'string' && key.length > maxTextLength)) {
        uncounted++
        continue
      }
      const pair = this.#pair(flat, i)
      if (pair.seenIn === this.#seen) continue
      pair.seenIn = this.#seen
      pair.count++
      pairs.push(pair)
    }
    this.#documents.push({ pairs, uncounted })
  }

  /** Pairs in at least `minCount` documents of the sample, the most frequent first. */
  frequent(minCount: number): SampledPair[] {
    return [...this.#pairs.values()].filter((pair) => pair.count >= minCount).sort((a, b) => b.count - a.count)
  }

  /** The pairs of each sampled document, in the order of ordinals. */
  documents(): readonly (readonly SampledPair[])[] {
    return this.#documents.map(({ pairs }) => pairs)
  }

  /** For each sampled document, how many of its value pairs are not in `privatePairs`. */
  hashedPairsPerDocument(privatePairs: ReadonlySet<HashedPair>): number[] {
    return this.#documents.map(({ pairs, uncounted }) => {
      let count = uncounted
      for (const pair of pairs) if (!privatePairs.has(pair)) count++
      return count
    })
  }

  #pair(flat: FlatDocument, i: number): SampledPair {
    const lo = flat.lo[i]!
    const known = this.#pairs.get(lo)
    if (known !== undefined) return known
    const { nodes, tags, keys, hi } = flat
    const pair = { path: nodes[i]!.path, tag: tags[i]!, key: keys[i]!, lo, hi: hi[i]!, count: 0, seenIn: 0 }
    this.#pairs.set(lo, pair)
    return pair
  }

  #thin(): void {
    const kept: SampledDocument[] = []
    this.#documents.forEach((document, i) => {
      if (i % 2 === 0) kept.push(document)
      else for (const pair of document.pairs) pair.count--
    })
    this.#documents = kept
    this.#stride *= 2
    for (const [hash, pair] of this.#pairs) if (pair.count === 0) this.#pairs.delete(hash)
  }
}
