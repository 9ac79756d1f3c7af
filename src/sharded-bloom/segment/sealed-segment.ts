/**
 * An immutable segment: queries read its rows frame by frame, through the row cache.
 *
 * A frame that is missing or has the wrong size is damage. It never hides a document: its rows are `unknown`, queries
 * confirm more candidates, and `isDamaged` makes the next open rebuild the index.
 */
import type { RowMemory } from '../../bloom/kernels/index.ts'
import { PetalError } from '../../model/errors.ts'
import type { IndexStore } from '../document-index.ts'
import type { PairHash } from '../pairs/pair-hash.ts'
import { isValueTag, Tag, type TaggedPair } from '../pairs/pair-tags.ts'
import { framesOfKeys } from '../ranges/column-keys.ts'
import type { ColumnSpec } from '../ranges/column-spec.ts'
import { SealedColumn } from '../ranges/sealed-column.ts'
import { IndexArea, indexKey } from '../records/index-keys.ts'
import { readTransient } from '../records/read-transient.ts'
import type { RowPart } from './and-groups.ts'
import { rewriteEarlierPairTable } from './earlier-pair-table.ts'
import { sealedRowBytes } from './geometry.ts'
import { encodePairTable, PairTable } from './pair-table.ts'
import type { HashedPair } from './private-table.ts'
import { RecordedSegment } from './recorded-segment.ts'
import { frameBytes, type RowCache } from './row-cache.ts'
import { ALL_DOCUMENTS, decodeRow, NO_DOCUMENT } from './row-codec.ts'
import { absent, type HashedLocation, type Location, type Segment } from './segment.ts'
import { type FrameSource, SegmentFrames } from './segment-frames.ts'
import type { SegmentRecord } from './segment-record.ts'
import { createSealedTail } from './tail/create-tail.ts'
import type { SealedTail } from './tail/tail.ts'
import { allGroups } from './upper-level.ts'

const unknown: Location = { kind: 'unknown' }

export interface SealedContext {
  readonly memory: RowMemory
  readonly cache: RowCache
  readonly store: IndexStore
  readonly pairHash: PairHash
  /** Called when damage is found. */
  readonly onDamage: (message: string) => void
}

export class SealedSegment extends RecordedSegment implements Segment, FrameSource {
  readonly rowBytes: number
  readonly upperFrames: number
  readonly #context: SealedContext
  /** undefined until loaded, and when damaged. */
  #table: PairTable | undefined
  #isTableDamaged = false
  /** Frames of the tail first, then one per stored row, then those of column keys. */
  readonly #frames: SegmentFrames
  readonly #tail: SealedTail
  readonly #rowStart: number
  readonly #keyStart: number
  readonly #isShapeComplete: boolean
  /** Made when first asked for: opening meets a dozen per segment, and many queries need none. */
  #madeColumns: readonly SealedColumn[] | undefined

  constructor(context: SealedContext, record: SegmentRecord) {
    super(record)
    this.#context = context
    this.rowBytes = sealedRowBytes(record.documents)
    this.upperFrames = record.upper.frames
    this.#isShapeComplete = record.isShapeComplete
    this.#frames = new SegmentFrames(context, this)
    this.#tail = createSealedTail(context.memory, context.pairHash, this.#frames, record)
    const keyFrames = record.columns.reduce(
      (most, { firstKeys, keys }) => Math.max(most, firstKeys + framesOfKeys(keys)),
      0
    )
    this.#rowStart = this.#tail.frameCount
    this.#keyStart = this.#rowStart + record.storedRows
    this.#frames.begin(this.#keyStart + keyFrames)
  }

  get privatePairCount(): number {
    return this.record.storedPairs + this.record.pairs.length
  }

  privatePairs(): readonly HashedPair[] {
    return this.#ask((table) => table.pairs(this.#context.pairHash)) ?? []
  }

  /** As privatePairs(), in steps. */
  *privatePairSteps(): Generator<void, readonly HashedPair[]> {
    try {
      return this.#table === undefined ? [] : yield* this.#table.pairSteps(this.#context.pairHash)
    } catch (error) {
      this.#noteMalformed(error)
      return []
    }
  }

  privateValues(path: string): readonly TaggedPair[] {
    return this.#ask((table) => table.pairsOn(path).filter(({ tag }) => isValueTag(tag))) ?? []
  }

  typePairs(): readonly TaggedPair[] | undefined {
    if (!this.#isShapeComplete || this.alwaysCandidates.length > 0) return undefined
    return this.#ask((table) => table.typePairs())
  }

  get columnSpecs(): readonly ColumnSpec[] {
    return this.record.columns
  }

  get #columns(): readonly SealedColumn[] {
    const { record } = this
    this.#madeColumns ??= record.columns.map((column) => new SealedColumn(this.#context.memory, this, record, column))
    return this.#madeColumns
  }

  rangeColumn(path: string, type: number): SealedColumn | undefined {
    return this.#columns.find(({ record }) => record.type === type && record.path === path)
  }

  rangeColumns(path: string): readonly SealedColumn[] {
    return this.#columns.filter(({ record }) => record.path === path)
  }

  get isReady(): boolean {
    return this.#table !== undefined || this.#isTableDamaged
  }

  prepare(): void | Promise<void> {
    if (this.isReady) return undefined
    const { pairHash, store } = this.#context
    const { pairs, rowOfSlot, storedAt, storedPairs, storedRows } = this.record
    if (storedPairs === 0) {
      const hashed = pairs.map((pair) => pairHash.hash(pair))
      this.#table = PairTable.decode(encodePairTable(hashed, rowOfSlot), pairs.length, storedRows)
      return undefined
    }
    const bytes = readTransient(store, indexKey(IndexArea.pairTable, storedAt))
    if (bytes instanceof Promise) return bytes.then((value) => this.#readTable(value))
    return this.#readTable(bytes)
  }

  #readTable(bytes: Uint8Array | undefined): void {
    this.#table = bytes && this.#decodeTable(bytes)
    if (this.#table === undefined) this.#noteDamage(bytes ? 'damaged' : 'missing')
  }

  #noteDamage(what: 'damaged' | 'missing'): void {
    this.#table = undefined
    if (this.#isTableDamaged) return
    this.#isTableDamaged = true
    this.#context.onDamage(`the private pairs of the segment at ordinal ${this.firstOrdinal} are ${what}`)
  }

  /** Undefined if there is no table; there is none from the moment on when a text in it turns out to be malformed. */
  #ask<T>(question: (table: PairTable) => T): T | undefined {
    if (this.#table === undefined) return undefined
    try {
      return question(this.#table)
    } catch (error) {
      this.#noteMalformed(error)
      return undefined
    }
  }

  #noteMalformed(error: unknown): void {
    if (!(error instanceof PetalError) || error.codeName !== 'IndexDamaged') throw error
    this.#noteDamage('damaged')
  }

  #decodeTable(bytes: Uint8Array): PairTable | undefined {
    const { storedPairs, storedPaths: paths, storedRows } = this.record
    const table = paths === undefined ? rewriteEarlierPairTable(bytes, storedPairs) : { bytes, paths }
    return table && PairTable.decode(table, storedPairs, storedRows)
  }

  locate(pair: HashedPair, hashed?: HashedLocation): Location {
    if (this.#table === undefined) return unknown
    let row: number | undefined
    // As #ask(), but without a function made for each of the many calls.
    try {
      row = this.#table.find(pair)
    } catch (error) {
      this.#noteMalformed(error)
      return unknown
    }
    if (row !== undefined) return row === NO_DOCUMENT ? absent : { kind: 'private', slot: row }
    if (pair.tag === Tag.irregular) return absent
    if (this.#isShapeComplete && (pair.tag === Tag.exists || pair.tag === Tag.type)) return absent
    return hashed ?? { kind: 'hashed', pair }
  }

  loadGroups(location: Location): void | Promise<void> {
    return location.kind === 'hashed' ? this.#tail.loadGroups(location.pair) : undefined
  }

  groups(location: Location): number {
    return location.kind === 'hashed' ? this.#tail.groups(location.pair) : location.kind === 'absent' ? 0 : allGroups
  }

  load(location: Location): void | Promise<void> {
    if (location.kind === 'private') return this.loadRow(location.slot)
    return location.kind === 'hashed' ? this.#tail.load(location.pair) : undefined
  }

  privateRow(row: number, scratch: number, part: RowPart): number | undefined {
    return this.row(row, scratch, part)
  }

  loadRow(row: number): void | Promise<void> {
    return row < 0 ? undefined : this.#frames.load(this.#rowStart + row)
  }

  row(row: number, scratch: number, { from, length }: RowPart): number | undefined {
    const { memory } = this.#context
    if (row === ALL_DOCUMENTS || row === NO_DOCUMENT) {
      memory.kernels.fill(scratch + from, row === ALL_DOCUMENTS ? 0xff : 0, length)
      memory.kernels.clearFrom(scratch + from, Math.max(0, this.documents - from * 8), length)
      return scratch
    }
    return this.#frames.addressOf(this.#rowStart + row) || undefined
  }

  loadKeys(frame: number): void | Promise<void> {
    return this.#frames.load(this.#keyStart + frame)
  }

  keys(frame: number): number | undefined {
    return this.#frames.addressOf(this.#keyStart + frame) || undefined
  }

  narrowGroups(location: HashedLocation, groups: number): number {
    return this.#tail.narrowGroups(location.pair, groups)
  }

  andHashed(location: HashedLocation, out: number, part: RowPart): boolean | undefined {
    return this.#tail.andHashed(location.pair, out, part)
  }

  keyOf(frame: number): Uint8Array {
    if (frame < this.#rowStart) return this.#tail.keyOf(frame)
    const { storedAt } = this.record
    return frame < this.#keyStart
      ? indexKey(IndexArea.privateRow, storedAt, frame - this.#rowStart)
      : indexKey(IndexArea.columnKeys, storedAt, frame - this.#keyStart)
  }

  place(frame: number, bytes: Uint8Array, address: number): boolean {
    if (frame < this.#rowStart) return this.#tail.place(frame, bytes, address)
    const { memory } = this.#context
    if (frame < this.#keyStart) return decodeRow(bytes, memory, address, this.documents, this.rowBytes)
    if (bytes.length > frameBytes || bytes.length % 8 !== 0) return false
    memory.kernels.fill(address, 0, frameBytes)
    memory.u8.set(bytes, address)
    return true
  }

  /** Drops the segment's frames from the cache; no more are inserted. */
  free(): void {
    this.#frames.free()
  }
}
