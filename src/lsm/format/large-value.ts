/**
 * Reads a large value that is the only, uncompressed entry of its block, without an intermediate buffer: the parts
 * before and after it into small buffers, the value itself directly into the target.
 */
import { crc32 } from 'node:zlib'
import { corruption } from '../errors.ts'
import { readU32 } from './bytes.ts'
import { placeSeed } from './checksum.ts'
import { Codec, trailerBytes } from './codec.ts'
import type { TableFile } from './table-file.ts'
import { maxVarintBytes, readVarint, varintBytes } from './varint.ts'

/** Below this size, two more reads cost more than copying. */
export const largeBlockBytes = 65_536

/** One restart offset, and the number of restarts. */
const restartBytes = 8

/**
 * @returns the length of the value, then checksummed in target[offset, …); undefined unless the block is a single
 * uncompressed entry of this key, old enough, that fits into the target: it then has to be read as a whole
 * @throws LEVEL_CORRUPTION, LEVEL_IO_ERROR
 */
export function readLargeValue(
  file: TableFile,
  block: number,
  key: Uint8Array,
  maxSequence: number,
  target: Uint8Array,
  offset: number
): number | undefined {
  const blockOffset = file.index.offset(block)
  const payloadBytes = file.index.payloadBytes(block)
  const tail = Buffer.allocUnsafe(restartBytes + trailerBytes)
  file.read(tail, blockOffset + payloadBytes - restartBytes)
  if (tail[restartBytes] !== Codec.none || readU32(tail, 4) !== 1) return undefined

  const head = Buffer.allocUnsafe(Math.min(payloadBytes, 4 * maxVarintBytes + key.length))
  file.read(head, blockOffset)
  const entry = readHead(head)
  if (entry === undefined) return undefined
  const { keyStart, keyBytes, valueBytes, meta } = entry
  const keyEnd = keyStart + keyBytes
  const isWanted =
    keyBytes === key.length && keyEnd <= head.length && head.compare(key, 0, key.length, keyStart, keyEnd) === 0
  const isAlone = keyEnd + valueBytes + restartBytes === payloadBytes
  const isPut = meta % 2 === 1
  if (!isWanted || !isAlone || !isPut || Math.floor(meta / 2) > maxSequence) return undefined
  if (valueBytes > target.length - offset) return undefined

  const value = target.subarray(offset, offset + valueBytes)
  file.read(value, blockOffset + keyEnd)
  // Only now is the head trusted: had it been damaged, the checksum would not match.
  let checksum = crc32(head.subarray(0, keyEnd), placeSeed(file.number, blockOffset))
  checksum = crc32(value, checksum)
  checksum = crc32(tail.subarray(0, restartBytes + 1), checksum)
  if (checksum !== readU32(tail, restartBytes + 1)) {
    throw corruption('checksum mismatch in a large value', { path: file.path, offset: blockOffset })
  }
  return valueBytes
}

interface Head {
  readonly keyStart: number
  readonly keyBytes: number
  readonly valueBytes: number
  /** sequence · 2 + kind */
  readonly meta: number
}

/** The fields before the first entry's key: see block.ts. */
function readHead(bytes: Uint8Array): Head | undefined {
  const shared = readVarint(bytes, 0, bytes.length)
  const keyBytes = readVarint(bytes, 1, bytes.length)
  const valueAt = 1 + varintBytes(keyBytes)
  const valueBytes = readVarint(bytes, valueAt, bytes.length)
  const metaAt = valueAt + varintBytes(valueBytes)
  const meta = readVarint(bytes, metaAt, bytes.length)
  if (shared !== 0 || keyBytes < 0 || valueBytes < 0 || meta < 0) return undefined
  return { keyStart: metaAt + varintBytes(meta), keyBytes, valueBytes, meta }
}
