/**
 * Finds a table's readable data blocks, in file order.
 *
 * The index gives their positions. Without one they are found by their checksums, from the beginning of the file: a
 * block ends where all bytes since its start are followed by their checksum. That works up to the first damaged block;
 * everything after it is lost, because the start of the next block is then unknown.
 */
import { hasCode } from '../../errors.ts'
import { Block } from '../../format/block.ts'
import { readU32 } from '../../format/bytes.ts'
import { placeSeed } from '../../format/checksum.ts'
import { Codec, decompressInto, rawBytesOf, trailerBytes } from '../../format/codec.ts'
import { TableFile } from '../../format/table-file.ts'
import type { OpenFile } from '../../fs/file-system.ts'
import type { Losses } from './losses.ts'

/**
 * Bytes read at a time when searching for a block's end; doubled until it is found, up to the largest block searched
 * for.
 */
const windowBytes = 1 << 14
const maxSearchedBytes = 1 << 26

export interface FoundBlock {
  readonly block: Block
  /** Found without an index: it may be one of the sections after the last data block. */
  readonly isGuess: boolean
}

/** @param number of the file */
export function* findBlocks(file: OpenFile, number: number, losses: Losses): Generator<FoundBlock, void> {
  let table: TableFile | undefined
  try {
    table = TableFile.open(file, { number, bytes: file.size() }).file
  } catch (error) {
    losses.addDamage(file.path, error)
  }
  if (table === undefined) yield* searchBlocks(file, number, losses)
  else yield* indexedBlocks(table, losses)
}

function* indexedBlocks(table: TableFile, losses: Losses): Generator<FoundBlock, void> {
  const { index, path } = table
  for (let i = 0; i < index.count; i++) {
    let block: Block
    try {
      block = table.readBlock(i)
    } catch (error) {
      losses.addDamage(path, error, index.offset(i), index.payloadBytes(i) + trailerBytes)
      continue
    }
    yield { block, isGuess: false }
  }
}

function* searchBlocks(file: OpenFile, number: number, losses: Losses): Generator<FoundBlock, void> {
  const size = file.size()
  for (let offset = 0; offset < size; ) {
    let found: FramedBlock | undefined
    try {
      found = searchBlock(file, number, offset, size)
    } catch (error) {
      losses.addDamage(file.path, error, offset, size - offset)
      return
    }
    // The sections after the data blocks have checksums, too, but are not blocks of entries.
    const block = found && decode(found.bytes, found.payloadBytes, file.path, offset)
    if (found === undefined || block === undefined) {
      if (found === undefined) losses.add(file.path, 'no readable block', offset, size - offset)
      return
    }
    yield { block, isGuess: true }
    offset += found.payloadBytes + trailerBytes
  }
}

interface FramedBlock {
  /** The payload, followed by codec and checksum. */
  readonly bytes: Buffer
  readonly payloadBytes: number
}

function searchBlock(file: OpenFile, number: number, offset: number, size: number): FramedBlock | undefined {
  const limit = Math.min(size - offset, maxSearchedBytes)
  for (let length = Math.min(windowBytes, limit); ; length = Math.min(length * 2, limit)) {
    const window = Buffer.allocUnsafeSlow(length)
    const bytes = window.subarray(0, file.read(window, offset))
    const payloadBytes = payloadEnd(bytes, placeSeed(number, offset))
    if (payloadBytes !== undefined) return { bytes, payloadBytes }
    if (length === limit || bytes.length < length) return undefined
  }
}

/**
 * Finds the end of a payload that begins with the first byte: it is followed by a codec and the checksum of all bytes
 * so far.
 */
function payloadEnd(bytes: Uint8Array, seed: number): number | undefined {
  let crc = ~seed
  for (let at = 0; at + 4 < bytes.length; at++) {
    const byte = bytes[at]!
    crc = crcTable[(crc ^ byte) & 0xff]! ^ (crc >>> 8)
    if (byte <= Codec.lz4 && ~crc >>> 0 === readU32(bytes, at + 1)) return at
  }
  return undefined
}

function decode(bytes: Buffer, payloadBytes: number, path: string, offset: number): Block | undefined {
  const codec = bytes[payloadBytes]
  const place = { path, offset }
  try {
    if (codec === Codec.none) return new Block(bytes, 0, payloadBytes, path, offset)
    const raw = Buffer.allocUnsafeSlow(rawBytesOf(Codec.lz4, bytes, 0, payloadBytes, place))
    decompressInto(bytes, 0, payloadBytes, raw, 0, raw.length, place)
    return new Block(raw, 0, raw.length, path, offset)
  } catch (error) {
    if (hasCode(error, 'LEVEL_CORRUPTION')) return undefined
    throw error
  }
}

/** CRC-32 byte by byte: zlib cannot compute the checksum of every prefix. */
const crcTable = Int32Array.from({ length: 256 }, (_, byte) => {
  let crc = byte
  for (let bit = 0; bit < 8; bit++) crc = (crc >>> 1) ^ (crc & 1 ? 0xedb88320 : 0)
  return crc
})
