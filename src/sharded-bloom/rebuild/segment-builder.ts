/**
 * Builds one segment after another from stored documents: parameters from a sample of the documents to come, documents
 * as bytes if the scanner can read them, and the ordinal of each position.
 */
import { throwIfAborted } from '../../model/errors.ts'
import { nextTurn, runInSlices, TimeSlice } from '../../model/time-slice.ts'
import type { Document } from '../../model/types.ts'
import { ByteIngest } from '../byte-scan/byte-ingest.ts'
import type { AcceptedForm, JsonForm } from '../byte-scan/json-form.ts'
import type { NotWritten } from '../byte-scan/json-writer.ts'
import type { SeedOf } from '../byte-scan/scanner-paths.ts'
import { StoredIngest } from '../byte-scan/stored-ingest.ts'
import type { IndexStore } from '../document-index.ts'
import type { FlatDocument } from '../pairs/flatten.ts'
import type { ColumnSpec } from '../ranges/column-spec.ts'
import type { Geometry } from '../segment/geometry.ts'
import type { OpenSegment } from '../segment/open-segment.ts'
import { maxSpan } from '../segment/position-map.ts'
import { sealSegment } from '../segment/seal.ts'
import type { SealedContext } from '../segment/sealed-segment.ts'
import type { Segment, SegmentParameters } from '../segment/segment.ts'
import type { SegmentRecord } from '../segment/segment-record.ts'
import type { StoredDocument, StoredRun } from '../stored-source.ts'
import { DensityWatch } from '../tune/density-watch.ts'
import { type ChoiceKeeper, fittingParametersSteps } from '../tune/earlier-choice.ts'
import { Sampler } from '../tune/sampler.ts'
import { chooseParametersInSlices, initialParameters, parametersAfter } from '../tune/segment-parameters.ts'
import { meanHashedPairs } from '../tune/tail-parameters.ts'
import type { TuningOptions } from '../tune/tuning-options.ts'
import { OffsetList } from './offset-list.ts'

export interface SegmentBuilding {
  /** Reads the documents of an ordinal range, in runs. */
  readonly readStored: (from: number, to: number) => AsyncIterable<StoredRun>
  readonly sealed: SealedContext
  readonly geometry: Geometry
  readonly tuning: () => TuningOptions
  readonly flatten: (document: Document) => FlatDocument
  /** undefined when the index's hash is not the scanner's. */
  readonly scannerSeed: SeedOf | undefined
  readonly createOpenSegment: (firstOrdinal: number, parameters: SegmentParameters) => OpenSegment
}

/** Size of a sample: runs spread over the segment, and documents per run. */
const sampleRuns = 16
const documentsPerRun = 256
/** Documents per run of a sample that only checks whether the previous choice fits. */
const documentsPerCheck = 32
const minSample = 256
/** Minimum documents of a segment whose parameters are reused for others. */
const minKept = 16_384

/** What is known of segments built before. */
export interface EarlierSegments {
  /** The segment before: its parameters are used if the sample is too small. */
  readonly last?: Segment | undefined
  /** Columns to be kept; default those of `last`. */
  readonly columns?: readonly ColumnSpec[] | undefined
  /**
   * Keeps a choice that is reused while it fits; without it, every segment's parameters are chosen for its own
   * documents.
   */
  readonly keeper?: ChoiceKeeper | undefined
}

export class SegmentBuilder {
  readonly #building: SegmentBuilding
  readonly #earlier: EarlierSegments
  readonly #byteIngest: ByteIngest | undefined
  readonly #ingest: StoredIngest
  #segment: OpenSegment | undefined
  #parameters: SegmentParameters | undefined
  #firstOrdinal = 0
  #offsets = new OffsetList(0)
  #isClosed = false
  readonly #density = new DensityWatch()

  constructor(building: SegmentBuilding, earlier: EarlierSegments = {}) {
    this.#building = building
    this.#earlier = earlier
    const { scannerSeed } = building
    this.#byteIngest = scannerSeed && new ByteIngest(scannerSeed)
    this.#ingest = new StoredIngest(building.flatten, this.#byteIngest)
  }

  /** Reads the documents of an ordinal range, in runs. */
  readStored(from: number, to: number): AsyncIterable<StoredRun> {
    return this.#building.readStored(from, to)
  }

  get isOpen(): boolean {
    return this.#segment !== undefined
  }

  get isFull(): boolean {
    return this.#isClosed || this.#segment?.isFull === true
  }

  /** False for an ordinal too far away to be in the same segment. */
  reaches(ordinal: number): boolean {
    return ordinal - this.#firstOrdinal < maxSpan
  }

  /**
   * Begins a segment at `firstOrdinal`.
   * @param next the first document's ordinal
   * @param to every document's ordinal is below it
   * @param left number of documents up to `to`
   */
  async begin(firstOrdinal: number, next: number, to: number, left: number, signal?: AbortSignal): Promise<void> {
    const { geometry, createOpenSegment: createOpen } = this.#building
    const { segmentDocuments } = geometry
    const end = left <= segmentDocuments ? to : next + Math.floor((to - next) * (segmentDocuments / left))
    const documents = Math.min(left, segmentDocuments)
    const parameters =
      (await this.#fittingParameters(next, end, documents, signal)) ??
      (await this.#chosenParameters(next, end, to, documents, signal))
    await nextTurn()
    this.#segment = createOpen(firstOrdinal, parameters)
    this.#parameters = parameters
    this.#firstOrdinal = firstOrdinal
    this.#offsets = new OffsetList(segmentDocuments)
    this.#isClosed = false
    this.#density.begin()
  }

  /** REQUIRES: isOpen, not isFull, and an ordinal above all before; the same holds for the other ways to add. */
  add(stored: StoredDocument): void {
    const segment = this.#segment!
    this.#ingest.add(segment, stored)
    this.#added(segment, stored.ordinal)
  }

  /** As add(), for a flattened document. */
  addFlat(ordinal: number, flat: FlatDocument): void {
    const segment = this.#segment!
    segment.add(flat)
    this.#byteIngest?.learn(flat)
    this.#added(segment, ordinal)
  }

  /** As DocumentIndex.addBytes(). */
  addBytes(ordinal: number, bytes: Uint8Array, offset: number, length: number, form: JsonForm): AcceptedForm {
    const segment = this.#segment!
    const accepted = this.#byteIngest?.add(segment, bytes, offset, length, form) ?? false
    if (accepted !== false) this.#added(segment, ordinal)
    return accepted
  }

  /** Accepts the bytes of several documents; see ByteIngest.stage(). */
  stage(bytes: Uint8Array): boolean {
    return this.#byteIngest?.stage(bytes) === true
  }

  /** As addBytes(), for a document among those staged last. */
  addStaged(ordinal: number, offset: number, length: number, form: JsonForm): AcceptedForm {
    const segment = this.#segment!
    const accepted = this.#byteIngest?.addStaged(segment, offset, length, form) ?? false
    if (accepted !== false) this.#added(segment, ordinal)
    return accepted
  }

  /** As DocumentIndex.write(). */
  write(document: Document): Uint8Array | NotWritten | undefined {
    return this.#byteIngest?.write(this.#segment!, document, false)
  }

  /** The ordinal of each position, relative to the first ordinal. */
  get offsets(): Uint32Array {
    return this.#offsets.toArray()
  }

  /** Seals the segment under `number`, by default its first ordinal. Afterwards another segment can begin. */
  async seal(store: IndexStore, number = this.#firstOrdinal): Promise<SegmentRecord> {
    const segment = this.#segment!
    this.#keep(segment)
    const record = await sealSegment(segment, store, this.#building.sealed.memory, 0, number)
    this.#segment = undefined
    segment.free()
    return record
  }

  /** Frees all memory. */
  close(): void {
    this.#segment?.free()
    this.#segment = undefined
    this.#byteIngest?.close()
  }

  #added(segment: OpenSegment, ordinal: number): void {
    this.#offsets.push(ordinal - this.#firstOrdinal)
    if (!this.#density.isTooDense(segment)) return
    this.#isClosed = segment.documents >= 2 * this.#building.geometry.chunkDocuments
  }

  /**
   * Keeps the parameters for later segments, unless the segment is too small. The reference density stays that of the
   * first segment with these parameters, because documents may drift slowly.
   */
  #keep(segment: OpenSegment): void {
    const parameters = this.#parameters
    const { keeper } = this.#earlier
    if (keeper === undefined || parameters === undefined || segment.documents < minKept) return
    const { choice } = keeper
    const isSame = choice?.parameters.privatePairs === parameters.privatePairs
    keeper.choice = { parameters, hashedPairs: isSame ? choice.hashedPairs : meanHashedPairs(segment) }
  }

  /** Returns the keeper's parameters, if they fit. */
  async #fittingParameters(
    from: number,
    to: number,
    documents: number,
    signal: AbortSignal | undefined
  ): Promise<SegmentParameters | undefined> {
    const choice = this.#earlier.keeper?.choice
    if (choice === undefined) return undefined
    const sampler = await this.#sample(from, to, documents, documentsPerCheck, signal)
    try {
      if (sampler.size < minSample) return undefined
      return await runInSlices(fittingParametersSteps(sampler, choice, this.#building.tuning()))
    } finally {
      sampler.close()
    }
  }

  async #chosenParameters(
    from: number,
    end: number,
    to: number,
    documents: number,
    signal: AbortSignal | undefined
  ): Promise<SegmentParameters> {
    let sampler = await this.#sample(from, end, documents, documentsPerRun, signal)
    // Spread runs can miss documents that are close together: sample the next ones instead.
    if (sampler.size < minSample) sampler = await this.#sample(from, to, 1, documentsPerRun, signal)
    const parameters = await this.#parametersOf(sampler)
    sampler.close()
    return parameters
  }

  async #parametersOf(sampler: Sampler): Promise<SegmentParameters> {
    const { geometry, tuning } = this.#building
    const { last, columns = last?.columnSpecs } = this.#earlier
    if (sampler.size >= minSample) {
      return chooseParametersInSlices(sampler, tuning(), geometry.segmentDocuments, columns)
    }
    return last === undefined ? initialParameters(tuning()) : parametersAfter(last, tuning())
  }

  /** Samples documents by adding them to a temporary segment with general parameters. */
  async #sample(
    from: number,
    to: number,
    documents: number,
    documentsOfRun: number,
    signal: AbortSignal | undefined
  ): Promise<Sampler> {
    const runs = documents <= sampleRuns * documentsOfRun ? 1 : sampleRuns
    const perRun = (sampleRuns * documentsOfRun) / runs
    const sampler = new Sampler()
    const { createOpenSegment: createOpen, tuning, readStored } = this.#building
    const sampled = createOpen(from, initialParameters(tuning()))
    const timeSlice = new TimeSlice()
    try {
      for (let part = 0; part < runs; part++) {
        const begin = from + Math.floor(((to - from) * part) / runs)
        const end = from + Math.floor(((to - from) * (part + 1)) / runs)
        let left = perRun
        reading: for await (const run of readStored(begin, end)) {
          for (const stored of run) {
            if (left-- === 0) break reading
            this.#ingest.add(sampled, stored, sampler)
            // The range has more documents than the average suggested.
            if (sampled.isFull) return sampler
            if (!timeSlice.isOver()) continue
            await timeSlice.renew()
            throwIfAborted(signal)
          }
        }
      }
      return sampler
    } finally {
      sampled.free()
    }
  }
}
