/**
 * An immutable segment: rows are read frame by frame when a query asks for them, and kept in the row cache.
 *
 * A frame that is missing or has the wrong size is damage. It never hides a document: its rows say nothing (`unknown`),
 * queries confirm more, and `isDamaged` has the index built again at the next open.
 */
import type { RowMemory } from '../bloom/kernels/index.ts'
import { PetalError } from '../model/errors.ts'
import type { IndexStore } from './document-index.ts'
import { sealedRowBytes, sealedRowsPerFrame } from './geometry.ts'
import { IndexArea, indexKey } from './index-keys.ts'
import type { PairHash } from './pair-hash.ts'
import { Tag } from './pair-tags.ts'
import { type HashedPair, PrivateTable } from './private-table.ts'
import { type FrameOwner, frameBytes, type RowCache } from './row-cache.ts'
import { decodeRow } from './row-codec.ts'
import type { Location, Segment } from './segment.ts'
import { ALL_DOCUMENTS, NO_DOCUMENT, type SegmentRecord } from './segment-record.ts'

export interface SealedContext {
  readonly memory: RowMemory
  readonly cache: RowCache
  readonly store: IndexStore
  readonly pairHash: PairHash
  /** Told once when damage is met. */
  readonly onDamage: (message: string) => void
}

export class SealedSegment implements Segment, FrameOwner {
  readonly record: SegmentRecord
  readonly rowBytes: number
  /** Slots of hashed frames first, then one per stored private row. */
  readonly slots: Uint32Array
  readonly #context: SealedContext
  readonly #table: PrivateTable
  readonly #rowsPerFrame: number
  readonly #hashedFrames: number
  readonly #damaged = new Set<number>()
  #isFreed = false

  constructor(context: SealedContext, record: SegmentRecord) {
    this.#context = context
    this.record = record
    this.rowBytes = sealedRowBytes(record.documents)
    this.#rowsPerFrame = sealedRowsPerFrame(record.documents)
    this.#hashedFrames = Math.ceil(record.shards / this.#rowsPerFrame)
    this.#table = new PrivateTable(record.pairs.map((pair) => context.pairHash.hash(pair)))
    const storedRows = record.rowOfSlot.reduce((most, row) => Math.max(most, row + 1), 0)
    this.slots = new Uint32Array(this.#hashedFrames + storedRows)
  }

  get firstOrdinal(): number {
    return this.record.firstOrdinal
  }

  get documents(): number {
    return this.record.documents
  }

  get shards(): number {
    return this.record.shards
  }

  get rowsPerPair(): number {
    return this.record.rowsPerPair
  }

  get alwaysCandidates(): readonly number[] {
    return this.record.alwaysCandidates
  }

  get hashedPairs(): number {
    return this.record.hashedPairs
  }

  privatePairs(): readonly HashedPair[] {
    return this.#table.pairs
  }

  locate(pair: HashedPair): Location {
    const slot = this.#table.find(pair.lo, pair.hi, pair.path, pair.tag, pair.key)
    if (slot >= 0) {
      return this.record.rowOfSlot[slot] === NO_DOCUMENT ? { kind: 'absent' } : { kind: 'private', slot }
    }
    if (pair.tag === Tag.irregular) return { kind: 'absent' }
    if (this.record.isShapeComplete && (pair.tag === Tag.exists || pair.tag === Tag.type)) return { kind: 'absent' }
    const rows = new Int32Array(this.rowsPerPair)
    this.#context.pairHash.rows(pair.lo, pair.hi, this.shards, rows)
    return { kind: 'hashed', rows }
  }

  load(location: Location): void | Promise<void> {
    if (location.kind === 'private') {
      const row = this.record.rowOfSlot[location.slot]!
      return row === ALL_DOCUMENTS ? undefined : this.#loadFrame(this.#hashedFrames + row)
    }
    if (location.kind !== 'hashed') return undefined
    let pending: Promise<void>[] | undefined
    for (const row of location.rows) {
      const loading = this.#loadFrame(Math.floor(row / this.#rowsPerFrame))
      if (loading !== undefined) {
        pending ??= []
        pending.push(loading)
      }
    }
    return pending === undefined ? undefined : Promise.all(pending).then(() => undefined)
  }

  privateRow(slot: number, scratch: number): number | undefined {
    const { memory, cache } = this.#context
    const row = this.record.rowOfSlot[slot]!
    if (row === ALL_DOCUMENTS || row === NO_DOCUMENT) {
      memory.kernels.fill(scratch, row === ALL_DOCUMENTS ? 0xff : 0, this.rowBytes)
      memory.kernels.clearFrom(scratch, this.documents, this.rowBytes)
      return scratch
    }
    const frame = this.#hashedFrames + row
    return this.#damaged.has(frame) ? undefined : cache.lookup(this, frame)
  }

  andHashed(rows: Int32Array, out: number): boolean | undefined {
    const { memory, cache } = this.#context
    const pointers = memory.push(rows.length * 4)
    let count = 0
    for (const row of rows) {
      const frame = Math.floor(row / this.#rowsPerFrame)
      if (this.#damaged.has(frame)) continue
      const address = cache.lookup(this, frame) + (row % this.#rowsPerFrame) * this.rowBytes
      memory.u32[(pointers >>> 2) + count++] = address
    }
    const isAnySet = memory.kernels.andRows(pointers, count, out, this.rowBytes)
    memory.pop(pointers)
    return count === 0 ? undefined : isAnySet !== 0
  }

  /** Drops the segment's frames from the cache; it takes no others. */
  free(): void {
    this.#isFreed = true
    this.#context.cache.release(this)
  }

  #loadFrame(frame: number): void | Promise<void> {
    const { cache, store } = this.#context
    if (cache.lookup(this, frame) !== 0 || this.#damaged.has(frame)) return undefined
    const key =
      frame < this.#hashedFrames
        ? indexKey(IndexArea.hashedRows, this.firstOrdinal, frame)
        : indexKey(IndexArea.privateRow, this.firstOrdinal, frame - this.#hashedFrames)
    const bytes = store.get(key)
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
      if (frame >= this.#hashedFrames) {
        if (decodeRow(bytes, memory, address, this.documents, this.rowBytes)) return
      } else if (bytes.length <= frameBytes && bytes.length === this.#frameLength(frame)) {
        memory.u8.set(bytes, address)
        return
      }
    }
    this.#damaged.add(frame)
    onDamage(`frame ${frame} of the segment at ordinal ${this.firstOrdinal} is ${bytes ? 'damaged' : 'missing'}`)
  }

  #frameLength(frame: number): number {
    const rows = Math.min(this.#rowsPerFrame, this.shards - frame * this.#rowsPerFrame)
    return rows * this.rowBytes
  }
}
