/**
 * An immutable segment: rows are read frame by frame when a query asks for them, and kept in the row cache.
 *
 * A frame that is missing or has the wrong size is damage. It never hides a document: its rows say nothing (`unknown`),
 * queries confirm more, and `isDamaged` has the index built again at the next open.
 */
import type { RowMemory } from '../../bloom/kernels/index.ts'
import { PetalError } from '../../model/errors.ts'
import type { IndexStore } from '../document-index.ts'
import type { PairHash } from '../pairs/pair-hash.ts'
import { Tag } from '../pairs/pair-tags.ts'
import { framesOfKeys } from '../ranges/column-keys.ts'
import type { ColumnSpec } from '../ranges/column-spec.ts'
import { SealedColumn } from '../ranges/sealed-column.ts'
import { IndexArea, indexKey } from '../records/index-keys.ts'
import { andGroups, areSparse, type RowPart } from './and-groups.ts'
import { sealedRowBytes, sealedRowsPerFrame } from './geometry.ts'
import { encodePairTable, PairTable } from './pair-table.ts'
import type { HashedPair } from './private-table.ts'
import { RecordedSegment } from './recorded-segment.ts'
import { type FrameOwner, frameBytes, type RowCache } from './row-cache.ts'
import { ALL_DOCUMENTS, decodeRow, NO_DOCUMENT } from './row-codec.ts'
import type { HashedLocation, Location, Segment } from './segment.ts'
import type { SegmentRecord } from './segment-record.ts'
import { allGroups, frameOfPair, groupsOfPair } from './upper-level.ts'

export interface SealedContext {
  readonly memory: RowMemory
  readonly cache: RowCache
  readonly store: IndexStore
  readonly pairHash: PairHash
  /** Told once when damage is met. */
  readonly onDamage: (message: string) => void
}

export class SealedSegment extends RecordedSegment implements Segment, FrameOwner {
  readonly rowBytes: number
  readonly upperFrames: number
  /** Slots of hashed frames first, then one per stored row, then the frames of column keys and of the upper level. */
  readonly slots: Uint32Array
  readonly #context: SealedContext
  /** undefined until it is loaded, and where it is damaged. */
  #table: PairTable | undefined
  #isTableDamaged = false
  readonly #rowsPerFrame: number
  readonly #hashedFrames: number
  readonly #storedRows: number
  readonly #upperStart: number
  readonly #unknownGroups: number
  readonly #isShapeComplete: boolean
  readonly #columns: readonly SealedColumn[]
  readonly #damaged = new Set<number>()
  readonly #rowNumbers: Int32Array
  #isFreed = false

  constructor(context: SealedContext, record: SegmentRecord) {
    super(record)
    this.#context = context
    this.rowBytes = sealedRowBytes(record.documents)
    this.#rowNumbers = new Int32Array(record.rowsPerPair)
    this.#rowsPerFrame = sealedRowsPerFrame(record.documents)
    this.#hashedFrames = Math.ceil(record.shards / this.#rowsPerFrame)
    this.#columns = record.columns.map((column) => new SealedColumn(context.memory, this, record, column))
    const keyFrames = record.columns.reduce(
      (most, { firstKeys, keys }) => Math.max(most, firstKeys + framesOfKeys(keys)),
      0
    )
    this.#storedRows = record.storedRows
    this.#upperStart = this.#hashedFrames + record.storedRows + keyFrames
    this.upperFrames = record.upper.frames
    this.#unknownGroups = record.upper.unknownGroups
    this.#isShapeComplete = record.isShapeComplete
    this.slots = new Uint32Array(this.#upperStart + record.upper.frames)
  }

  get privatePairCount(): number {
    return this.record.storedPairs + this.record.pairs.length
  }

  privatePairs(): readonly HashedPair[] {
    return this.#table?.pairs(this.#context.pairHash) ?? []
  }

  get columnSpecs(): readonly ColumnSpec[] {
    return this.record.columns
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
    const { pairs, rowOfSlot, storedAt, storedPairs } = this.record
    if (storedPairs === 0) {
      const hashed = pairs.map((pair) => pairHash.hash(pair))
      this.#table = PairTable.decode(encodePairTable(hashed, rowOfSlot), pairs.length)
      return undefined
    }
    const bytes = store.get(indexKey(IndexArea.pairTable, storedAt))
    if (bytes instanceof Promise) return bytes.then((value) => this.#readTable(value))
    return this.#readTable(bytes)
  }

  #readTable(bytes: Uint8Array | undefined): void {
    this.#table = bytes && PairTable.decode(bytes, this.record.storedPairs)
    if (this.#table !== undefined || this.#isTableDamaged) return
    this.#isTableDamaged = true
    const { onDamage } = this.#context
    onDamage(`the private pairs of the segment at ordinal ${this.firstOrdinal} are ${bytes ? 'damaged' : 'missing'}`)
  }

  locate(pair: HashedPair): Location {
    if (this.#table === undefined) return { kind: 'unknown' }
    const row = this.#table.find(pair)
    if (row !== undefined) return row === NO_DOCUMENT ? { kind: 'absent' } : { kind: 'private', slot: row }
    if (pair.tag === Tag.irregular) return { kind: 'absent' }
    if (this.#isShapeComplete && (pair.tag === Tag.exists || pair.tag === Tag.type)) return { kind: 'absent' }
    return { kind: 'hashed', pair }
  }

  loadGroups(location: Location): void | Promise<void> {
    const frame = this.#upperFrame(location)
    return frame === undefined ? undefined : this.#loadFrame(frame)
  }

  groups(location: Location): number {
    return location.kind === 'hashed' ? this.#groupsOf(location) : location.kind === 'absent' ? 0 : allGroups
  }

  #groupsOf(location: HashedLocation): number {
    const frame = this.#upperFrame(location)
    if (frame === undefined || this.#damaged.has(frame)) return allGroups
    const { memory, cache } = this.#context
    const address = cache.lookup(this, frame)
    if (address === 0) return allGroups
    const { lo, hi } = location.pair
    return groupsOfPair(memory.u32, address, lo, hi) | this.#unknownGroups
  }

  /** Valid until the next call. */
  #rowsOf({ lo, hi }: HashedPair): Int32Array {
    this.#context.pairHash.rows(lo, hi, this.shards, this.#rowNumbers)
    return this.#rowNumbers
  }

  /** Where the pair's words are; only values and sizes are in the upper level. */
  #upperFrame(location: Location): number | undefined {
    if (location.kind !== 'hashed' || this.upperFrames === 0 || location.pair.tag > Tag.size) return undefined
    return this.#upperStart + frameOfPair(location.pair.lo, location.pair.hi, this.upperFrames)
  }

  load(location: Location): void | Promise<void> {
    if (location.kind === 'private') return this.loadRow(location.slot)
    if (location.kind !== 'hashed' || this.#groupsOf(location) === 0) return undefined
    let pending: Promise<void>[] | undefined
    for (const row of this.#rowsOf(location.pair)) {
      const loading = this.#loadFrame(Math.floor(row / this.#rowsPerFrame))
      if (loading !== undefined) {
        pending ??= []
        pending.push(loading)
      }
    }
    return pending === undefined ? undefined : Promise.all(pending).then(() => undefined)
  }

  privateRow(row: number, scratch: number): number | undefined {
    return this.row(row, scratch, { groups: allGroups, from: 0, length: this.rowBytes })
  }

  loadRow(row: number): void | Promise<void> {
    return row < 0 ? undefined : this.#loadFrame(this.#hashedFrames + row)
  }

  row(row: number, scratch: number, { from, length }: RowPart): number | undefined {
    const { memory } = this.#context
    if (row === ALL_DOCUMENTS || row === NO_DOCUMENT) {
      memory.kernels.fill(scratch + from, row === ALL_DOCUMENTS ? 0xff : 0, length)
      memory.kernels.clearFrom(scratch + from, Math.max(0, this.documents - from * 8), length)
      return scratch
    }
    return this.#addressOf(this.#hashedFrames + row)
  }

  loadKeys(frame: number): void | Promise<void> {
    return this.#loadFrame(this.#hashedFrames + this.#storedRows + frame)
  }

  keys(frame: number): number | undefined {
    return this.#addressOf(this.#hashedFrames + this.#storedRows + frame)
  }

  #addressOf(frame: number): number | undefined {
    return this.#damaged.has(frame) ? undefined : this.#context.cache.lookup(this, frame) || undefined
  }

  andHashed(location: HashedLocation, out: number, { groups: asked, from, length }: RowPart): boolean | undefined {
    const { memory } = this.#context
    const groups = this.#groupsOf(location) & asked
    if (groups === 0) return false
    const pointers = memory.push(this.rowsPerPair * 4)
    const isSparse = areSparse(groups, this.groupDocuments)
    const count = this.#pointTo(location.pair, pointers, isSparse ? 0 : from)
    let isAnySet: boolean
    if (isSparse) {
      memory.kernels.fill(out + from, 0, length)
      isAnySet = andGroups(memory, { pointers, count, bytes: this.rowBytes }, groups, this.groupDocuments, out)
    } else {
      isAnySet = memory.kernels.andRows(pointers, count, out + from, length) !== 0
    }
    memory.pop(pointers)
    return count === 0 ? undefined : isAnySet
  }

  narrowed(location: HashedLocation, groups: number): number {
    const { memory } = this.#context
    const pointers = memory.push(this.rowsPerPair * 4)
    const count = this.#pointTo(location.pair, pointers, 0)
    const narrowed = memory.kernels.groupsWithBits(pointers, count, groups, this.groupDocuments / 8, this.rowBytes)
    memory.pop(pointers)
    return narrowed
  }

  /** Writes the addresses of the pair's rows that are in memory, and so many bytes beyond; returns how many. */
  #pointTo(pair: HashedPair, pointers: number, offset: number): number {
    const { memory, cache } = this.#context
    const rows = this.#rowsOf(pair)
    let count = 0
    for (let i = 0; i < rows.length; i++) {
      const row = rows[i]!
      const frame = Math.floor(row / this.#rowsPerFrame)
      const address = this.#damaged.size > 0 && this.#damaged.has(frame) ? 0 : cache.lookup(this, frame)
      if (address === 0) continue
      memory.u32[(pointers >>> 2) + count++] = address + (row % this.#rowsPerFrame) * this.rowBytes + offset
    }
    return count
  }

  /** Drops the segment's frames from the cache; it takes no others. */
  free(): void {
    this.#isFreed = true
    this.#context.cache.release(this)
  }

  #loadFrame(frame: number): void | Promise<void> {
    const { cache, store } = this.#context
    if (cache.lookup(this, frame) !== 0 || this.#damaged.has(frame)) return undefined
    const bytes = store.get(this.#keyOf(frame))
    if (bytes instanceof Promise) return bytes.then((value) => this.#place(frame, value))
    this.#place(frame, bytes)
    return undefined
  }

  #place(frame: number, bytes: Uint8Array | undefined): void {
    const { cache, memory, onDamage } = this.#context
    if (this.#isFreed) throw new PetalError('DatabaseNotOpen', 'The index was closed while its rows were being read')
    // Two queries may have asked for the same frame at the same time.
    if (this.slots[frame] !== 0) return
    if (bytes !== undefined) {
      const address = cache.insert(this, frame)
      if (frame >= this.#upperStart) {
        if (bytes.length === frameBytes) {
          memory.u8.set(bytes, address)
          return
        }
      } else if (frame >= this.#hashedFrames + this.#storedRows) {
        if (bytes.length <= frameBytes && bytes.length % 8 === 0) {
          memory.kernels.fill(address, 0, frameBytes)
          memory.u8.set(bytes, address)
          return
        }
      } else if (frame >= this.#hashedFrames) {
        if (decodeRow(bytes, memory, address, this.documents, this.rowBytes)) return
      } else if (bytes.length <= frameBytes && bytes.length === this.#frameLength(frame)) {
        memory.u8.set(bytes, address)
        return
      }
    }
    this.#damaged.add(frame)
    onDamage(`frame ${frame} of the segment at ordinal ${this.firstOrdinal} is ${bytes ? 'damaged' : 'missing'}`)
  }

  #keyOf(frame: number): Uint8Array {
    const { storedAt } = this.record
    const row = frame - this.#hashedFrames
    if (row < 0) return indexKey(IndexArea.hashedRows, storedAt, frame)
    if (frame >= this.#upperStart) return indexKey(IndexArea.upperLevel, storedAt, frame - this.#upperStart)
    if (row < this.#storedRows) return indexKey(IndexArea.privateRow, storedAt, row)
    return indexKey(IndexArea.columnKeys, storedAt, row - this.#storedRows)
  }

  #frameLength(frame: number): number {
    const rows = Math.min(this.#rowsPerFrame, this.shards - frame * this.#rowsPerFrame)
    return rows * this.rowBytes
  }
}
