/**
 * Adopts segments built elsewhere (bulk-segments.ts) into an index: provides the plan they are built by, decides when
 * ordinals may be reserved for them, and makes them part of the index.
 */
import type { BulkIndex, OrdinalRange } from '../document-index.ts'
import type { IndexParts } from '../index-parts.ts'
import type { Rebuilds } from '../rebuild/rebuilds.ts'
import type { IndexHeader } from '../records/index-header.ts'
import type { Geometry } from '../segment/geometry.ts'
import { LiveBitmap } from '../segment/live.ts'
import { SealedSegment } from '../segment/sealed-segment.ts'
import { SegmentHandle } from '../segment/segment-handle.ts'
import type { TuningOptions } from '../tune/tuning-options.ts'
import type { BuiltSegment, SegmentPlan } from './bulk-plan.ts'

/** The state of the open index. */
export interface AdoptingIndex {
  readonly parts: IndexParts
  readonly geometry: Geometry
  readonly tuning: TuningOptions
  readonly seeds: Pick<IndexHeader, 'seedLo' | 'seedHi'>
}

export class Adoption implements BulkIndex {
  /** Segments of the index, in ordinal order. */
  readonly #handles: SegmentHandle[]
  readonly #rebuilds: Pick<Rebuilds, 'isBuilding'>
  readonly #index: () => AdoptingIndex

  constructor(handles: SegmentHandle[], rebuilds: Pick<Rebuilds, 'isBuilding'>, index: () => AdoptingIndex) {
    this.#handles = handles
    this.#rebuilds = rebuilds
    this.#index = index
  }

  plan(): SegmentPlan | undefined {
    const { parts, geometry, tuning, seeds } = this.#index()
    if (parts.byteIngest === undefined) return undefined
    const { seedLo, seedHi } = seeds
    return { seedLo, seedHi, segmentDocuments: geometry.segmentDocuments, tuning }
  }

  get room(): number {
    const { parts, geometry } = this.#index()
    const { segmentDocuments } = geometry
    const last = this.#handles.at(-1)
    if (last === undefined) return 0
    if (last.segment instanceof SealedSegment || (last.open !== undefined && parts.maintenance.isComplete(last)))
      return 0
    return segmentDocuments - last.segment.documents
  }

  /** Not with an open segment, which continues with the next ordinal. */
  get mayReserve(): boolean {
    const last = this.#handles.at(-1)
    return (last === undefined || last.segment instanceof SealedSegment) && !this.#rebuilds.isBuilding
  }

  get isIdle(): boolean {
    return !this.#index().parts.maintenance.isWorkDue
  }

  /** Segments rebuilt meanwhile may span ordinals that no document had. */
  mayAdopt({ from, to }: OrdinalRange): boolean {
    if (this.#rebuilds.isBuilding) return false
    return !this.#handles.some(({ firstOrdinal, endOrdinal }) => firstOrdinal < to && from < endOrdinal)
  }

  adopt(segments: readonly BuiltSegment[]): void {
    const { parts, geometry } = this.#index()
    for (const { record, directoryBytes } of segments) {
      const live = new LiveBitmap(geometry.segmentDocuments)
      const handle = new SegmentHandle(new SealedSegment(parts.sealed, record), live)
      handle.bytes = record.bytes
      handle.directoryBytes = directoryBytes
      handle.checkpointed = record.documents
      handle.isLiveStored = true
      const place = this.#handles.findIndex(({ firstOrdinal }) => firstOrdinal > record.firstOrdinal)
      this.#handles.splice(place < 0 ? this.#handles.length : place, 0, handle)
    }
  }
}
