/**
 * Compresses the blocks of one table, as long as that pays.
 *
 * A block that does not shrink by an eighth stays as it is: reading it then costs nothing. After some of these in a row
 * the next ones are not tried, twice as many each time, because data that do not compress rarely come alone.
 */
import { writeU32 } from './bytes.ts'
import { chunkBytes, compressChunk } from './lz4/lz4.ts'
import type { CodecName } from './table-options.ts'
import { varintBytes, writeVarint } from './varint.ts'

/** Failures in a row after which blocks are skipped. */
const patience = 4
const maxSkipped = 64
/** Smaller payloads are not worth a call. */
const smallestBytes = 64
const headerBytes = 4

export class BlockCompressor {
  readonly #codec: CodecName
  #failures = 0
  /** Blocks still to be left alone. */
  #skip = 0

  constructor(codec: CodecName) {
    this.#codec = codec
  }

  /** Goes on where another one stopped: after so many failures in a row, with so many blocks to be left alone. */
  continueFrom(failures: number, skip: number): this {
    this.#failures = failures
    this.#skip = skip
    return this
  }

  /**
   * Replaces the payload bytes[start, end) by its compressed form.
   * @returns where that ends; undefined when it did not pay: nothing has changed then
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

/** Chunk by chunk into bytes aside: the payload has to stay whole until it is known to pay. */
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
