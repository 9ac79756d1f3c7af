/**
 * Rebuilds segments from their documents, while queries and writes go on.
 *
 * begin (nobody writes) → build (everybody does) → publish (nobody writes). Built segments coexist with those they
 * replace, and one batch makes the exchange.
 *
 * Invariants:
 * 1. Until that batch is applied, only the old segments count; a crash leaves leftovers, which are listed.
 * 2. Every document that is live at the exchange has a position in the built segments: those that die meanwhile are
 *    noted, and none is added below the end of the replaced ones.
 * 3. Every document keeps its ordinal.
 */
import { PetalError, throwIfAborted } from '../../model/errors.ts'
import { TimeSlice } from '../../model/time-slice.ts'
import type { SegmentPlan } from '../bulk/bulk-plan.ts'
import type { IndexRebuild, IndexStore, IndexWrite, RebuildProgress } from '../document-index.ts'
import { plainSpec } from '../ranges/column-spec.ts'
import { IndexArea, indexKey } from '../records/index-keys.ts'
import type { Geometry } from '../segment/geometry.ts'
import { LiveBitmap } from '../segment/live.ts'
import { consecutive, encodeOffsets, maxSpan, ofOffsets } from '../segment/position-map.ts'
import { type SealedContext, SealedSegment } from '../segment/sealed-segment.ts'
import { SegmentHandle } from '../segment/segment-handle.ts'
import { encodeSegmentRecord, type SegmentRecord } from '../segment/segment-record.ts'
import { buildSegment, type Following, type RebuiltSegment, type SegmentTask } from './build-segment.ts'
import type { Leftovers } from './leftovers.ts'
import type { Rebuilds } from './rebuilds.ts'
import { isWorthSending, type RemoteBuilder } from './remote-builder.ts'
import { SegmentBuilder, type SegmentBuilding } from './segment-builder.ts'

export interface RebuildContext extends SegmentBuilding {
  readonly sealed: SealedContext
  readonly geometry: Geometry
  readonly leftovers: Leftovers
  /** All ordinals below it are committed; those above it, of a failed batch, may be given to others after a reopen. */
  readonly limit: number
  /** Returns a number for a segment's records: see Rebuilds. */
  readonly takeNumber: (remote: RemoteBuilder | undefined) => Promise<number>
  /** See Rebuilds. */
  readonly replace: Rebuilds['replace']
  readonly onEnd: () => void
  readonly remote: RemoteBuilder | undefined
  /** The plan by which segments are built remotely; undefined if only this index can hash its pairs. */
  readonly plan: () => SegmentPlan | undefined
}

/** Ordinals from ≤ o < to, including documents that are in no segment yet. */
export interface RebuildRange {
  readonly from: number
  readonly to: number
  /** Returns how many documents of the range are in no replaced segment; undefined when that is not known. */
  readonly others: (() => number) | undefined
}

export class Rebuild implements IndexRebuild {
  readonly #context: RebuildContext
  readonly #store: IndexStore
  /** Consecutive; only the last one may be open, but it takes no more documents. */
  readonly #replaced: readonly SegmentHandle[]
  readonly #range: RebuildRange | undefined
  readonly #removed: number[] = []
  readonly #numbers: number[] = []
  readonly #handles: SegmentHandle[] = []
  readonly #directory: IndexWrite[] = []
  /** Whether the last segment was built remotely. */
  #isRemote = false
  #isPublished = false

  constructor(context: RebuildContext, replaced: readonly SegmentHandle[], range?: RebuildRange) {
    this.#context = context
    this.#store = context.sealed.store
    this.#replaced = replaced
    this.#range = range
    for (const handle of replaced) handle.isBeingReplaced = true
  }

  /** Notes that a document of the index was removed. */
  noteRemoved(ordinal: number): void {
    this.#removed.push(ordinal)
  }

  async build(signal?: AbortSignal, onProgress?: (progress: RebuildProgress) => void): Promise<void> {
    const last = this.#replaced.at(-1)
    const from = Math.min(this.#range?.from ?? Infinity, this.#replaced[0]?.firstOrdinal ?? Infinity)
    const to = Math.max(this.#range?.to ?? 0, Math.min(last?.endOrdinal ?? 0, this.#context.limit))
    if (from >= to) return
    const total = this.#expected() ?? 0
    const built: RebuiltSegment[] = []
    const builder = new SegmentBuilder(this.#context, { last: last?.segment })
    let documents = 0
    let reported = 0
    const report = (count: number): void => {
      // A segment that could not be built elsewhere is begun again.
      reported = Math.max(reported, documents + count)
      onProgress?.({ documents: reported, total })
    }
    let end = from
    try {
      for (let next: number | undefined = from; next !== undefined; ) {
        const task = { number: await this.#takeNumber(), end, from: next, to, left: Math.max(1, total - documents) }
        const following = { signal, onProgress: report }
        const segment: RebuiltSegment | undefined = await this.#build(builder, task, following)
        if (segment === undefined) break
        built.push(segment)
        documents += segment.record.documents
        report(0)
        end = segment.record.firstOrdinal + segment.offsets.at(-1)! + 1
        next = segment.next
      }
    } finally {
      builder.close()
    }
    await this.#prepare(built, to, signal)
    report(0)
  }

  async publish(): Promise<void> {
    if (this.#replaced.length === 0 && this.#handles.length === 0) return
    for (const ordinal of this.#removed) {
      const handle = this.#handles.find((each) => each.firstOrdinal <= ordinal && ordinal < each.endOrdinal)
      handle?.remove(ordinal)
    }
    const expected = this.#expected()
    const live = liveOf(this.#handles)
    if (expected !== undefined && live !== expected) {
      throw new PetalError('InternalError', `The index has ${expected} live documents, but the rebuild found ${live}`, {
        details: { expected, live }
      })
    }
    const lives = this.#handles.map((handle) => handle.liveWrite())
    await this.#context.replace(this.#replaced, this.#handles, this.#numbers, [...this.#directory, ...lives])
    for (const handle of this.#handles) handle.isLiveStored = true
    this.#isPublished = true
  }

  async end(): Promise<void> {
    this.#context.onEnd()
    if (this.#isPublished) return
    for (const handle of this.#replaced) handle.isBeingReplaced = false
    for (const { segment } of this.#handles) segment.free()
    try {
      for (const number of this.#numbers) await this.#context.leftovers.clear(number)
    } catch {
      // The segments stay on the list. The caller should get the error that prevented publishing.
    }
  }

  /** Number of documents that are live now; undefined when that is not known. */
  #expected(): number | undefined {
    const live = liveOf(this.#replaced)
    if (this.#range === undefined) return live
    return this.#range.others && live + this.#range.others()
  }

  /** Returns a number for a segment's records, and lists it: see Leftovers. */
  async #takeNumber(): Promise<number> {
    const { takeNumber, remote, leftovers } = this.#context
    const number = await takeNumber(remote)
    this.#numbers.push(number)
    await leftovers.add(number)
    return number
  }

  async #build(builder: SegmentBuilder, task: SegmentTask, following: Following): Promise<RebuiltSegment | undefined> {
    const { remote, geometry } = this.#context
    const plan = this.#context.plan()
    if (remote && plan && isWorthSending(task, geometry.segmentDocuments, !this.#isRemote)) {
      const columns = this.#replaced.at(-1)?.segment.columnSpecs.map(plainSpec) ?? []
      const segment = await remote.build({ task, plan, columns }, following)
      this.#isRemote = segment !== undefined
      if (segment !== undefined) return segment
    }
    return buildSegment(builder, this.#store, task, following)
  }

  /** Does everything but the exchange, so that publish() is short. */
  async #prepare(built: readonly RebuiltSegment[], to: number, signal: AbortSignal | undefined): Promise<void> {
    const { sealed, geometry } = this.#context
    const isQueried = this.#replaced.some(({ isReady }) => isReady)
    const timeSlice = new TimeSlice()
    for (const [i, { record: sealedRecord, offsets }] of built.entries()) {
      const { firstOrdinal, storedAt, documents } = sealedRecord
      const shortest = offsets[documents - 1]! + 1
      // Segments are adjacent: every open would search gaps between them for documents. Not so those of a range:
      // documents may be added between them.
      const end = this.#range === undefined ? (built[i + 1]?.record.firstOrdinal ?? to) : firstOrdinal + shortest
      const span = end - firstOrdinal <= maxSpan ? end - firstOrdinal : shortest
      const record: SegmentRecord = { ...sealedRecord, span }
      const map = span === documents ? undefined : encodeOffsets(offsets, span)
      if (map !== undefined) {
        await this.#store.write([{ key: indexKey(IndexArea.positions, storedAt), value: map }])
      }
      const value = encodeSegmentRecord(record)
      const positions = map === undefined ? consecutive(firstOrdinal) : ofOffsets(firstOrdinal, offsets)
      const live = new LiveBitmap(geometry.segmentDocuments)
      const handle = new SegmentHandle(new SealedSegment(sealed, record), live, positions)
      handle.bytes = record.bytes
      handle.directoryBytes = value.length + (map?.length ?? 0)
      handle.checkpointed = documents
      // The next query would have to prepare all of them in one turn.
      if (isQueried) await handle.prepare()
      this.#handles.push(handle)
      this.#directory.push({ key: indexKey(IndexArea.segment, firstOrdinal), value })
      if (timeSlice.isOver()) await timeSlice.renew()
      throwIfAborted(signal)
    }
  }
}

function liveOf(handles: readonly SegmentHandle[]): number {
  return handles.reduce((sum, { segment, live }) => sum + segment.documents - live.dead, 0)
}
