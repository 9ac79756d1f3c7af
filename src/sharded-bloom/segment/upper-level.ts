/**
 * The upper level of a segment: for each of 32 groups of consecutive documents, a Bloom filter over its hashed value
 * and size pairs. A pair that no document of a group has is seldom found there, so an absent or rare pair leaves few
 * groups, or none, whose hashed rows have to be read.
 *
 * The 32 filters are stored transposed: a word has one bit of each filter, and all words of a pair are in one frame.
 * One read of 8 KiB and a handful of ANDs therefore query all groups at once.
 *
 * Invariants:
 * 1. A group in which a document has the pair has its bit set in all words of the pair.
 * 2. Groups whose documents were not all added here are unknown: they always may have the pair.
 */
import type { RowMemory } from '../../bloom/kernels/index.ts'
import { frameBytes } from './row-cache.ts'

export const groupsPerSegment = 32
export const allGroups = -1
/** Up to this many groups, half of a row, it pays to read only their parts of rows (8 was measured, too). */
export const maxSparseGroups = 16
/** Words in a frame, a power of two. */
const frameWords = frameBytes / 4
/** Number of words that a pair sets. */
export const upperProbes = 5
/** Bits of a group's filter per hashed pair of its documents, repeated pairs included. */
const bitsPerPair = 7
const maxFrames = 1024
/** Pairs buffered per frame: added together, they touch the frame's lines many times while in the L1 cache. */
const bucketPairs = 256
const framesPerStep = 64

export interface UpperLevelRecord {
  /** 0 for a segment without an upper level. */
  readonly frames: number
  readonly groupDocuments: number
  /** Groups whose pairs are not all known, one bit each. */
  readonly unknownGroups: number
}

/** @param segmentDocuments M */
export function groupDocumentsOf(segmentDocuments: number): number {
  return segmentDocuments / groupsPerSegment
}

/** The groups that contain positions from ≤ p < to, one bit each; from < to. */
export function groupsBetween(from: number, to: number, groupDocuments: number): number {
  const first = Math.floor(from / groupDocuments)
  const last = Math.floor((to - 1) / groupDocuments)
  return (allGroups << first) & (allGroups >>> (groupsPerSegment - 1 - last))
}

/** Number of frames for documents with this many hashed pairs on average. */
export function upperFramesFor(pairsPerDocument: number, segmentDocuments: number): number {
  const words = bitsPerPair * pairsPerDocument * groupDocumentsOf(segmentDocuments)
  return Math.min(maxFrames, Math.ceil(words / frameWords))
}

/** The frame that holds a pair's words. @param frames at most 2^15 */
export function frameOfPair(lo: number, hi: number, frames: number): number {
  // The upper half of a product of 48 bits, in halves: 32-bit integers are faster than doubles.
  const mixed = mix(lo, hi)
  return (Math.imul(mixed >>> 16, frames) + (Math.imul(mixed & 0xffff, frames) >>> 16)) >>> 16
}

/** Returns the groups that may have the pair. @param frame address of the pair's frame in row memory */
export function groupsOfPair(u32: Uint32Array, frame: number, lo: number, hi: number): number {
  let groups = allGroups
  let state = mix(lo, hi)
  for (let i = 0; i < upperProbes; i++) {
    state = next(state, hi)
    groups &= u32[(frame >>> 2) + (state >>> 21)]!
  }
  return groups
}

/** Independent of the row numbers: pairs whose rows collide are no likelier to collide here. */
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
  /** For each frame a bucket of pairs, lo and hi in turn, and their number. */
  readonly #buckets: Int32Array
  readonly #counts: Uint16Array
  /** Position of the document of the pair added last. */
  #lastPosition = 0
  #unknownGroups = 0
  /** Packed chunks added before the segment was reopened; each frame's share is added when the frame is first read. */
  readonly #restored: { readonly first: number; readonly chunkDocuments: number; readonly bytes: Uint8Array }[] = []
  /** 1 for each frame to which they have not been added yet. */
  readonly #pendingFrames: Uint8Array

  constructor(memory: RowMemory, segmentDocuments: number, frames: number) {
    this.#memory = memory
    this.frames = frames
    this.#groupDocuments = groupDocumentsOf(segmentDocuments)
    this.#buckets = new Int32Array(frames * 2 * bucketPairs)
    this.#counts = new Uint16Array(frames)
    this.#pendingFrames = new Uint8Array(frames)
    this.#addresses = memory.allocateZeroed(frames)
  }

  get record(): UpperLevelRecord {
    return { frames: this.frames, groupDocuments: this.#groupDocuments, unknownGroups: this.#unknownGroups }
  }

  /** Adds a hashed pair of the document at `position`, which is not below any before. */
  add(position: number, lo: number, hi: number): void {
    if (this.frames === 0) return
    const frame = frameOfPair(lo, hi, this.frames)
    if (this.#counts[frame] === bucketPairs) this.#flushFrame(frame, position)
    const at = 2 * (frame * bucketPairs + this.#counts[frame]!++)
    this.#buckets[at] = lo
    this.#buckets[at + 1] = hi
    this.#lastPosition = position
  }

  /** As add(), for `count` pairs, lo and hi in turn. */
  addAll(position: number, hashes: Int32Array, count: number): void {
    for (let i = 0; i < count; i++) this.add(position, hashes[2 * i]!, hashes[2 * i + 1]!)
  }

  /** Ends the document at `position`. */
  endDocument(position: number): void {
    if ((position + 1) % this.#groupDocuments === 0) this.#flush(position)
  }

  /** Returns the groups that may have the pair. */
  groups(lo: number, hi: number): number {
    if (this.frames === 0) return allGroups
    const frame = frameOfPair(lo, hi, this.frames)
    this.#applyRestoredTo(frame)
    if (this.#counts[frame]! > 0) this.#flushFrame(frame, this.#lastPosition)
    return groupsOfPair(this.#memory.u32, this.#addresses[frame]!, lo, hi) | this.#unknownGroups
  }

  /** Marks groups, one bit each, as not fully known. */
  markUnknown(groups: number): void {
    this.#unknownGroups |= groups
  }

  /**
   * Returns a checkpoint's record of a chunk: the bits of its groups, word by word, the first group in the lowest bit.
   * In steps. REQUIRES: nothing is added meanwhile.
   * @param first the chunk's first document; `chunkDocuments` is a whole number of groups
   */
  *chunk(first: number, chunkDocuments: number): Generator<undefined, Uint8Array> {
    this.#applyRestored()
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
   * Restores a record made by chunk(); without one, or if its length is wrong, the chunk's groups become unknown. The
   * bits are added to a frame when it is read.
   */
  restoreChunk(first: number, chunkDocuments: number, bytes: Uint8Array | undefined): void {
    const { shift, perWord, mask } = this.#packing(first, chunkDocuments)
    if (bytes?.length !== (4 * this.frames * frameWords) / perWord) {
      this.markUnknown(mask << shift)
      return
    }
    this.#restored.push({ first, chunkDocuments, bytes })
    // In frames already settled, setting the same bits again is harmless.
    this.#pendingFrames.fill(1)
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

  #applyRestored(): void {
    for (let frame = 0; frame < this.frames; frame++) this.#applyRestoredTo(frame)
    this.#restored.length = 0
  }

  /** Adds the restored bits of one frame only: a query needs one frame of many. */
  #applyRestoredTo(frame: number): void {
    if (this.#pendingFrames[frame] === 0) return
    const { kernels, u8 } = this.#memory
    const packed = this.#memory.push(frameBytes)
    for (const { first, chunkDocuments, bytes } of this.#restored) {
      const { groups, shift, perWord } = this.#packing(first, chunkDocuments)
      const length = frameBytes / perWord
      u8.set(bytes.subarray(frame * length, (frame + 1) * length), packed)
      kernels.unpackGroups(packed, frameWords, shift, groups, this.#addresses[frame]!)
    }
    this.#memory.pop(packed)
    this.#pendingFrames[frame] = 0
  }

  /** How the bits of a chunk's groups are placed in 32-bit words. */
  #packing(
    first: number,
    chunkDocuments: number
  ): { readonly groups: number; readonly shift: number; readonly perWord: number; readonly mask: number } {
    const groups = chunkDocuments / this.#groupDocuments
    const mask = groups === groupsPerSegment ? allGroups : (1 << groups) - 1
    return { groups, shift: first / this.#groupDocuments, perWord: groupsPerSegment / groups, mask }
  }

  /** Yields every frame as it is in row memory, to be stored. @param documents of the segment */
  *contents(documents: number): Generator<Uint8Array> {
    this.#applyRestored()
    if (documents > 0) this.#flush(documents - 1)
    for (const address of this.#addresses) yield this.#memory.u8.subarray(address, address + frameBytes)
  }

  free(): void {
    for (const address of this.#addresses) this.#memory.free(address)
  }

  /** REQUIRES: all buffered pairs are of the group of `position`. */
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
