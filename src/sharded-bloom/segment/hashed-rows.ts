/**
 * The hashed rows of the open segment: each document is a signature of P bits, and 64 signatures at a time become
 * columns of the rows by transposition.
 *
 * Rows stand in chunks of documents, and a chunk in frames of row memory: see geometry.ts.
 */
import type { RowMemory } from '../../bloom/kernels/index.ts'
import type { Geometry } from './geometry.ts'
import { frameBytes } from './row-cache.ts'
import { allGroups, groupsPerSegment } from './upper-level.ts'

const blockDocuments = 64

/** Of a row of so many documents of a chunk, as a checkpoint writes it. */
export function storedRowBytes(documents: number): number {
  return (Math.ceil(documents / blockDocuments) * blockDocuments) / 8
}

export class HashedRows {
  readonly shards: number
  readonly #memory: RowMemory
  readonly #geometry: Geometry
  /** Addresses of the frames of each chunk. */
  readonly #chunks: Uint32Array[] = []
  /** Signatures of the block being filled, 64 × P bits. */
  readonly #signatures: Uint32Array
  readonly #signatureWords: number
  /** Where the signature of the document being added begins. */
  #signature = 0
  #documents = 0
  #transposed = 0

  constructor(memory: RowMemory, geometry: Geometry, shards: number) {
    this.#memory = memory
    this.#geometry = geometry
    this.shards = shards
    this.#signatureWords = shards / 32
    this.#signatures = new Uint32Array(blockDocuments * this.#signatureWords)
  }

  /** Bytes of a whole row. */
  get rowBytes(): number {
    return Math.max(1, this.#chunks.length) * this.#geometry.chunkRowBytes
  }

  /** The next document. */
  beginDocument(): void {
    const position = this.#documents
    if (position % this.#geometry.chunkDocuments === 0) this.#addChunk()
    if (position % blockDocuments === 0) this.#signatures.fill(0)
    this.#signature = (position % blockDocuments) * this.#signatureWords
  }

  set(row: number): void {
    this.#signatures[this.#signature + (row >>> 5)]! |= 1 << (row & 31)
  }

  /** All rows of the document at once. */
  setSignature(signature: Uint32Array): void {
    this.#signatures.set(signature, this.#signature)
  }

  endDocument(): void {
    this.#documents++
    if (this.#documents % blockDocuments === 0) this.#transpose(this.#documents / blockDocuments - 1)
  }

  /**
   * Writes the AND of rows to `out`; returns false when all of it is zero.
   * @param groups of documents that matter, one bit each; of chunks that have none of them no bit is set
   */
  and(rows: Int32Array, out: number, groups: number): boolean {
    this.#flush()
    const { kernels, u32 } = this.#memory
    const { chunkRowBytes, chunkDocuments, segmentDocuments } = this.#geometry
    const groupsPerChunk = (groupsPerSegment * chunkDocuments) / segmentDocuments
    const groupsOfChunk = groupsPerChunk === groupsPerSegment ? allGroups : (1 << groupsPerChunk) - 1
    const pointers = this.#memory.push(rows.length * 4)
    let isAnySet = 0
    for (let chunk = 0; chunk < this.#chunks.length; chunk++) {
      const to = out + chunk * chunkRowBytes
      if ((groups & (groupsOfChunk << (chunk * groupsPerChunk))) === 0) {
        kernels.fill(to, 0, chunkRowBytes)
        continue
      }
      for (let i = 0; i < rows.length; i++) u32[(pointers >>> 2) + i] = this.#rowAddress(chunk, rows[i]!)
      isAnySet |= kernels.andRows(pointers, rows.length, to, chunkRowBytes)
    }
    this.#memory.pop(pointers)
    if (this.#chunks.length === 0) kernels.fill(out, 0, this.rowBytes)
    return isAnySet !== 0
  }

  /** Copies the row over all chunks to `out`, `rowBytes` long. */
  copyRow(row: number, out: number): void {
    this.#flush()
    const { chunkRowBytes } = this.#geometry
    const { kernels, u32 } = this.#memory
    const chunks = this.#chunks.length
    const pointers = this.#memory.push(4 * chunks)
    for (let chunk = 0; chunk < chunks; chunk++) u32[(pointers >>> 2) + chunk] = this.#rowAddress(chunk, row)
    kernels.joinRows(pointers, chunks, chunkRowBytes, out)
    this.#memory.pop(pointers)
  }

  /**
   * The frames of a chunk, in order: what a checkpoint writes. Rows are as long as the chunk's documents need, in a whole chunk as they
   * lie in row memory. Valid until the next one.
   */
  *chunkFrames(chunk: number, documents: number): Generator<Uint8Array> {
    this.#flush()
    const { rowsPerFrame, chunkRowBytes } = this.#geometry
    const rowBytes = storedRowBytes(documents)
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
   * Takes back what checkpoints kept of the first `documents`.
   * @param frames per chunk, in order, as chunkFrames() gave them
   */
  restore(documents: number, frames: readonly (readonly Uint8Array[])[]): void {
    const { rowsPerFrame, chunkRowBytes } = this.#geometry
    for (const chunk of frames) {
      const addresses = this.#addChunk()
      const { u8 } = this.#memory
      for (const [i, bytes] of chunk.entries()) {
        const rowBytes = bytes.length / rowsPerFrame
        if (rowBytes === chunkRowBytes) u8.set(bytes, addresses[i]!)
        else {
          for (let row = 0; row < rowsPerFrame; row++) {
            u8.set(bytes.subarray(row * rowBytes, (row + 1) * rowBytes), addresses[i]! + row * chunkRowBytes)
          }
        }
      }
    }
    this.#documents = documents
    this.#transposed = documents
    this.#restoreSignatures()
  }

  free(): void {
    for (const chunk of this.#chunks) for (const address of chunk) this.#memory.free(address)
    this.#chunks.length = 0
  }

  /** Brings the signatures that were not transposed yet into the rows. */
  #flush(): void {
    if (this.#transposed !== this.#documents) this.#transpose(Math.floor((this.#documents - 1) / blockDocuments))
  }

  #addChunk(): Uint32Array {
    const addresses = new Uint32Array(Math.ceil(this.shards / this.#geometry.rowsPerFrame))
    for (let i = 0; i < addresses.length; i++) {
      addresses[i] = this.#memory.allocate()
      this.#memory.kernels.fill(addresses[i]!, 0, frameBytes)
    }
    this.#chunks.push(addresses)
    return addresses
  }

  #rowAddress(chunk: number, row: number): number {
    const { rowsPerFrame, chunkRowBytes } = this.#geometry
    return this.#chunks[chunk]![Math.floor(row / rowsPerFrame)]! + (row % rowsPerFrame) * chunkRowBytes
  }

  /** Block numbers count from the segment's first document. */
  #transpose(block: number): void {
    const { chunkDocuments, rowsPerFrame } = this.#geometry
    const chunk = Math.floor((block * blockDocuments) / chunkDocuments)
    const frames = this.#chunks[chunk]!
    const memory = this.#memory
    const framesAt = memory.push(frames.byteLength)
    const signaturesAt = memory.push(this.#signatures.byteLength)
    memory.u32.set(frames, framesAt >>> 2)
    memory.u32.set(this.#signatures, signaturesAt >>> 2)
    const blockInChunk = block - (chunk * chunkDocuments) / blockDocuments
    memory.kernels.transposeBlock(signaturesAt, this.shards / 8, framesAt, rowsPerFrame, blockInChunk)
    memory.pop(framesAt)
    this.#transposed = this.#documents
  }

  /** The block that was being filled, read back from the rows: the next document joins it. */
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
