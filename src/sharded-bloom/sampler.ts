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
  /** By 53 bits of the hash: two pairs that collide share a count, which costs nothing but an estimate. */
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
    const pairs = new Set<SampledPair>()
    let uncounted = 0
    for (let i = 0; i < flat.count; i++) {
      const key = flat.keys[i]!
      if (pairs.size === maxPairsPerDocument || (typeof key === 'string' && key.length > maxTextLength)) {
        uncounted++
        continue
      }
      pairs.add(this.#pair(flat, i))
    }
    for (const pair of pairs) pair.count++
    this.#documents.push({ pairs: [...pairs], uncounted })
  }

  /** Pairs in at least `minCount` documents of the sample, the most frequent first. */
  frequent(minCount: number): SampledPair[] {
    return [...this.#pairs.values()].filter((pair) => pair.count >= minCount).sort((a, b) => b.count - a.count)
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
    const hi = flat.hi[i]!
    const hash = (hi >>> 0) * 2 ** 21 + (lo >>> 11)
    const known = this.#pairs.get(hash)
    if (known !== undefined) return known
    const pair = { path: flat.nodes[i]!.path, tag: flat.tags[i]!, key: flat.keys[i]!, lo, hi, count: 0 }
    this.#pairs.set(hash, pair)
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
