/** Chooses the parameters of the next segment, from a sample of the last one's documents. */
import { runInSlices } from '../../model/time-slice.ts'
import type { FlatDocument } from '../pairs/flatten.ts'
import type { SealedSegment } from '../segment/sealed-segment.ts'
import type { Segment, SegmentParameters } from '../segment/segment.ts'
import type { PairList } from './pair-list.ts'
import { Sampler } from './sampler.ts'
import { chooseParameters, chooseParametersInSlices, parametersAfter } from './segment-parameters.ts'
import type { TuningOptions } from './tuning-options.ts'

const minSample = 256
/** Sample size for a full segment. */
const sampleDocuments = 4096
/** Sample size when every document is sampled: leaves room for the batch in which the sample becomes large enough. */
const maxSampleOfAll = 2 * sampleDocuments

interface Choice {
  readonly parameters: SegmentParameters
  readonly tuning: TuningOptions
  /** The segment whose parameters were adopted, if there was no sample. */
  readonly after?: Segment
}

export class NextParameters {
  readonly #tuning: () => TuningOptions
  readonly #segmentDocuments: number
  #sampler = new Sampler(1, maxSampleOfAll)
  /** Chosen ahead of time. */
  #chosen: Choice | undefined

  /** @param tuning called anew for each choice */
  constructor(tuning: () => TuningOptions, segmentDocuments: number) {
    this.#tuning = tuning
    this.#segmentDocuments = segmentDocuments
  }

  /** Frees the sample's memory: nothing is chosen any more. */
  close(): void {
    this.#sampler.close()
  }

  observeFlat(flat: FlatDocument): void {
    this.#sampler.observe(flat)
  }

  observePairs(pairs: PairList): void {
    this.#sampler.observePairs(pairs)
  }

  /** True when the next document has to be observed with all its pairs; otherwise skip() suffices. */
  get wantsSample(): boolean {
    return this.#sampler.isNextSampled
  }

  skip(): void {
    this.#sampler.skip()
  }

  get hasSample(): boolean {
    return this.#sampler.size >= minSample
  }

  /** Begins a new sample. @param of all documents, for a choice after few of them, or those of a whole segment */
  sample(of: 'all' | 'segment'): void {
    this.#sampler.close()
    this.#sampler =
      of === 'all'
        ? new Sampler(1, maxSampleOfAll)
        : new Sampler(Math.max(2, Math.ceil(this.#segmentDocuments / sampleDocuments)))
  }

  /** Chooses what take() will return: the first document of a segment cannot wait for it. */
  async chooseAhead(previous: Segment): Promise<void> {
    if (this.#chosen !== undefined || !this.hasSample) return
    const tuning = this.#tuning()
    this.#chosen = { parameters: await this.choose(previous, tuning), tuning }
  }

  /** As chooseAhead(), after a segment without a sample: one that was sealed when the index was opened, or adopted. */
  async adoptAhead(previous: SealedSegment): Promise<void> {
    const tuning = this.#tuning()
    const isChosen = this.#chosen?.after === previous && this.#chosen.tuning === tuning
    if (this.hasSample || isChosen) return
    const pairs = await runInSlices(previous.privatePairSteps())
    this.#chosen = { parameters: parametersAfter(previous, tuning, pairs), tuning, after: previous }
  }

  /** Discards what chooseAhead() chose, because documents have changed since. */
  forgetChoice(): void {
    this.#chosen = undefined
  }

  /** Returns the parameters chosen ahead, or chooses them now. */
  take(previous: Segment): SegmentParameters {
    const tuning = this.#tuning()
    const chosen = this.#chosen
    this.#chosen = undefined
    if (chosen?.tuning === tuning) return chosen.parameters
    return this.hasSample
      ? chooseParameters(this.#sampler, tuning, this.#segmentDocuments, previous.columnSpecs)
      : parametersAfter(previous, tuning)
  }

  /** Chooses from the current sample, in slices. REQUIRES: nothing is observed meanwhile. */
  choose(earlier: Segment, tuning = this.#tuning()): Promise<SegmentParameters> {
    return chooseParametersInSlices(this.#sampler, tuning, this.#segmentDocuments, earlier.columnSpecs)
  }
}
