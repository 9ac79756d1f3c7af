/**
 * The sizes of a segment, all derived from M: the one place that relates positions, rows, chunks and frames.
 *
 * A segment spans M ordinals. While it is open, its rows grow by *chunks* of up to 4,096 documents, which are also the
 * unit of a checkpoint. Rows are packed into 8 KiB *frames*: `rowsPerFrame` rows of `rowBytes` each.
 */
import { invalidOption } from '../../model/invalid-option.ts'
import { frameBytes } from './row-cache.ts'

export const maxSegmentDocuments = 65_536
const minSegmentDocuments = 512
export const defaultSegmentDocuments = maxSegmentDocuments
/**
 * Half of the documents that a crash may leave to re-index: batches are committed between checkpoints of whole chunks.
 */
const maxChunkDocuments = 4096

export interface Geometry {
  /** M: maximum number of ordinals a segment spans, a power of two from 512 to 65,536. */
  readonly segmentDocuments: number
  readonly chunkDocuments: number
  /** Bytes of a row in one chunk of an open segment. */
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

/** Number of frames for the hashed rows of an open segment's chunk. */
export function framesPerChunk(shards: number, { rowsPerFrame }: Geometry): number {
  return Math.ceil(shards / rowsPerFrame)
}

/** Bytes of a sealed row: as few as its documents allow, a multiple of 16 for the kernels. */
export function sealedRowBytes(documents: number): number {
  return Math.max(16, Math.ceil(documents / 128) * 16)
}

/** Number of rows that share a frame of a sealed segment. */
export function sealedRowsPerFrame(documents: number): number {
  return Math.floor(frameBytes / sealedRowBytes(documents))
}
