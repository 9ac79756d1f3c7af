/**
 * The open segment as the last process left it, known only by its record. When a query or a write first needs its rows,
 * they are read and an open segment takes its place.
 *
 * Damaged chunks hide nothing: the segment is rebuilt from its documents and, since the damage is noted, so is the
 * whole index at the next open.
 */
import type { RowMemory } from '../../bloom/kernels/index.ts'
import { PetalError } from '../../model/errors.ts'
import { TimeSlice } from '../../model/time-slice.ts'
import type { Document } from '../../model/types.ts'
import type { DocumentSource } from '../document-index.ts'
import type { FlatDocument } from '../pairs/flatten.ts'
import type { TaggedPair } from '../pairs/pair-tags.ts'
import type { ColumnSpec } from '../ranges/column-spec.ts'
import { restoreOpenSegment } from './checkpoint.ts'
import { EarlySeals } from './early-seals.ts'
import type { Geometry } from './geometry.ts'
import { indexClosed } from './index-closed.ts'
import { readOpenPairs } from './open-pairs.ts'
import { OpenSegment } from './open-segment.ts'
import type { HashedPair } from './private-table.ts'
import { RecordedSegment } from './recorded-segment.ts'
import type { SealedContext } from './sealed-segment.ts'
import type { Location, Segment } from './segment.ts'
import type { SegmentRecord } from './segment-record.ts'
import { allGroups } from './upper-level.ts'

export interface StoredContext {
  readonly sealed: SealedContext
  readonly geometry: Geometry
  readonly documents: DocumentSource
  readonly flatten: (document: Document) => FlatDocument
}

export interface RestoredSegment {
  readonly segment: OpenSegment
  /** Its chunk records are damaged. */
  readonly isDamaged: boolean
}

/** Until it is restored, its answers say that nothing is known. */
export class StoredSegment extends RecordedSegment implements Segment {
  readonly isReady = false
  readonly rowBytes: number
  readonly #context: StoredContext
  #isFreed = false

  constructor(context: StoredContext, record: SegmentRecord) {
    super(record)
    this.#context = context
    this.rowBytes = context.geometry.segmentDocuments / 8
  }

  /** @throws PetalError DatabaseNotOpen when it was freed meanwhile */
  async restore(): Promise<RestoredSegment> {
    const { memory } = this.#context.sealed
    await EarlySeals.of(memory).makeRoom()
    let isDamaged = false
    let segment: OpenSegment
    try {
      segment = await this.#read(memory)
    } catch (error) {
      if (!(error instanceof PetalError) || error.codeName !== 'IndexDamaged') throw error
      this.#context.sealed.onDamage(error.message)
      isDamaged = true
      segment = await this.#rebuild(memory)
    }
    if (!this.#isFreed) return { segment, isDamaged }
    segment.free()
    throw indexClosed()
  }

  prepare(): void {}

  get privatePairCount(): number {
    return this.record.storedPairs + this.record.pairs.length
  }

  privatePairs(): readonly HashedPair[] {
    return []
  }

  privateValues(): readonly never[] {
    return []
  }

  typePairs(): undefined {}

  get columnSpecs(): readonly ColumnSpec[] {
    return this.record.columnSpecs
  }

  rangeColumn(): undefined {}

  rangeColumns(): readonly never[] {
    return []
  }

  get upperFrames(): number {
    return this.record.upper.frames
  }

  locate(): Location {
    return { kind: 'unknown' }
  }

  loadGroups(): void {}

  groups(): number {
    return allGroups
  }

  load(): void {}

  privateRow(): undefined {}

  narrowGroups(_location: Location, groups: number): number {
    return groups
  }

  andHashed(): undefined {}

  free(): void {
    this.#isFreed = true
  }

  #read(memory: RowMemory): Promise<OpenSegment> {
    const { sealed, geometry } = this.#context
    const { store, pairHash, onDamage, cache } = sealed
    return restoreOpenSegment(this.record, {
      store,
      memory,
      geometry,
      pairHash,
      onDamage,
      onMiss: () => cache.misses++
    })
  }

  async #rebuild(memory: RowMemory): Promise<OpenSegment> {
    const { sealed, geometry, documents, flatten } = this.#context
    const { firstOrdinal, shards, rowsPerPair, crowdedPairs, columnSpecs } = this.record
    const privatePairs = (await this.#readablePairs()).map((pair) => sealed.pairHash.hash(pair))
    const { fingerprintBits } = this
    const tail = { shards, rowsPerPair, upperFrames: 0, fingerprintBits, crowdedPairs }
    const parameters = { ...tail, privatePairs, columns: columnSpecs }
    const segment = new OpenSegment(memory, geometry, sealed.pairHash, firstOrdinal, parameters)
    try {
      const timeSlice = new TimeSlice()
      for await (const [ordinal, document] of documents.read(firstOrdinal, firstOrdinal + this.documents)) {
        if (this.#isFreed) throw indexClosed()
        while (firstOrdinal + segment.documents < ordinal) segment.addUnknown()
        segment.add(flatten(document))
        if (timeSlice.isOver()) await timeSlice.renew()
      }
      while (segment.documents < this.documents) segment.addUnknown()
      return segment
    } catch (error) {
      segment.free()
      throw error
    }
  }

  /** None if they are damaged: documents are found without private rows, too. */
  async #readablePairs(): Promise<readonly TaggedPair[]> {
    try {
      return await readOpenPairs(this.#context.sealed.store, this.record)
    } catch (error) {
      if (!(error instanceof PetalError) || error.codeName !== 'IndexDamaged') throw error
      return []
    }
  }
}
