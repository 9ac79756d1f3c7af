/**
 * The standalone sharded two-level Bloom filter: a set of ids, each with its pairs, that answers boolean expressions
 * over pairs with candidates. It does no I/O and knows no documents.
 *
 * Level one: a pair's hash selects R of P filters. Level two: an id has K of M bits in each of them. A query computes
 * AND, OR and NOT over whole filters, and the remaining bits lead back to ids. See docs/sharded-bloom.md.
 *
 * Invariants:
 * 1. No false negatives: an id that was added with matching pairs is a candidate until it is removed.
 * 2. Every id for which isCertain() is true matches.
 * 3. A call that throws has changed nothing.
 */
import { BitSet } from '../../bloom/bit-set.ts'
import { createHasher, type PairHasher } from '../../bloom/hash.ts'
import { PetalError } from '../../model/errors.ts'
import { evaluate } from './evaluate.ts'
import type { Expression, Pair } from './expression.ts'
import { expectedFalsePositives } from './false-positives.ts'
import { decode, encode } from './format.ts'
import { createIdCodec, type IdCodec } from './ids/id-codec.ts'
import { assertOptions, type Id, type Parameters, parametersOf, type ShardedBloomOptions, shown } from './options.ts'
import { PairHashes } from './pair-hashes.ts'
import { absentPair, observeFalsePositives } from './probes.ts'
import { QueryResult } from './query-result.ts'
import { BitRows } from './tail/bit-rows.ts'
import { createTail, type Tail } from './tail/tail.ts'

export interface ShardedBloomStats {
  /** Adds not yet removed. */
  readonly ids: number
  /** Distinct pairs of each id, summed over all ids. */
  readonly pairs: number
  /** Share of set bits in the P filters; for the fingerprint tail, in the P·2^f rows its fingerprints stand for. */
  readonly density: number
  /** Memory of bits, counters and fingerprints, not of the ids that a table keeps. */
  readonly bytes: number
  /** Average number of ids found for a pair that no id has. */
  readonly falsePositives: {
    /** Computed from each id's number of pairs, P, M, R and K, assuming every id was added once. */
    readonly predicted: number
    /** Measured with random pairs; undefined without probes, and for `rehash` without ids. */
    readonly observed: number | undefined
  }
}

/**
 * @example
 * import { and, not, or, ShardedBloom } from 'petaldb/sharded-bloom'
 * const structure = new ShardedBloom({ shards: 512, bits: 65_536, rowsPerPair: 4 })
 * structure.add('tweet 1', [['lang', 'en'], ['tag', 'bloom'], ['tag', 'filter']])
 * structure.add('tweet 2', [['lang', 'de'], ['tag', 'bloom']])
 * const result = structure.query(and(['tag', 'bloom'], or(['lang', 'en'], ['lang', 'fr'])))
 * result.candidates() // ['tweet 1'], and rarely a false positive
 */
export class ShardedBloom {
  readonly parameters: Parameters
  readonly #hasher: PairHasher
  readonly #hashes: PairHashes
  readonly #codec: IdCodec
  readonly #tail: Tail
  /** A single row: the positions of every id. */
  readonly #used: BitRows
  /** Number of adds by their number of pairs. */
  readonly #pairCounts = new Map<number, number>()
  readonly #positions: Uint32Array
  #version = 0

  /** @throws PetalError InvalidOptions */
  constructor(options: ShardedBloomOptions) {
    const parameters = parametersOf(options)
    this.parameters = parameters
    this.#hasher = createHasher(parameters.hash)
    this.#hashes = new PairHashes(this.#hasher, parameters.seed)
    this.#codec = createIdCodec(parameters, this.#hasher)
    this.#tail = createTail(parameters)
    this.#used = new BitRows(1, parameters.bits, parameters.counting)
    this.#positions = new Uint32Array(parameters.bitsPerId)
  }

  /**
   * Adds an id with its pairs; a repeated pair counts once. More pairs of an id may be added later, but the prediction
   * of stats() assumes that every id is added once.
   * @throws PetalError BadValue for a value that is not an id of the codec, or not a pair
   */
  add(id: Id, pairs: Iterable<Pair>): void {
    const hashes = this.#hashes.hashAll(pairs)
    const positions = this.#positions
    this.#codec.add(id, positions)
    for (let i = 0; i < hashes.length; i += 2) this.#tail.add(hashes[i]!, hashes[i + 1]!, positions)
    for (const position of positions) this.#used.set(0, position)
    this.#count(hashes.length / 2, 1)
    this.#version++
  }

  /**
   * Reverts one add. REQUIRES: the id was added with exactly these pairs. A mismatch is rejected when the bits reveal
   * it; when other ids have set the same bits it goes unnoticed, and those ids may be lost.
   * @throws PetalError IllegalOperation without `counting`, BadValue for an id that was not added with these pairs
   */
  remove(id: Id, pairs: Iterable<Pair>): void {
    if (!this.parameters.counting) {
      throw new PetalError('IllegalOperation', 'remove() needs counting: true, because bits may be shared')
    }
    const hashes = this.#hashes.hashAll(pairs)
    const pairCount = hashes.length / 2
    if (!this.#isPresent(id) || !this.#pairCounts.has(pairCount)) throw notAdded(id)
    const positions = this.#positions
    for (let i = 0; i < hashes.length; i += 2) {
      if (this.#tail.remove(hashes[i]!, hashes[i + 1]!, positions)) continue
      for (let done = 0; done < i; done += 2) this.#tail.add(hashes[done]!, hashes[done + 1]!, positions)
      throw notAdded(id)
    }
    for (const position of positions) this.#used.unset(0, position)
    this.#codec.remove(id)
    this.#count(pairCount, -1)
    this.#version++
  }

  /**
   * Returns bounds on the ids that match.
   * @throws PetalError BadValue for a value that is not an expression, or one that nests deeper than 1,000 levels
   */
  query(expression: Expression): QueryResult {
    const bounds = evaluate(expression, {
      bits: this.parameters.bits,
      used: () => this.#usedPositions(),
      read: (pair, out) => {
        const { lo, hi } = this.#hashes.hash(pair)
        this.#tail.read(lo, hi, out)
      }
    })
    // Counters stuck at their maximum leave bits set where no id is left.
    if (this.parameters.counting) bounds.upper.and(this.#usedPositions())
    const version = this.#version
    return new QueryResult(bounds, this.#codec, this.parameters.bitsPerId, () => version === this.#version)
  }

  /** False only when the id was not added with the pair. @throws PetalError BadValue for an invalid id or pair */
  mayContain(id: Id, pair: Pair): boolean {
    const { lo, hi } = this.#hashes.hash(pair)
    return this.#isPresent(id) && this.#tail.mayContain(lo, hi, this.#positions)
  }

  /**
   * Returns counts, memory use, and predicted and measured false positives.
   * @param options.probes number of random pairs to query, default 256; 0 measures nothing
   * @param options.ids all ids that were added: codec `rehash` needs them to measure
   */
  stats(
    options: { readonly probes?: number | undefined; readonly ids?: Iterable<Id> | undefined } = {}
  ): ShardedBloomStats {
    assertOptions('stats', options, ['probes', 'ids'])
    const { probes = 256, ids } = options
    const { rowsPerPair, bitsPerId } = this.parameters
    let idCount = 0
    let pairs = 0
    for (const [pairCount, count] of this.#pairCounts) {
      idCount += count
      pairs += pairCount * count
    }
    const shape = { virtualShards: this.#tail.virtualShards, rowsPerPair, bitsPerId }
    const ask = (probe: number): BitSet => {
      const upper = new BitSet(this.parameters.bits)
      const { lo, hi } = absentPair(this.#hasher, this.parameters.seed, probe)
      this.#tail.read(lo, hi, upper)
      return upper.and(this.#usedPositions())
    }
    return {
      ids: idCount,
      pairs,
      density: this.#tail.density(),
      bytes: this.#tail.byteLength + this.#used.byteLength,
      falsePositives: {
        predicted: expectedFalsePositives(this.#pairCounts, shape, this.#codec.occupancy(idCount)),
        observed: observeFalsePositives(probes, ask, this.#codec, bitsPerId, ids)
      }
    }
  }

  /** Serialises the structure in the format of format.ts. Structures that answer alike need not have the same bytes. */
  serialise(): Uint8Array {
    return encode({
      parameters: this.parameters,
      pairCounts: this.#pairCounts,
      used: this.#used.toBytes(),
      tail: this.#tail.toBytes(),
      ids: this.#codec.toBytes()
    })
  }

  /**
   * Returns a structure equal to the one that wrote the bytes; it does not retain `bytes`.
   * @throws PetalError BadValue unless given a Uint8Array, UnsupportedFormat for another format's number,
   *   DataCorruption for anything else that is wrong
   */
  static deserialise(bytes: Uint8Array): ShardedBloom {
    if (!(bytes instanceof Uint8Array)) {
      throw new PetalError('BadValue', `deserialise takes a Uint8Array, got ${shown(bytes)}`)
    }
    const { parameters, pairCounts, used, tail, ids } = decode(bytes)
    const structure = new ShardedBloom(parameters)
    structure.#used.load(used)
    structure.#tail.load(tail)
    structure.#codec.load(ids)
    for (const [pairs, count] of pairCounts) structure.#pairCounts.set(pairs, count)
    return structure
  }

  /** Leaves the id's positions in #positions. */
  #isPresent(id: Id): boolean {
    return (
      this.#codec.positionsOf(id, this.#positions) && this.#positions.every((position) => this.#used.isSet(0, position))
    )
  }

  #usedPositions(): BitSet {
    const used = new BitSet(this.parameters.bits)
    this.#used.copyTo(0, used.words)
    return used
  }

  #count(pairs: number, change: 1 | -1): void {
    const count = (this.#pairCounts.get(pairs) ?? 0) + change
    if (count === 0) this.#pairCounts.delete(pairs)
    else this.#pairCounts.set(pairs, count)
  }
}

function notAdded(id: Id): PetalError {
  return new PetalError('BadValue', `${shown(id)} was not added with these pairs`, { details: { id } })
}
