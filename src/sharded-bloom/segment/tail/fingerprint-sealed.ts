/**
 * The fingerprint tail of a sealed segment: directory frames with the offsets of the buckets, then frames of the
 * buckets. A lookup reads one of each; a bucket may cross the end of a frame.
 *
 * Invariant: a bucket lies within the stored bytes, whatever the directory says.
 */
import type { RowMemory } from '../../../bloom/kernels/index.ts'
import { IndexArea, indexKey } from '../../records/index-keys.ts'
import type { RowPart } from '../and-groups.ts'
import type { HashedPair } from '../private-table.ts'
import { frameBytes } from '../row-cache.ts'
import type { FingerprintRecord, SegmentRecord } from '../segment-record.ts'
import { allGroups } from '../upper-level.ts'
import { fingerprintOf } from './codec.ts'
import { bucketsPerFrame } from './seal-fingerprints.ts'
import type { SealedTail, TailFrames } from './tail.ts'

const frameShift = Math.log2(frameBytes)

export class FingerprintSealedTail implements SealedTail {
  readonly frameCount: number
  readonly #memory: RowMemory
  readonly #frames: TailFrames
  readonly #storedAt: number
  readonly #documents: number
  readonly #groupShift: number
  readonly #bits: number
  /** Bits of a code within its bucket. */
  readonly #width: number
  readonly #buckets: number
  readonly #bytes: number
  readonly #directoryFrames: number
  /** The bucket found last, and the code in it. */
  #from = 0
  #to = 0
  #code = 0

  constructor(memory: RowMemory, frames: TailFrames, record: SegmentRecord, fingerprints: FingerprintRecord) {
    const { bits, bucketBits, bytes } = fingerprints
    this.#memory = memory
    this.#frames = frames
    this.#storedAt = record.storedAt
    this.#documents = record.documents
    this.#groupShift = Math.log2(record.upper.groupDocuments)
    this.#bits = bits
    this.#width = bits - bucketBits
    this.#buckets = 2 ** bucketBits
    this.#bytes = bytes
    this.#directoryFrames = Math.ceil(this.#buckets / bucketsPerFrame)
    this.frameCount = this.#directoryFrames + Math.ceil(bytes / frameBytes)
  }

  keyOf(frame: number): Uint8Array {
    const number = frame - this.#directoryFrames
    return number < 0
      ? indexKey(IndexArea.buckets, this.#storedAt, frame)
      : indexKey(IndexArea.fingerprints, this.#storedAt, number)
  }

  place(frame: number, bytes: Uint8Array, address: number): boolean {
    if (frame < this.#directoryFrames) return this.#placeDirectory(frame, bytes, address)
    const from = (frame - this.#directoryFrames) * frameBytes
    if (bytes.length !== Math.min(frameBytes, this.#bytes - from)) return false
    this.#memory.u8.set(bytes, address)
    return true
  }

  #placeDirectory(frame: number, bytes: Uint8Array, address: number): boolean {
    const { u8, u32 } = this.#memory
    const buckets = Math.min(bucketsPerFrame, this.#buckets - frame * bucketsPerFrame)
    if (bytes.length !== 4 * (buckets + 1)) return false
    u8.set(bytes, address)
    const first = address >>> 2
    for (let i = 0; i < buckets; i++) if (u32[first + i]! > u32[first + i + 1]!) return false
    return u32[first + buckets]! <= this.#bytes
  }

  loadGroups(pair: HashedPair): void | Promise<void> {
    const loading = this.#frames.load(this.#directoryFrameOf(fingerprintOf(pair.lo, pair.hi, this.#bits)))
    return loading === undefined ? this.#loadBucket(pair) : loading.then(() => this.#loadBucket(pair))
  }

  #loadBucket(pair: HashedPair): void | Promise<void> {
    if (!this.#find(pair) || this.#from === this.#to) return undefined
    let pending: Promise<void>[] | undefined
    const last = (this.#to - 1) >>> frameShift
    for (let frame = this.#from >>> frameShift; frame <= last; frame++) {
      const loading = this.#frames.load(this.#directoryFrames + frame)
      if (loading !== undefined) {
        pending ??= []
        pending.push(loading)
      }
    }
    return pending === undefined ? undefined : Promise.all(pending).then(() => undefined)
  }

  /** Loads the same frames as loadGroups(): there are no others. */
  load(pair: HashedPair): void | Promise<void> {
    return this.loadGroups(pair)
  }

  groups(pair: HashedPair): number {
    if (!this.#find(pair)) return allGroups
    if (this.#from === this.#to) return 0
    const { kernels } = this.#memory
    const pointers = this.#pointToBucket()
    if (pointers === 0) return allGroups
    const from = this.#from & (frameBytes - 1)
    const to = from + this.#to - this.#from
    const groups = kernels.fingerprintGroups(
      pointers,
      from,
      to,
      this.#width,
      this.#code,
      this.#documents,
      this.#groupShift
    )
    this.#memory.pop(pointers)
    return groups
  }

  /** Returns the groups unchanged: they are exact already. */
  narrowGroups(_pair: HashedPair, groups: number): number {
    return groups
  }

  andHashed(pair: HashedPair, out: number, { from, length }: RowPart): boolean | undefined {
    this.#memory.kernels.fill(out + from, 0, length)
    return this.orHashed(pair, out)
  }

  /**
   * Sets the bits of the pair's documents, also beyond the part asked for: nobody reads them.
   * @returns whether there are any; undefined when the bucket is damaged or not in memory
   */
  orHashed(pair: HashedPair, out: number): boolean | undefined {
    if (!this.#find(pair)) return undefined
    if (this.#from === this.#to) return false
    const pointers = this.#pointToBucket()
    if (pointers === 0) return undefined
    const { kernels } = this.#memory
    const from = this.#from & (frameBytes - 1)
    const to = from + this.#to - this.#from
    const count = kernels.fingerprintPositions(pointers, from, to, this.#width, this.#code, this.#documents, out)
    this.#memory.pop(pointers)
    return count < 0 ? undefined : count > 0
  }

  #directoryFrameOf(code: number): number {
    return Math.floor((code >>> this.#width) / bucketsPerFrame)
  }

  /** Finds the pair's bucket; returns false when the directory frame is not in memory. */
  #find({ lo, hi }: HashedPair): boolean {
    const code = fingerprintOf(lo, hi, this.#bits)
    const frame = this.#directoryFrameOf(code)
    const address = this.#frames.addressOf(frame)
    if (address === 0) return false
    const { u32 } = this.#memory
    const at = (address >>> 2) + (code >>> this.#width) - frame * bucketsPerFrame
    this.#from = u32[at]!
    this.#to = u32[at + 1]!
    this.#code = code & (2 ** this.#width - 1)
    return true
  }

  /** Pushes the addresses of the found bucket's frames; returns 0 when one of them is not in memory. */
  #pointToBucket(): number {
    const memory = this.#memory
    const first = this.#from >>> frameShift
    const last = (this.#to - 1) >>> frameShift
    const pointers = memory.push(4 * (last - first + 1))
    for (let frame = first; frame <= last; frame++) {
      const address = this.#frames.addressOf(this.#directoryFrames + frame)
      if (address === 0) {
        memory.pop(pointers)
        return 0
      }
      memory.u32[(pointers >>> 2) + frame - first] = address
    }
    return pointers
  }
}
