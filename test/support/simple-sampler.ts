/** A naive Sampler for comparison: an object for each pair, maps, nothing reused. */
import type { FlatDocument } from '../../src/sharded-bloom/pairs/flatten.ts'
import type { HashedPair } from '../../src/sharded-bloom/segment/private-table.ts'

const maxTextLength = 256
const maxPairsPerDocument = 1024
const maxPairs = 1 << 18
const minDocuments = 512

interface SampledDocument {
  readonly pairs: Map<number, HashedPair>
  readonly uncounted: number
}

export class SimpleSampler {
  readonly #maxDocuments: number
  #stride: number
  #seen = 0
  #documents: SampledDocument[] = []
  /** By the low half of the hash, in order of first occurrence. */
  #pairs = new Map<number, HashedPair>()

  constructor(stride = 1, maxDocuments = 4096) {
    this.#stride = stride
    this.#maxDocuments = maxDocuments
  }

  observe({ count, nodes, tags, keys, lo, hi }: FlatDocument): void {
    if (this.#seen++ % this.#stride !== 0) return
    const hasTooManyPairs = this.#pairs.size > maxPairs && this.#documents.length >= minDocuments
    if (this.#documents.length >= this.#maxDocuments || hasTooManyPairs) this.#thin()
    const pairs = new Map<number, HashedPair>()
    let uncounted = 0
    for (let i = 0; i < count; i++) {
      const key = keys[i]!
      if (pairs.size === maxPairsPerDocument || (typeof key === 'string' && key.length > maxTextLength)) uncounted++
      else pairs.set(lo[i]!, this.#first({ path: nodes[i]!.path, tag: tags[i]!, key, lo: lo[i]!, hi: hi[i]! }))
    }
    this.#documents.push({ pairs, uncounted })
  }

  get size(): number {
    return this.#documents.length
  }

  frequent(minCount: number): (HashedPair & { readonly count: number })[] {
    return [...this.#pairs.values()]
      .map((pair) => ({ ...pair, count: this.#documents.filter(({ pairs }) => pairs.has(pair.lo)).length }))
      .filter(({ count }) => count >= minCount)
      .sort((a, b) => b.count - a.count)
  }

  documents(): HashedPair[][] {
    return this.#documents.map(({ pairs }) => [...pairs.values()])
  }

  hashedPairsPerDocument(privatePairs: readonly HashedPair[]): number[] {
    const isPrivate = new Set(privatePairs.map(({ lo }) => lo))
    return this.#documents.map(
      ({ pairs, uncounted }) => uncounted + [...pairs.keys()].filter((lo) => !isPrivate.has(lo)).length
    )
  }

  #first(pair: HashedPair): HashedPair {
    const known = this.#pairs.get(pair.lo)
    if (known !== undefined) return known
    this.#pairs.set(pair.lo, pair)
    return pair
  }

  #thin(): void {
    this.#documents = this.#documents.filter((_, i) => i % 2 === 0)
    const kept = new Set(this.#documents.flatMap(({ pairs }) => [...pairs.keys()]))
    this.#pairs = new Map([...this.#pairs].filter(([lo]) => kept.has(lo)))
    this.#stride *= 2
  }
}
