/**
 * Sizes of a segment, all derived from M: the one place where positions, rows, chunks and frames are related.
 *
 * A segment spans M ordinals. While it is open its rows grow by *chunks* of up to 4,096 documents, which are also what
 * a checkpoint writes. Rows are packed into 8 KiB *frames*: `rowsPerFrame` rows of `rowBytes` each.
 */
import { invalidOption } from '../../model/invalid-option.ts'
import { frameBytes } from './row-cache.ts'

export const maxSegmentDocuments = 65_536
export const minSegmentDocuments = 512
export const defaultSegmentDocuments = maxSegmentDocuments
/** Half of what may have to be indexed again after a crash: a checkpoint writes whole chunks, batches come in between. */
const maxChunkDocuments = 4096

export interface Geometry {
  /** M: ordinals a segment spans at most, a power of two from 512 to 65,536. */
  readonly segmentDocuments: number
  readonly chunkDocuments: number
  /** Of an open segment's chunk. */
  readonly chunkRowBytes: number
  readonly rowsPerFrame: number
}

export function isSegmentSize(documents: unknown): documents is number {
  if (typeof documents !== 'number' || !Number.isInteger(documents) || (documents & (documents - 1)) !== 0) return false
  return documents >= minSegmentDocuments && documents <= maxSegmentDocuments
}

/** @throws PetalError InvalidOptions */
export function geometryOf(segmentDocuments: number): Geometry {
  if (!isSegmentSize(segmentDocuments)) {
    const wanted = `a power of two from ${minSegmentDocuments} to ${maxSegmentDocuments}`
    throw invalidOption('segmentBits', wanted, segmentDocuments)
  }
  const chunkDocuments = Math.min(maxChunkDocuments, segmentDocuments)
  const chunkRowBytes = chunkDocuments / 8
  return { segmentDocuments, chunkDocuments, chunkRowBytes, rowsPerFrame: frameBytes / chunkRowBytes }
}

/** Frames that the hashed rows of an open segment's chunk take. */
export function framesPerChunk(shards: number, { rowsPerFrame }: Geometry): number {
  return Math.ceil(shards / rowsPerFrame)
}

/** Bytes of a sealed row: as short as its documents allow, a multiple of 16 for the kernels. */
export function sealedRowBytes(documents: number): number {
  return Math.max(16, Math.ceil(documents / 128) * 16)
}

/** Rows that share a frame of a sealed segment. */
export function sealedRowsPerFrame(documents: number): number {
  return Math.floor(frameBytes / sealedRowBytes(documents))
}
