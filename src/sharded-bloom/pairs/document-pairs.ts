/**
 * A document's pairs as 64-bit hashes, independent of any index, for filters that are stored elsewhere.
 *
 * Values and array lengths make pairs as in an index. Of a path's types only the path's presence is kept, since
 * documents of one kind nearly always have the same types.
 *
 * Invariant: a hash depends on the pair alone: it is the same in every thread and after every reopen.
 */
import { createHasher } from '../../bloom/hash.ts'
import { PetalError } from '../../model/errors.ts'
import type { Pair } from '../../model/pairs.ts'
import type { Document } from '../../model/types.ts'
import { type FlatDocument, Flattener } from './flatten.ts'
import { PairHash } from './pair-hash.ts'
import { Tag, type TaggedPair, tagPair } from './pair-tags.ts'
import type { Shape } from './shapes.ts'

/** Part of the file format: filters are read later and by other processes. */
const seed = { lo: 0x5045_5441, hi: 0x4c44_4221 } as const

export class DocumentPairs {
  readonly #flattener = new Flattener(createHasher('murmur'), seed)
  readonly #pairHash = new PairHash(createHasher('murmur'), (path) => this.#flattener.seedOf(path))

  /** Visits the hash of every pair, some more than once. @throws PetalError for a document with too many pairs */
  visit(document: Document, visit: (lo: number, hi: number) => void): void {
    const flat = this.#flatten(document)
    const { lo, hi, count } = flat
    for (let i = 0; i < count; i++) visit(lo[i]!, hi[i]!)
    const presences = this.#presencesOf(flat.shape)
    for (let i = 0; i < presences.length; i += 2) visit(presences[i]!, presences[i + 1]!)
  }

  /** Returns the hash that visit() passes for every document with this pair. */
  hash(pair: Pair): { readonly lo: number; readonly hi: number } {
    return this.#pairHash.hash(knownPair(pair))
  }

  /** Whether the document has the pair. Numbers with the same double as key are the same pair. @throws as visit() */
  has(document: Document, pair: Pair): boolean {
    const { path, tag, key: wanted } = knownPair(pair)
    const { nodes, tags, keys, count, shape } = this.#flatten(document)
    if (tag === Tag.exists) return [...shape.facts()].some(({ node }) => node.path === path)
    for (let i = 0; i < count; i++) {
      // Object.is: NaN equals itself.
      if (tags[i] === tag && nodes[i]!.path === path && Object.is(keys[i], wanted)) return true
    }
    return false
  }

  #flatten(document: Document): FlatDocument {
    const flat = this.#flattener.flatten(document)
    if (flat.isOverfull) throw new PetalError('IllegalOperation', 'The document has too many pairs')
    return flat
  }

  /** Returns the hash halves of the EXISTS pair of every path, computed once per shape. */
  #presencesOf(shape: Shape): Int32Array {
    if (shape.preparedBy === this) return shape.prepared as Int32Array
    const paths = new Set<string>()
    for (const { node } of shape.facts()) paths.add(node.path)
    const halves: number[] = []
    for (const path of paths) {
      const { lo, hi } = this.#pairHash.hash({ path, tag: Tag.exists, key: 0 })
      halves.push(lo, hi)
    }
    shape.preparedBy = this
    shape.prepared = Int32Array.from(halves)
    return shape.prepared as Int32Array
  }
}

/** Maps TYPE pairs to EXISTS pairs: a value of a type on a path implies the path. */
function knownPair(pair: Pair): TaggedPair {
  return pair.kind === 'type' ? { path: pair.path, tag: Tag.exists, key: 0 } : tagPair(pair)
}
