/** The Bloom tail of a sealed segment: frames of hashed rows first, then those of the upper level. */
import type { RowMemory } from '../../../bloom/kernels/index.ts'
import type { PairHash } from '../../pairs/pair-hash.ts'
import { Tag } from '../../pairs/pair-tags.ts'
import { IndexArea, indexKey } from '../../records/index-keys.ts'
import { andGroups, areSparse, type RowPart } from '../and-groups.ts'
import { sealedRowBytes, sealedRowsPerFrame } from '../geometry.ts'
import type { HashedPair } from '../private-table.ts'
import { frameBytes } from '../row-cache.ts'
import type { SegmentRecord } from '../segment-record.ts'
import { allGroups, frameOfPair, groupsOfPair } from '../upper-level.ts'
import type { SealedTail, TailFrames } from './tail.ts'

export class BloomSealedTail implements SealedTail {
  readonly frameCount: number
  readonly #memory: RowMemory
  readonly #pairHash: PairHash
  readonly #frames: TailFrames
  readonly #storedAt: number
  readonly #shards: number
  readonly #rowBytes: number
  readonly #rowsPerFrame: number
  readonly #hashedFrames: number
  readonly #upperFrames: number
  readonly #groupDocuments: number
  readonly #unknownGroups: number
  readonly #rowNumbers: Int32Array
  /** One of the rows last pointed to that is not in memory, as a frame number, or −1. */
  #absentFrame = -1

  constructor(memory: RowMemory, pairHash: PairHash, frames: TailFrames, record: SegmentRecord) {
    const { documents, shards, rowsPerPair, storedAt, upper } = record
    this.#memory = memory
    this.#pairHash = pairHash
    this.#frames = frames
    this.#storedAt = storedAt
    this.#shards = shards
    this.#rowBytes = sealedRowBytes(documents)
    this.#rowsPerFrame = sealedRowsPerFrame(documents)
    this.#hashedFrames = Math.ceil(shards / this.#rowsPerFrame)
    this.#upperFrames = upper.frames
    this.#groupDocuments = upper.groupDocuments
    this.#unknownGroups = upper.unknownGroups
    this.#rowNumbers = new Int32Array(rowsPerPair)
    this.frameCount = this.#hashedFrames + upper.frames
  }

  keyOf(frame: number): Uint8Array {
    const upper = frame - this.#hashedFrames
    return upper < 0
      ? indexKey(IndexArea.hashedRows, this.#storedAt, frame)
      : indexKey(IndexArea.upperLevel, this.#storedAt, upper)
  }

  place(frame: number, bytes: Uint8Array, address: number): boolean {
    const length = frame < this.#hashedFrames ? this.#rowsIn(frame) * this.#rowBytes : frameBytes
    if (bytes.length !== length) return false
    this.#memory.u8.set(bytes, address)
    return true
  }

  #rowsIn(frame: number): number {
    return Math.min(this.#rowsPerFrame, this.#shards - frame * this.#rowsPerFrame)
  }

  loadGroups(pair: HashedPair): void | Promise<void> {
    const frame = this.#upperFrame(pair)
    return frame < 0 ? undefined : this.#frames.load(frame)
  }

  groups(pair: HashedPair): number {
    const frame = this.#upperFrame(pair)
    if (frame < 0) return allGroups
    const address = this.#frames.addressOf(frame)
    if (address === 0) return allGroups
    return groupsOfPair(this.#memory.u32, address, pair.lo, pair.hi) | this.#unknownGroups
  }

  /** The frame of the pair's upper-level words, or −1; only values and sizes are in the upper level. */
  #upperFrame({ tag, lo, hi }: HashedPair): number {
    if (this.#upperFrames === 0 || tag > Tag.size) return -1
    return this.#hashedFrames + frameOfPair(lo, hi, this.#upperFrames)
  }

  load(pair: HashedPair): void | Promise<void> {
    const groups = this.groups(pair)
    if (groups === 0) return undefined
    const isSparse = areSparse(groups, this.#groupDocuments)
    let pending: Promise<void>[] | undefined
    for (const row of this.#rowsOf(pair)) {
      const frame = Math.floor(row / this.#rowsPerFrame)
      if (this.#frames.pin(frame)) continue
      // The rows in memory may already leave no document.
      if (isSparse && this.narrowGroups(pair, groups) === 0) break
      const loading = this.#frames.load(frame)
      if (loading !== undefined) {
        pending ??= []
        pending.push(loading)
      }
    }
    return pending === undefined ? undefined : Promise.all(pending).then(() => undefined)
  }

  narrowGroups(pair: HashedPair, groups: number): number {
    const memory = this.#memory
    const pointers = memory.push(this.#rowNumbers.length * 4)
    const count = this.#pointTo(pair, pointers, 0)
    const narrowed = memory.kernels.groupsWithBits(pointers, count, groups, this.#groupDocuments / 8, this.#rowBytes)
    memory.pop(pointers)
    return narrowed
  }

  andHashed(pair: HashedPair, out: number, { groups: asked, from, length }: RowPart): boolean | undefined {
    const memory = this.#memory
    const groups = this.groups(pair) & asked
    if (groups === 0) return false
    const pointers = memory.push(this.#rowNumbers.length * 4)
    const isSparse = areSparse(groups, this.#groupDocuments)
    const count = this.#pointTo(pair, pointers, isSparse ? 0 : from)
    let isAnySet: boolean
    if (isSparse) {
      memory.kernels.fill(out + from, 0, length)
      isAnySet = andGroups(memory, { pointers, count, bytes: this.#rowBytes }, groups, this.#groupDocuments, out)
    } else {
      isAnySet = memory.kernels.andRows(pointers, count, out + from, length) !== 0
    }
    memory.pop(pointers)
    // A row that is not in memory counts as a cache miss only if it could still clear bits.
    if (isAnySet && this.#absentFrame >= 0) this.#frames.addressOf(this.#absentFrame)
    return count === 0 ? undefined : isAnySet
  }

  /** Writes the addresses, plus `offset`, of the pair's rows that are in memory; returns how many. */
  #pointTo(pair: HashedPair, pointers: number, offset: number): number {
    const { u32 } = this.#memory
    const rows = this.#rowsOf(pair)
    this.#absentFrame = -1
    let count = 0
    for (let i = 0; i < rows.length; i++) {
      const row = rows[i]!
      const frame = Math.floor(row / this.#rowsPerFrame)
      const address = this.#frames.has(frame) ? this.#frames.addressOf(frame) : 0
      if (address === 0) {
        this.#absentFrame = frame
        continue
      }
      u32[(pointers >>> 2) + count++] = address + (row % this.#rowsPerFrame) * this.#rowBytes + offset
    }
    return count
  }

  /** Valid until the next call. */
  #rowsOf({ lo, hi }: HashedPair): Int32Array {
    this.#pairHash.rows(lo, hi, this.#shards, this.#rowNumbers)
    return this.#rowNumbers
  }
}
