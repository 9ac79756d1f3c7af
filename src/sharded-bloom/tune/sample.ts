/**
 * The documents that parameters are tried on, and their statistics: pairs per document, which pairs are frequent, and
 * how many distinct ones a group of documents has.
 *
 * The sample represents segments of the collection: its documents are in ordinal order, in runs of consecutive ones, so
 * that pairs that come in bursts do so in the sample, too.
 */
import { type HashName, loadHasher } from '../../bloom/hash.ts'
import { throwIfAborted } from '../../model/errors.ts'
import { TimeSlice } from '../../model/time-slice.ts'
import type { Document } from '../../model/types.ts'
import { type FlatDocument, Flattener } from '../pairs/flatten.ts'
import { PairHash } from '../pairs/pair-hash.ts'
import { Tag } from '../pairs/pair-tags.ts'
import type { SegmentParameters } from '../segment/segment.ts'
import { groupDocumentsOf } from '../segment/upper-level.ts'
import { Sampler } from './sampler.ts'
import { chooseParameters } from './segment-parameters.ts'
import type { TuningChoices } from './tuning-options.ts'

/** Number of documents that an index chooses a segment's parameters from. */
const sampledDocuments = 4096
/** Fixed, so that the same documents give the same results. */
const seed = { lo: 0x2545f491, hi: 0x1b873593 }

export class TuneSample {
  readonly documents: readonly Document[]
  readonly flattener: Flattener
  readonly pairHash: PairHash
  readonly sampler: Sampler

  private constructor(documents: readonly Document[], flattener: Flattener, pairHash: PairHash, sampler: Sampler) {
    this.documents = documents
    this.flattener = flattener
    this.pairHash = pairHash
    this.sampler = sampler
  }

  static async of(documents: readonly Document[], hash: HashName, signal?: AbortSignal): Promise<TuneSample> {
    const hasher = await loadHasher(hash)
    const flattener = new Flattener(hasher, seed)
    const pairHash = new PairHash(hasher, (path) => flattener.seedOf(path))
    const sampler = new Sampler(Math.max(1, Math.ceil(documents.length / sampledDocuments)), sampledDocuments)
    const sample = new TuneSample(documents, flattener, pairHash, sampler)
    await sample.eachDocument((flat) => sampler.observe(flat), signal)
    return sample
  }

  get size(): number {
    return this.documents.length
  }

  /** The parameters of a segment after documents like these. @param segmentDocuments M */
  parameters(choices: TuningChoices, segmentDocuments: number): SegmentParameters {
    return chooseParameters(this.sampler, choices, segmentDocuments)
  }

  /** Flattens documents one by one, in time slices. @param from first position; `to` the one after the last */
  async eachDocument(
    visit: (flat: FlatDocument, position: number) => void,
    signal?: AbortSignal,
    from = 0,
    to = this.documents.length
  ): Promise<void> {
    const timeSlice = new TimeSlice()
    for (let position = from; position < Math.min(to, this.documents.length); position++) {
      visit(this.flattener.flatten(this.documents[position]!), position)
      if (!timeSlice.isOver()) continue
      throwIfAborted(signal)
      await timeSlice.renew()
    }
  }

  /**
   * Counts the pairs that are not private, for several choices of private pairs at once.
   * @param choices low halves of the hashes of each choice's private pairs
   * @param segmentSizes values of M for which to count distinct pairs by group
   */
  async count(
    choices: readonly ReadonlySet<number>[],
    segmentSizes: readonly number[],
    signal?: AbortSignal
  ): Promise<PairCounts> {
    const hashed = choices.map(() => new Uint32Array(this.size))
    const groups = segmentSizes.map((size) => new GroupCounter(groupDocumentsOf(size), this.size))
    const seen = new Set<number>()
    await this.eachDocument((flat, position) => {
      seen.clear()
      for (let i = 0; i < flat.count; i++) if (flat.tags[i]! <= Tag.size) seen.add(flat.lo[i]!)
      for (const group of groups) group.add(seen, position)
      choices.forEach((isPrivate, choice) => {
        let count = 0
        for (const pair of seen) if (!isPrivate.has(pair)) count++
        hashed[choice]![position] = count
      })
    }, signal)
    return { hashed, distinctInGroups: groups.map((group) => group.end()) }
  }
}

export interface PairCounts {
  /** For each choice, the number of hashed pairs of each document. */
  readonly hashed: readonly Uint32Array[]
  /** For each M, the number of distinct pairs of each group, private ones included. */
  readonly distinctInGroups: readonly (readonly number[])[]
}

class GroupCounter {
  readonly #documents: number
  readonly #total: number
  readonly #pairs = new Set<number>()
  readonly #counts: number[] = []

  constructor(documents: number, total: number) {
    this.#documents = documents
    this.#total = total
  }

  add(pairs: ReadonlySet<number>, position: number): void {
    for (const pair of pairs) this.#pairs.add(pair)
    if ((position + 1) % this.#documents === 0 || position === this.#total - 1) {
      this.#counts.push(this.#pairs.size)
      this.#pairs.clear()
    }
  }

  end(): readonly number[] {
    return this.#counts
  }
}
