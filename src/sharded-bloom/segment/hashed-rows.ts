/**
 * The hashed rows of the open segment: each document is a signature of P bits, and transposing 64 signatures at a time
 * turns them into columns of the rows.
 *
 * Rows are stored in chunks of documents, and a chunk in frames of row memory: see geometry.ts. A young segment has
 * only signatures (young-rows.ts).
 *
 * Invariant: of a restored segment, only the last chunk is there from the start. Of documents in a chunk that is missing
 * nothing is known: each may have every pair.
 */
import type { RowMemory } from '../../bloom/kernels/index.ts'
import { framesPerChunk, type Geometry } from './geometry.ts'
import { frameBytes } from './row-cache.ts'
import { groupDocumentsOf, groupsBetween } from './upper-level.ts'
import { YoungRows } from './young-rows.ts'

const blockDocuments = 64
/** A segment is young up to this many documents; their signatures take a quarter of the memory of a chunk of rows. */
export const maxYoungDocuments = 1024

/** Bytes of a row over the first `documents` of a chunk, as a checkpoint writes it. */
export function storedRowBytes(documents: number): number {
  return (Math.ceil(documents / blockDocuments) * blockDocuments) / 8
}

export class HashedRows {
  readonly shards: number
  readonly #memory: RowMemory
  readonly #geometry: Geometry
  /** Frame addresses of each chunk; undefined while the chunk is missing. */
  readonly #chunks: (Uint32Array | undefined)[] = []
  /** The groups of documents in each chunk of a full segment. */
  readonly #groups: Int32Array
  /** Replaces the chunks while the segment is young. */
  #young: YoungRows | undefined
  /** Signatures of the block being filled, 64 × P bits; empty while the segment is young. */
  #signatures = new Uint32Array(0)
  readonly #signatureWords: number
  /** Offset of the signature of the document being added. */
  #signature = 0
  #documents = 0
  #transposed = 0

  constructor(memory: RowMemory, geometry: Geometry, shards: number) {
    this.#memory = memory
    this.#geometry = geometry
    this.shards = shards
    this.#signatureWords = shards / 32
    this.#young = new YoungRows(shards)
    const { chunkDocuments, segmentDocuments } = geometry
    this.#groups = Int32Array.from({ length: segmentDocuments / chunkDocuments }, (_, chunk) => {
      const first = chunk * chunkDocuments
      return groupsBetween(first, first + chunkDocuments, groupDocumentsOf(segmentDocuments))
    })
  }

  /** Bytes of a whole row. */
  get rowBytes(): number {
    return Math.max(1, this.#chunks.length) * this.#geometry.chunkRowBytes
  }

  /** Number of chunks, 0 while the segment is young. */
  get chunkCount(): number {
    return this.#chunks.length
  }

  isMissing(chunk: number): boolean {
    return this.#chunks[chunk] === undefined
  }

  /** The groups of documents in a chunk, one bit each. */
  groupsOf(chunk: number): number {
    return this.#groups[chunk]!
  }

  /** Begins the next document. */
  beginDocument(): void {
    const position = this.#documents
    if (this.#young !== undefined) {
      if (position < Math.min(maxYoungDocuments, this.#geometry.chunkDocuments)) {
        this.#young.beginDocument(position)
        return
      }
      this.#promote(this.#young)
    }
    if (position % this.#geometry.chunkDocuments === 0) this.#addChunk()
    if (position % blockDocuments === 0) this.#signatures.fill(0)
    this.#signature = (position % blockDocuments) * this.#signatureWords
  }

  set(row: number): void {
    if (this.#young !== undefined) this.#young.set(row)
    else this.#signatures[this.#signature + (row >>> 5)]! |= 1 << (row & 31)
  }

  /** Sets all rows of the document at once. */
  setSignature(signature: Uint32Array): void {
    if (this.#young !== undefined) this.#young.setSignature(signature)
    else this.#signatures.set(signature, this.#signature)
  }

  endDocument(): void {
    this.#documents++
    if (this.#young !== undefined) return
    if (this.#documents % blockDocuments === 0) this.#transpose(this.#documents / blockDocuments - 1, this.#signatures)
  }

  /**
   * Writes the AND of rows to `out`; returns false when all of it is zero.
   * @param groups groups of documents that matter, one bit each; chunks without any of them are zero in `out`
   */
  and(rows: Int32Array, out: number, groups: number): boolean {
    const { kernels, u32 } = this.#memory
    const { chunkRowBytes, rowsPerFrame } = this.#geometry
    if (this.#young !== undefined) {
      kernels.fill(out, 0, chunkRowBytes)
      const bits = this.#memory.u8.subarray(out, out + chunkRowBytes)
      return (groups & this.groupsOf(0)) !== 0 && this.#young.and(rows, this.#documents, bits)
    }
    this.#flush()
    const chunks = this.#chunks.length
    const pointers = this.#memory.push(chunks * rows.length * 4)
    // Dividing once per row: once per chunk would take longer than the AND.
    for (let i = 0; i < rows.length; i++) {
      const frame = Math.floor(rows[i]! / rowsPerFrame)
      const offset = (rows[i]! % rowsPerFrame) * chunkRowBytes
      for (let chunk = 0, at = (pointers >>> 2) + i; chunk < chunks; chunk++, at += rows.length) {
        const addresses = this.#chunks[chunk]
        if (addresses !== undefined) u32[at] = addresses[frame]! + offset
      }
    }
    let isAnySet = 0
    for (let chunk = 0; chunk < chunks; chunk++) {
      const to = out + chunk * chunkRowBytes
      if ((groups & this.groupsOf(chunk)) === 0) kernels.fill(to, 0, chunkRowBytes)
      else if (this.isMissing(chunk)) {
        kernels.fill(to, 0xff, chunkRowBytes)
        isAnySet = 1
      } else isAnySet |= kernels.andRows(pointers + chunk * rows.length * 4, rows.length, to, chunkRowBytes)
    }
    this.#memory.pop(pointers)
    return isAnySet !== 0
  }

  /** Copies the row over all chunks to `out`, `rowBytes` long. REQUIRES: no chunk is missing */
  copyRow(row: number, out: number): void {
    const { chunkRowBytes } = this.#geometry
    const { kernels, u8, u32 } = this.#memory
    if (this.#young !== undefined) {
      kernels.fill(out, 0, chunkRowBytes)
      this.#young.and([row], this.#documents, u8.subarray(out, out + chunkRowBytes))
      return
    }
    this.#flush()
    const chunks = this.#chunks.length
    const pointers = this.#memory.push(4 * chunks)
    for (let chunk = 0; chunk < chunks; chunk++) u32[(pointers >>> 2) + chunk] = this.#rowAddress(chunk, row)
    kernels.joinRows(pointers, chunks, chunkRowBytes, out)
    this.#memory.pop(pointers)
  }

  /**
   * Yields the frames of a chunk in order, for a checkpoint. Rows are as short as the chunk's documents allow; a whole
   * chunk is yielded as it is in row memory. Each frame is valid until the next one.
   */
  *chunkFrames(chunk: number, documents: number): Generator<Uint8Array> {
    const { rowsPerFrame, chunkRowBytes } = this.#geometry
    const rowBytes = storedRowBytes(documents)
    if (this.#young !== undefined) {
      yield* this.#youngFrames(this.#young, documents, rowsPerFrame * rowBytes)
      return
    }
    this.#flush()
    const short = rowBytes < chunkRowBytes ? new Uint8Array(rowsPerFrame * rowBytes) : undefined
    for (const address of this.#chunks[chunk]!) {
      const { u8 } = this.#memory
      for (let row = 0; short !== undefined && row < rowsPerFrame; row++) {
        const at = address + row * chunkRowBytes
        short.set(u8.subarray(at, at + rowBytes), row * rowBytes)
      }
      yield short ?? u8.subarray(address, address + frameBytes)
    }
  }

  /**
   * Restores the first `documents` from a checkpoint; all chunks but the last one are missing.
   * @param frames of the last chunk, in order, as chunkFrames() yielded them
   */
  restore(documents: number, frames: readonly Uint8Array[]): void {
    const { rowsPerFrame, chunkDocuments } = this.#geometry
    if (documents <= maxYoungDocuments) {
      this.#documents = documents
      for (const [i, bytes] of frames.entries()) {
        this.#young!.addRows(bytes, i * rowsPerFrame, bytes.length / rowsPerFrame, documents)
      }
      return
    }
    this.#discardYoung()
    const last = Math.ceil(documents / chunkDocuments) - 1
    this.#chunks.length = last
    this.restoreChunk(last, frames)
    this.#documents = documents
    this.#transposed = documents
    this.#restoreSignatures()
  }

  /** Restores a missing chunk. @param frames as of restore(); undefined: none can be read, so nothing is known */
  restoreChunk(chunk: number, frames: readonly Uint8Array[] | undefined): void {
    const { rowsPerFrame, chunkRowBytes } = this.#geometry
    const addresses = this.#memory.allocateZeroed(framesPerChunk(this.shards, this.#geometry))
    this.#chunks[chunk] = addresses
    const { kernels, u8 } = this.#memory
    for (let i = 0; i < addresses.length; i++) {
      const address = addresses[i]!
      const bytes = frames?.[i]
      if (bytes === undefined) {
        kernels.fill(address, 0xff, frameBytes)
        continue
      }
      const rowBytes = bytes.length / rowsPerFrame
      if (rowBytes === chunkRowBytes) u8.set(bytes, address)
      else {
        for (let row = 0; row < rowsPerFrame; row++) {
          u8.set(bytes.subarray(row * rowBytes, (row + 1) * rowBytes), address + row * chunkRowBytes)
        }
      }
    }
  }

  /** Frees the row memory. */
  free(): void {
    for (const chunk of this.#chunks) for (const address of chunk ?? []) this.#memory.free(address)
    this.#chunks.length = 0
  }

  *#youngFrames(young: YoungRows, documents: number, bytesOfFrame: number): Generator<Uint8Array> {
    const rows = young.toRows(documents, storedRowBytes(documents))
    for (let at = 0; at < rows.length; at += bytesOfFrame) {
      const frame = new Uint8Array(bytesOfFrame)
      frame.set(rows.subarray(at, at + bytesOfFrame))
      yield frame
    }
  }

  /** Turns the signatures into rows. */
  #promote(young: YoungRows): void {
    this.#addChunk()
    this.#discardYoung()
    for (let from = 0; from < this.#documents; from += blockDocuments) {
      this.#transpose(from / blockDocuments, young.signatures(from, from + blockDocuments))
    }
  }

  #discardYoung(): void {
    this.#young = undefined
    this.#signatures = new Uint32Array(blockDocuments * this.#signatureWords)
  }

  /** Transposes the signatures that are not in the rows yet. */
  #flush(): void {
    if (this.#transposed === this.#documents) return
    this.#transpose(Math.floor((this.#documents - 1) / blockDocuments), this.#signatures)
  }

  #addChunk(): void {
    this.#chunks.push(this.#memory.allocateZeroed(framesPerChunk(this.shards, this.#geometry)))
  }

  #rowAddress(chunk: number, row: number): number {
    const { rowsPerFrame, chunkRowBytes } = this.#geometry
    return this.#chunks[chunk]![Math.floor(row / rowsPerFrame)]! + (row % rowsPerFrame) * chunkRowBytes
  }

  /** @param block number of the block, from the segment's first document */
  #transpose(block: number, signatures: Uint32Array): void {
    const { chunkDocuments, rowsPerFrame } = this.#geometry
    const chunk = Math.floor((block * blockDocuments) / chunkDocuments)
    const frames = this.#chunks[chunk]!
    const memory = this.#memory
    const framesAt = memory.push(frames.byteLength)
    const signaturesAt = memory.push(signatures.byteLength)
    memory.u32.set(frames, framesAt >>> 2)
    memory.u32.set(signatures, signaturesAt >>> 2)
    const blockInChunk = block - (chunk * chunkDocuments) / blockDocuments
    memory.kernels.transposeBlock(signaturesAt, this.shards / 8, framesAt, rowsPerFrame, blockInChunk)
    memory.pop(framesAt)
    this.#transposed = this.#documents
  }

  /** Reads the incomplete last block back from the rows, so that the next document can join it. */
  #restoreSignatures(): void {
    const filled = this.#documents % blockDocuments
    if (filled === 0) return
    const start = this.#documents - filled
    const chunk = Math.floor(start / this.#geometry.chunkDocuments)
    const offset = (start % this.#geometry.chunkDocuments) / 8
    this.#signatures.fill(0)
    for (let row = 0; row < this.shards; row++) {
      const address = this.#rowAddress(chunk, row) + offset
      for (let d = 0; d < filled; d++) {
        if ((this.#memory.u8[address + (d >>> 3)]! & (1 << (d & 7))) !== 0) {
          this.#signatures[d * this.#signatureWords + (row >>> 5)]! |= 1 << (row & 31)
        }
      }
    }
  }
}
