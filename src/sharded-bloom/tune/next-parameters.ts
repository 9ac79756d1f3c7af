/** The parameters of the segment that follows, from a sample of the documents of the last one. */
import { runInSlices } from '../../model/time-slice.ts'
import type { FlatDocument } from '../pairs/flatten.ts'
import type { SealedSegment } from '../segment/sealed-segment.ts'
import type { Segment, SegmentParameters } from '../segment/segment.ts'
import type { PairList } from './pair-list.ts'
import { Sampler } from './sampler.ts'
import { chooseParameters, chooseParametersInSlices, parametersAfter, type TuningOptions } from './tuning.ts'

const minSample = 256
/** Of a full segment. */
const sampleDocuments = 4096
/** Where every document is sampled: those of the batch in which the sample becomes large enough have room, too. */
const maxSampleOfAll = 2 * sampleDocuments

interface Choice {
  readonly parameters: SegmentParameters
  readonly tuning: TuningOptions
  /** Without a sample: of which it has what that one had. */
  readonly after?: Segment
}

export class NextParameters {
  readonly #tuning: () => TuningOptions
  readonly #segmentDocuments: number
  #sampler = new Sampler(1, maxSampleOfAll)
  /** Chosen before they are needed. */
  #chosen: Choice | undefined

  /** @param tuning asked anew for each choice */
  constructor(tuning: () => TuningOptions, segmentDocuments: number) {
    this.#tuning = tuning
    this.#segmentDocuments = segmentDocuments
  }

  /** Gives the sample's memory back: nothing is chosen any more. */
  close(): void {
    this.#sampler.close()
  }

  observeFlat(flat: FlatDocument): void {
    this.#sampler.observe(flat)
  }

  observePairs(pairs: PairList): void {
    this.#sampler.observePairs(pairs)
  }

  /** True when the next document has to be observed with all its pairs; otherwise skip() will do. */
  get wantsSample(): boolean {
    return this.#sampler.isNextSampled
  }

  skip(): void {
    this.#sampler.skip()
  }

  get hasSample(): boolean {
    return this.#sampler.size >= minSample
  }

  /** Begins a new sample. @param of all documents, where a decision is to be taken after few, or of a whole segment's */
  sample(of: 'all' | 'segment'): void {
    this.#sampler.close()
    this.#sampler =
      of === 'all'
        ? new Sampler(1, maxSampleOfAll)
        : new Sampler(Math.max(2, Math.ceil(this.#segmentDocuments / sampleDocuments)))
  }

  /** Chooses what take() will give: the first document of a segment cannot wait for it. */
  async chooseAhead(previous: Segment): Promise<void> {
    if (this.#chosen !== undefined || !this.hasSample) return
    const tuning = this.#tuning()
    this.#chosen = { parameters: await this.choose(previous, tuning), tuning }
  }

  /** As chooseAhead(), behind a segment of which there is no sample: one that was sealed when the index was opened, or adopted. */
  async takeOverAhead(previous: SealedSegment): Promise<void> {
    const tuning = this.#tuning()
    const isChosen = this.#chosen?.after === previous && this.#chosen.tuning === tuning
    if (this.hasSample || isChosen) return
    const pairs = await runInSlices(previous.privatePairSteps())
    this.#chosen = { parameters: parametersAfter(previous, tuning, pairs), tuning, after: previous }
  }

  /** Documents are not what they were when chooseAhead() looked at them. */
  forgetChoice(): void {
    this.#chosen = undefined
  }

  /** What was chosen, or is now. */
  take(previous: Segment): SegmentParameters {
    const tuning = this.#tuning()
    const chosen = this.#chosen
    this.#chosen = undefined
    if (chosen?.tuning === tuning) return chosen.parameters
    return this.hasSample
      ? chooseParameters(this.#sampler, tuning, this.#segmentDocuments, previous)
      : parametersAfter(previous, tuning)
  }

  /** From the sample as it is, in slices. REQUIRES: nothing is observed meanwhile. */
  choose(earlier: Segment, tuning = this.#tuning()): Promise<SegmentParameters> {
    return chooseParametersInSlices(this.#sampler, tuning, this.#segmentDocuments, earlier)
  }
}
