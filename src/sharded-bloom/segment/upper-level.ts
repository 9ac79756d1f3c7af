/**
 * The upper level of a segment: for each of 32 groups of consecutive documents a Bloom filter over its hashed value and
 * size pairs. A pair that no document of a group has is seldom found there, so that an absent or rare one leaves few
 * groups, or none, whose hashed rows have to be read.
 *
 * The 32 filters are stored across: a word has one bit of each, and a pair's words are all in one frame. One read of
 * 8 KiB and a handful of ANDs therefore ask all groups at once.
 *
 * Invariants:
 * 1. A group in which a document has the pair has its bit set in all words of the pair.
 * 2. Groups of which not all documents were added here are unknown: they always may have the pair.
 */
import type { RowMemory } from '../../bloom/kernels/index.ts'
import { frameBytes } from './row-cache.ts'

export const groupsPerSegment = 32
export const allGroups = -1
/** Of so many groups it pays to read the parts of rows that are theirs: half of a row (measured with 8, too). */
export const maxSparseGroups = 16
/** Words of a frame, a power of two. */
const frameWords = frameBytes / 4
/** Words that a pair sets. */
export const upperProbes = 5
/** Bits of a group's filter for each hashed pair of its documents, repeated ones counted. */
const bitsPerPair = 7
const maxFrames = 1024
/** Pairs of one frame that are kept before they are added: they touch its lines in the first-level cache many times. */
const bucketPairs = 256
const framesPerStep = 64

export interface UpperLevelRecord {
  /** 0 for a segment without an upper level. */
  readonly frames: number
  readonly groupDocuments: number
  /** Groups of which not all is known, one bit each. */
  readonly unknownGroups: number
}

/** @param segmentDocuments M */
export function groupDocumentsOf(segmentDocuments: number): number {
  return segmentDocuments / groupsPerSegment
}

/** The groups that positions from ≤ p < to are in, one bit each; from < to. */
export function groupsBetween(from: number, to: number, groupDocuments: number): number {
  const first = Math.floor(from / groupDocuments)
  const last = Math.floor((to - 1) / groupDocuments)
  return (allGroups << first) & (allGroups >>> (groupsPerSegment - 1 - last))
}

/** Frames for documents with so many hashed pairs on average. */
export function upperFramesFor(pairsPerDocument: number, segmentDocuments: number): number {
  const words = bitsPerPair * pairsPerDocument * groupDocumentsOf(segmentDocuments)
  return Math.min(maxFrames, Math.ceil(words / frameWords))
}

/** The frame that a pair's words are in. */
export function frameOfPair(lo: number, hi: number, frames: number): number {
  return Math.floor(((mix(lo, hi) >>> 0) * frames) / 2 ** 32)
}

/** Groups that may have the pair. @param frame address of the pair's frame in row memory */
export function groupsOfPair(u32: Uint32Array, frame: number, lo: number, hi: number): number {
  let groups = allGroups
  let state = mix(lo, hi)
  for (let i = 0; i < upperProbes; i++) {
    state = next(state, hi)
    groups &= u32[(frame >>> 2) + (state >>> 21)]!
  }
  return groups
}

/** Apart from the row numbers: a pair that collides with others there is as rare here as any. */
function mix(lo: number, hi: number): number {
  return Math.imul(lo ^ ((hi << 16) | (hi >>> 16)), 0x9e3779b1)
}

function next(state: number, hi: number): number {
  return (Math.imul(state, 0x915f77f5) + (hi | 1)) | 0
}

/** The upper level of the open segment. */
export class UpperLevelBuilder {
  readonly frames: number
  readonly #memory: RowMemory
  readonly #groupDocuments: number
  readonly #addresses: Uint32Array
  /** For each frame room for a bucket of pairs, lo and hi in turn, and how many there are. */
  readonly #buckets: Int32Array
  readonly #counts: Uint16Array
  /** Of the pair that was added last. */
  #lastPosition = 0
  #unknownGroups = 0
  /** Chunks that were added before the segment was opened again, packed; what is theirs of a frame is added when that is read. */
  readonly #restored: { readonly first: number; readonly chunkDocuments: number; readonly bytes: Uint8Array }[] = []
  /** 1 for each frame that has not all of them yet. */
  readonly #unsettled: Uint8Array

  constructor(memory: RowMemory, segmentDocuments: number, frames: number) {
    this.#memory = memory
    this.frames = frames
    this.#groupDocuments = groupDocumentsOf(segmentDocuments)
    this.#buckets = new Int32Array(frames * 2 * bucketPairs)
    this.#counts = new Uint16Array(frames)
    this.#unsettled = new Uint8Array(frames)
    this.#addresses = memory.allocateAll(frames)
    for (const address of this.#addresses) memory.kernels.fill(address, 0, frameBytes)
  }

  get record(): UpperLevelRecord {
    return { frames: this.frames, groupDocuments: this.#groupDocuments, unknownGroups: this.#unknownGroups }
  }

  /** A hashed pair of the document at `position`, which is not below any before. */
  add(position: number, lo: number, hi: number): void {
    if (this.frames === 0) return
    const frame = frameOfPair(lo, hi, this.frames)
    if (this.#counts[frame] === bucketPairs) this.#flushFrame(frame, position)
    const at = 2 * (frame * bucketPairs + this.#counts[frame]!++)
    this.#buckets[at] = lo
    this.#buckets[at + 1] = hi
    this.#lastPosition = position
  }

  /** As add() of `count` pairs, lo and hi in turn. */
  addAll(position: number, hashes: Int32Array, count: number): void {
    for (let i = 0; i < count; i++) this.add(position, hashes[2 * i]!, hashes[2 * i + 1]!)
  }

  /** The document at `position` is complete. */
  endDocument(position: number): void {
    if ((position + 1) % this.#groupDocuments === 0) this.#flush(position)
  }

  /** Groups that may have the pair. */
  groups(lo: number, hi: number): number {
    if (this.frames === 0) return allGroups
    const frame = frameOfPair(lo, hi, this.frames)
    this.#settleFrame(frame)
    if (this.#counts[frame]! > 0) this.#flushFrame(frame, this.#lastPosition)
    return groupsOfPair(this.#memory.u32, this.#addresses[frame]!, lo, hi) | this.#unknownGroups
  }

  /** Not all is known of these groups, one bit each. */
  forget(groups: number): void {
    this.#unknownGroups |= groups
  }

  /**
   * What a checkpoint writes of a chunk: the bits of its groups, of one word after the other, the first group's lowest.
   * In steps. REQUIRES: nothing is added meanwhile.
   * @param first the chunk's first document; `chunkDocuments` is a whole number of groups
   */
  *chunk(first: number, chunkDocuments: number): Generator<undefined, Uint8Array> {
    this.#settle()
    this.#flush(this.#lastPosition)
    yield
    const { groups, shift, perWord } = this.#packing(first, chunkDocuments)
    const packed = new Uint8Array((this.frames * frameBytes) / perWord)
    for (let from = 0; from < this.frames; from += framesPerStep) {
      this.#pack(from, Math.min(from + framesPerStep, this.frames), shift, groups, packed)
      yield
    }
    return packed
  }

  /**
   * Takes what chunk() gave; without it, or given bytes of another length, the chunk's groups are unknown. It is added
   * to the frames when they are read.
   */
  restoreChunk(first: number, chunkDocuments: number, bytes: Uint8Array | undefined): void {
    const { shift, perWord, mask } = this.#packing(first, chunkDocuments)
    if (bytes?.length !== (4 * this.frames * frameWords) / perWord) {
      this.forget(mask << shift)
      return
    }
    this.#restored.push({ first, chunkDocuments, bytes })
    // Frames that were read meanwhile have bits set that are set already.
    this.#unsettled.fill(1)
  }

  #pack(from: number, to: number, shift: number, groups: number, packed: Uint8Array): void {
    const { kernels, u8 } = this.#memory
    const length = (frameBytes * groups) / groupsPerSegment
    const out = this.#memory.push(length)
    for (let frame = from; frame < to; frame++) {
      kernels.packGroups(this.#addresses[frame]!, frameWords, shift, groups, out)
      packed.set(u8.subarray(out, out + length), frame * length)
    }
    this.#memory.pop(out)
  }

  #settle(): void {
    for (let frame = 0; frame < this.frames; frame++) this.#settleFrame(frame)
    this.#restored.length = 0
  }

  /** A question asks for one frame of many. */
  #settleFrame(frame: number): void {
    if (this.#unsettled[frame] === 0) return
    const { kernels, u8 } = this.#memory
    const packed = this.#memory.push(frameBytes)
    for (const { first, chunkDocuments, bytes } of this.#restored) {
      const { groups, shift, perWord } = this.#packing(first, chunkDocuments)
      const length = frameBytes / perWord
      u8.set(bytes.subarray(frame * length, (frame + 1) * length), packed)
      kernels.unpackGroups(packed, frameWords, shift, groups, this.#addresses[frame]!)
    }
    this.#memory.pop(packed)
    this.#unsettled[frame] = 0
  }

  /** How the bits of a chunk's groups stand in words of 32. */
  #packing(
    first: number,
    chunkDocuments: number
  ): { readonly groups: number; readonly shift: number; readonly perWord: number; readonly mask: number } {
    const groups = chunkDocuments / this.#groupDocuments
    const mask = groups === groupsPerSegment ? allGroups : (1 << groups) - 1
    return { groups, shift: first / this.#groupDocuments, perWord: groupsPerSegment / groups, mask }
  }

  /** What is stored: every frame, as it lies in row memory. @param documents of the segment */
  *contents(documents: number): Generator<Uint8Array> {
    this.#settle()
    if (documents > 0) this.#flush(documents - 1)
    for (const address of this.#addresses) yield this.#memory.u8.subarray(address, address + frameBytes)
  }

  free(): void {
    for (const address of this.#addresses) this.#memory.free(address)
  }

  /** All pairs kept are of the group of `position`. */
  #flush(position: number): void {
    for (let frame = 0; frame < this.frames; frame++) if (this.#counts[frame]! > 0) this.#flushFrame(frame, position)
  }

  #flushFrame(frame: number, position: number): void {
    const count = this.#counts[frame]!
    const { kernels, u32 } = this.#memory
    const hashes = this.#memory.push(count * 8)
    const from = 2 * frame * bucketPairs
    u32.set(this.#buckets.subarray(from, from + 2 * count), hashes >>> 2)
    kernels.addToGroup(hashes, count, this.#addresses[frame]!, upperProbes, Math.floor(position / this.#groupDocuments))
    this.#memory.pop(hashes)
    this.#counts[frame] = 0
  }
}
