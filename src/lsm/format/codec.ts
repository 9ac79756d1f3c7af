/**
 * The on-disk form of a block: payload | codec u8 | checksum u32.
 *
 * The checksum covers payload and codec and is seeded with the file number and the block's offset. A payload with
 * codec lz4 is the raw length u32, then for each chunkBytes of raw bytes: compressed length varint | compressed bytes.
 * Every length is checked before anything is read or allocated.
 */
import { corruption, type Place } from '../errors.ts'
import { readU32, writeU32 } from './bytes.ts'
import { blockChecksum } from './checksum.ts'
import { maxPayloadBytes } from './log-record.ts'
import { chunkBytes, decompressChunk, decompressInPlace, type RawBytes } from './lz4/lz4.ts'
import { readVarint, varintBytes } from './varint.ts'

/** Stored in files: the numbers must not change. */
export const Codec = { none: 0, lz4: 1 } as const

/** Bytes after every payload. */
export const trailerBytes = 5
/**
 * No block is larger, and a greater length means corruption: an entry was once part of a batch, and a block that holds
 * nothing else needs a few bytes more than the batch did.
 */
const maxRawBytes = maxPayloadBytes + 64
/** A byte of LZ4 expands to 255 bytes at most. */
const maxRatio = 256

/**
 * Writes the trailer after bytes[start, end), which will be stored at `offset` of file `number`.
 * @returns the end of the trailer
 */
export function writeTrailer(
  bytes: Uint8Array,
  start: number,
  end: number,
  codec: number,
  number: number,
  offset: number
): number {
  bytes[end] = codec
  writeU32(bytes, end + 1, blockChecksum(bytes, start, end + 1, number, offset))
  return end + trailerBytes
}

/**
 * Checks the payload bytes[start, end) and the trailer after it; returns the codec.
 * @throws LEVEL_CORRUPTION
 */
export function checkTrailer(
  bytes: Uint8Array,
  start: number,
  end: number,
  number: number,
  path: string,
  offset: number
): number {
  const expected = readU32(bytes, end + 1)
  const found = blockChecksum(bytes, start, end + 1, number, offset)
  if (found !== expected) {
    const what = `checksum mismatch in a block: stored ${expected.toString(16)}, computed ${found.toString(16)}`
    throw corruption(what, { path, offset })
  }
  return bytes[end]!
}

const noBytes = Buffer.alloc(0)
const maxKeptBytes = 1 << 20
const growth = 4

/** A buffer for decompressed blocks. Bytes are not reused before restart(): blocks in it may be kept. */
export class DecompressionSpace {
  readonly #chunkBytes: number
  bytes: Buffer = noBytes
  /** Offset of the free part of `bytes`. */
  start = 0

  /** @param chunkBytes allocations grow up to this size; 0 gives each block its own buffer */
  constructor(chunkBytes: number) {
    this.#chunkBytes = chunkBytes
  }

  /** Reuses the buffer, invalidating everything decompressed so far. A large buffer is dropped. */
  restart(): this {
    if (this.bytes.length > maxKeptBytes) this.bytes = noBytes
    this.start = 0
    return this
  }

  /** Ensures that `bytes` has this much room from `start` on. */
  reserve(bytes: number): void {
    if (this.start + bytes <= this.bytes.length) return
    // Most scans need one block: what is allocated beside V8's heap makes it mark all of it sooner.
    this.bytes = Buffer.allocUnsafeSlow(Math.max(bytes, Math.min(this.#chunkBytes, growth * this.bytes.length)))
    this.start = 0
  }
}

/**
 * The decompressed size of a payload.
 * @throws LEVEL_CORRUPTION for an unknown codec, and for a size that the payload cannot expand to
 */
export function rawBytesOf(codec: number, bytes: Uint8Array, start: number, end: number, place: Place): number {
  if (codec !== Codec.lz4) throw corruption(`a block has the unknown codec ${codec}`, place)
  const rawBytes = end - start < 4 ? 0 : readU32(bytes, start)
  if (rawBytes === 0 || rawBytes > maxRawBytes || rawBytes > (end - start) * maxRatio) {
    throw corruption(`a block of ${end - start} bytes claims to hold ${rawBytes} bytes`, place)
  }
  return rawBytes
}

/**
 * Decompresses the payload bytes[start, end) into `rawBytes` bytes at target[at].
 * @param rawBytes from rawBytesOf()
 * @throws LEVEL_CORRUPTION
 */
export function decompressInto(
  bytes: Uint8Array,
  start: number,
  end: number,
  target: Uint8Array,
  at: number,
  rawBytes: number,
  place: Place
): void {
  const rawEnd = at + rawBytes
  let from = start + 4
  for (let to = at; to < rawEnd; to += chunkBytes) {
    const compressedBytes = readVarint(bytes, from, end)
    from += varintBytes(compressedBytes)
    const isThere = compressedBytes >= 0 && from + compressedBytes <= end
    const chunkEnd = Math.min(rawEnd, to + chunkBytes)
    if (!isThere || !decompressChunk(bytes, from, from + compressedBytes, target, to, chunkEnd)) {
      throw corruption('a block cannot be decompressed', place)
    }
    from += compressedBytes
  }
  if (from !== end) throw corruption('a block has trailing bytes', place)
}

/**
 * Decompresses the payload bytes[start, end) into a shared buffer, valid until the next decompression of anything;
 * returns undefined if `rawBytes` exceed it.
 * @param rawBytes from rawBytesOf()
 * @throws LEVEL_CORRUPTION
 */
export function decompressShared(
  bytes: Uint8Array,
  start: number,
  end: number,
  rawBytes: number,
  place: Place
): RawBytes | undefined {
  if (rawBytes > chunkBytes) return undefined
  const compressedBytes = readVarint(bytes, start + 4, end)
  const from = start + 4 + varintBytes(compressedBytes)
  const raw =
    compressedBytes >= 0 && from + compressedBytes === end ? decompressInPlace(bytes, from, end, rawBytes) : undefined
  if (raw === undefined) throw corruption('a block cannot be decompressed', place)
  return raw
}
