/**
 * The work an index does between batches, and when it is due: checkpoint, seal, choose parameters again, fold dead
 * marks.
 *
 * Invariants:
 * 1. Nothing stored is ahead of the documents: only ordinals below the caller's limit, which are committed, are
 *    written.
 * 2. At any time fewer than two chunks (8,192 documents), plus those in flight, are not in a checkpoint.
 */
import { TimeSlice, yieldIfTurnLong } from '../model/time-slice.ts'
import type { StoredIngest } from './byte-scan/stored-ingest.ts'
import type { DocumentSource, IndexWrite } from './document-index.ts'
import type { FlatDocument } from './pairs/flatten.ts'
import { firstRebuilt, IndexArea, indexKey } from './records/index-keys.ts'
import { type EarlySealer, EarlySeals } from './segment/early-seals.ts'
import type { Geometry } from './segment/geometry.ts'
import { maxYoungDocuments } from './segment/hashed-rows.ts'
import type { OpenSegment } from './segment/open-segment.ts'
import { type SealedContext, SealedSegment } from './segment/sealed-segment.ts'
import type { SegmentParameters } from './segment/segment.ts'
import type { SegmentHandle } from './segment/segment-handle.ts'
import { SegmentStore } from './segment/segment-store.ts'
import { storedDocuments } from './stored-source.ts'
import { DensityWatch } from './tune/density-watch.ts'
import { NextParameters } from './tune/next-parameters.ts'
import type { PairList } from './tune/pair-list.ts'
import type { TuningOptions } from './tune/tuning-options.ts'

/** Document counts at which the very first segment is rebuilt with parameters that fit its documents. */
const tuningSizes = [1024, 4096]
const deadMarksPerFold = 4096
/** Shorter segments have small samples: choosing takes only a moment, so it need not be done ahead. */
const minChunksForEarlyChoice = 8

export interface MaintenanceContext {
  readonly documents: DocumentSource
  readonly geometry: Geometry
  /** Called anew for each segment: the choice may change at any time. */
  readonly tuning: () => TuningOptions
  /** Shared with the index, in ordinal order. */
  readonly handles: readonly SegmentHandle[]
  readonly ingest: StoredIngest
  readonly createOpenSegment: (firstOrdinal: number, parameters: SegmentParameters) => OpenSegment
  readonly sealed: SealedContext
  /** Schedules a call of run(). */
  readonly onDue: () => Promise<void>
}

export class Maintenance implements EarlySealer {
  readonly #context: MaintenanceContext
  readonly #deadMarks: number[] = []
  readonly #next: NextParameters
  readonly #segments: SegmentStore
  readonly #earlySeals: EarlySeals
  readonly #density = new DensityWatch()

  constructor(context: MaintenanceContext) {
    this.#context = context
    this.#next = new NextParameters(context.tuning, context.geometry.segmentDocuments)
    this.#segments = new SegmentStore(context.sealed, context.geometry)
    this.#earlySeals = EarlySeals.of(context.sealed.memory)
    this.#earlySeals.note(this)
  }

  /** True when run() has work to do. Cheap: checked after every batch. */
  get isDue(): boolean {
    return this.#context.handles.at(-1)?.isReady === false || this.isWorkDue
  }

  /** As isDue, apart from loading what the next document needs in memory. */
  get isWorkDue(): boolean {
    const { handles, geometry } = this.#context
    const last = handles.at(-1)
    if (last === undefined) return false
    return (
      (!last.isDamaged && last.segment.documents - last.checkpointed >= geometry.chunkDocuments) ||
      this.#isSealable(handles.length - 2) ||
      this.#isSealable(handles.length - 1) ||
      this.#isTuningDue(last) ||
      this.#deadMarks.length >= deadMarksPerFold
    )
  }

  /** Learns from a document just added to the last segment. */
  observeFlat(flat: FlatDocument): void {
    this.#next.observeFlat(flat)
    this.#watchDensity()
  }

  /** As observeFlat(), for a document added by its bytes. */
  readonly observe = (pairs: PairList): void => {
    this.#next.observePairs(pairs)
    this.#watchDensity()
  }

  #watchDensity(): void {
    const last = this.#context.handles.at(-1)
    const open = last?.open
    if (open === undefined || !this.#density.isTooDense(open)) return
    // Closing early costs a small segment, so require a minimum size first.
    if (open.documents < 2 * this.#context.geometry.chunkDocuments) return
    last!.isClosed = true
    this.#next.forgetChoice()
  }

  /** True when the next document has to be observed with all its pairs; otherwise noteUnobserved() suffices. */
  get wantsSample(): boolean {
    return this.#next.wantsSample
  }

  noteUnobserved(): void {
    this.#next.skip()
  }

  noteDead(ordinal: number): void {
    this.#deadMarks.push(ordinal)
  }

  /** True when the segment takes no more documents. */
  isComplete(handle: SegmentHandle): boolean {
    return handle.open === undefined || handle.open.isFull || handle.isClosed
  }

  /**
   * Whether the n-th segment has to be sealed now. While a rebuild replaces it, that waits until the next one has to be
   * stored: before it is sealed, no other segment can be.
   */
  #isSealable(n: number): boolean {
    const { handles, geometry } = this.#context
    const handle = handles[n]
    if (handle?.open === undefined || !this.isComplete(handle)) return false
    if (!handle.isBeingReplaced) return true
    return (handles[n + 1]?.segment.documents ?? 0) >= geometry.chunkDocuments || this.#isSealable(n + 1)
  }

  /** Returns the parameters of the next segment and starts a new sample. */
  nextParameters(previous: SegmentHandle): SegmentParameters {
    const parameters = this.#next.take(previous.segment)
    this.#next.sample(this.#isYoung(this.#context.handles.length) ? 'all' : 'segment')
    this.#density.begin()
    return parameters
  }

  /** Called before earlier segments are dropped, which may have shown what documents are like. */
  keepParameters(): void {
    const { handles } = this.#context
    if (!this.#isYoung(handles.length - 1)) handles.at(-1)!.tunings = tuningSizes.length
  }

  /** Loads what the next document needs into memory: the last segment, or the pairs that the next one begins with. */
  async prepare(): Promise<void> {
    await this.#context.handles.at(-1)?.prepare()
  }

  /**
   * Does the work due for the ordinals below `limit`, all of which are committed. Documents may be added afterwards.
   */
  async run(limit: number): Promise<void> {
    this.#earlySeals.note(this)
    await this.#earlySeals.makeRoom(this)
    await this.prepare()
    await this.#run(limit)
    await this.#chooseAhead()
    await this.prepare()
  }

  get canSealEarly(): boolean {
    const last = this.#context.handles.at(-1)
    return last?.open !== undefined && !last.isClosed && last.open.documents > maxYoungDocuments
  }

  sealEarly(): Promise<void> {
    this.#context.handles.at(-1)!.isClosed = true
    return this.#context.onDue()
  }

  async #run(limit: number): Promise<void> {
    const { handles } = this.#context
    for (const [i, handle] of handles.entries()) {
      if (this.#isSealable(i) && handle.endOrdinal <= limit) await this.#segments.seal(handle)
    }
    const last = this.#context.handles.at(-1)
    if (last?.open !== undefined) {
      if (this.#isTuningDue(last) && last.endOrdinal <= limit) await this.#tune(last)
      const { chunkDocuments } = this.#context.geometry
      const committed = Math.min(limit - last.firstOrdinal, last.open.documents)
      await this.#segments.checkpoint(last, Math.floor(committed / chunkDocuments) * chunkDocuments)
    }
    if (this.#deadMarks.length >= deadMarksPerFold) await this.foldDead()
  }

  /** Chooses the parameters of the next segment before a document needs it. */
  async #chooseAhead(): Promise<void> {
    const last = this.#context.handles.at(-1)
    if (last?.open !== undefined) {
      if (this.#isAlmostFull(last)) await this.#next.chooseAhead(last.open)
    } else if (last?.segment instanceof SealedSegment && last.isReady) await this.#next.adoptAhead(last.segment)
  }

  /** As run(), but leaves nothing for the next open to re-index, and chooses no parameters ahead. */
  async finish(limit: number): Promise<void> {
    for (const handle of this.#context.handles) handle.isBeingReplaced = false
    await this.#run(limit)
    const last = this.#context.handles.at(-1)
    if (last?.open !== undefined) {
      await this.#segments.checkpoint(last, Math.min(limit - last.firstOrdinal, last.open.documents))
    }
    await this.foldDead()
  }

  /** Frees the sample's memory. */
  close(): void {
    this.#earlySeals.delete(this)
    this.#next.close()
  }

  /** Continues with loaded segments: those that take their parameters from a whole segment are sampled sparsely. */
  resume(): void {
    const { handles } = this.#context
    const isFirst = handles.length === 1 && !(handles[0]!.segment instanceof SealedSegment)
    if (handles.length > 0 && !(isFirst && handles[0]!.tunings < tuningSizes.length)) {
      this.#next.sample('segment')
    }
  }

  #isTuningDue(handle: SegmentHandle): boolean {
    const size = this.#isYoung(this.#context.handles.length - 1) ? tuningSizes[handle.tunings] : undefined
    if (size === undefined || handle.open === undefined || handle.open.documents < size) return false
    // After a reopen only the documents added since can be sampled: wait until they are enough.
    return this.#next.hasSample && !this.isComplete(handle)
  }

  /** True when the sample covers so much of the segment that the rest would hardly change it. */
  #isAlmostFull({ open }: SegmentHandle): boolean {
    const { segmentDocuments, chunkDocuments } = this.#context.geometry
    if (open === undefined || open.isFull || segmentDocuments < minChunksForEarlyChoice * chunkDocuments) return false
    return open.documents >= segmentDocuments - chunkDocuments
  }

  /**
   * True while the segments before the n-th are rebuilt ones with too few documents to show what documents are like.
   */
  #isYoung(n: number): boolean {
    let documents = 0
    for (let i = 0; i < n && documents < tuningSizes.at(-1)!; i++) {
      const { segment, storedAt } = this.#context.handles[i]!
      documents += storedAt < firstRebuilt ? Number.POSITIVE_INFINITY : segment.documents
    }
    return documents < tuningSizes.at(-1)!
  }

  /** Rebuilds the segment from its documents, with parameters chosen from the sample. */
  async #tune(handle: SegmentHandle): Promise<void> {
    const { documents, createOpenSegment: createOpen, ingest } = this.#context
    const open = handle.open!
    const end = handle.endOrdinal
    const parameters = await this.#next.choose(open)
    await yieldIfTurnLong()
    const tuned = createOpen(handle.firstOrdinal, parameters)
    try {
      // Thousands of rows were allocated.
      await yieldIfTurnLong()
      const timeSlice = new TimeSlice()
      for await (const run of storedDocuments(documents, handle.firstOrdinal, end)) {
        for (const stored of run) {
          while (handle.firstOrdinal + tuned.documents < stored.ordinal) tuned.addUnknown()
          ingest.add(tuned, stored)
          if (timeSlice.isOver()) await timeSlice.renew()
        }
      }
      while (tuned.documents < open.documents) tuned.addUnknown()
      // Queries that have the old one may still need records that are about to be deleted.
      await open.tail.loadAll()
      // Without its record, a crash makes the segment be re-indexed; the old record would not match the new chunks.
      await this.#segments.clear(handle)
    } catch (error) {
      tuned.free()
      throw error
    }
    handle.segment = tuned
    while (handle.tunings < tuningSizes.length && end - handle.firstOrdinal >= tuningSizes[handle.tunings]!)
      handle.tunings++
    this.#density.begin(tuned)
    // Until the last choice every document is sampled; from then on, only what the next segment needs.
    if (handle.tunings === tuningSizes.length) this.#next.sample('segment')
    open.free()
  }

  /** Writes live bitmaps in place of the dead marks that deletions left. */
  async foldDead(): Promise<void> {
    if (this.#deadMarks.length === 0) return
    const marks = this.#deadMarks.splice(0)
    const writes: IndexWrite[] = marks.map((ordinal) => ({ key: indexKey(IndexArea.dead, ordinal), value: undefined }))
    // Of a segment that is not stored, a crash leaves only the documents that live.
    const stored = this.#context.handles.filter(({ checkpointed }) => checkpointed > 0)
    try {
      await this.#segments.write(writes, stored)
    } catch (error) {
      this.#deadMarks.push(...marks)
      throw error
    }
  }
}
