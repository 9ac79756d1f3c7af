/**
 * Compresses the blocks of one table as long as that pays.
 *
 * A block that does not shrink by an eighth stays uncompressed and costs nothing to read. After several failures in a
 * row blocks are skipped, twice as many each time, because incompressible data rarely comes alone.
 */
import { writeU32 } from './bytes.ts'
import { chunkBytes, compressChunk } from './lz4/lz4.ts'
import type { CodecName } from './table-options.ts'
import { varintBytes, writeVarint } from './varint.ts'

/** Consecutive failures after which blocks are skipped. */
const patience = 4
const maxSkipped = 64
/** Smaller payloads are not worth a call. */
const smallestBytes = 64
const headerBytes = 4

export class BlockCompressor {
  readonly #codec: CodecName
  #failures = 0
  /** Number of blocks still to be skipped. */
  #skip = 0

  constructor(codec: CodecName) {
    this.#codec = codec
  }

  /** Resumes the state of another compressor: its consecutive failures and the blocks still to be skipped. */
  continueFrom(failures: number, skip: number): this {
    this.#failures = failures
    this.#skip = skip
    return this
  }

  /**
   * Replaces the payload bytes[start, end) with its compressed form.
   * @returns the new end; undefined if compression did not pay: the bytes are then unchanged
   */
  compress(bytes: Uint8Array, start: number, end: number): number | undefined {
    if (this.#codec === 'none' || end - start < smallestBytes) return undefined
    if (this.#skip > 0) {
      this.#skip--
      return undefined
    }
    const limit = end - start - ((end - start) >>> 3)
    const compressedEnd =
      end - start <= chunkBytes ? compressOne(bytes, start, end, limit) : compressMany(bytes, start, end, limit)
    if (compressedEnd !== undefined) {
      this.#failures = 0
    } else if (++this.#failures >= patience) {
      this.#skip = Math.min(maxSkipped, 2 ** (this.#failures - patience + 2))
    }
    return compressedEnd
  }
}

function compressOne(bytes: Uint8Array, start: number, end: number, limit: number): number | undefined {
  const chunk = compressChunk(bytes, start, end, limit - headerBytes - varintBytes(limit))
  if (chunk === undefined) return undefined
  writeU32(bytes, start, end - start)
  const at = writeVarint(bytes, start + headerBytes, chunk.length)
  bytes.set(chunk, at)
  return at + chunk.length
}

/** Compresses chunks into a separate buffer: the payload has to stay intact until compression is known to pay. */
function compressMany(bytes: Uint8Array, start: number, end: number, limit: number): number | undefined {
  const aside = Buffer.allocUnsafeSlow(limit)
  writeU32(aside, 0, end - start)
  let at = headerBytes
  for (let from = start; from < end; from += chunkBytes) {
    const room = limit - at - varintBytes(limit)
    const chunk = room <= 0 ? undefined : compressChunk(bytes, from, Math.min(end, from + chunkBytes), room)
    if (chunk === undefined) return undefined
    at = writeVarint(aside, at, chunk.length)
    aside.set(chunk, at)
    at += chunk.length
  }
  bytes.set(aside.subarray(0, at), start)
  return start + at
}
