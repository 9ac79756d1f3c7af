/**
 * The last 64 bytes of a table: the positions of its index and metaindex, and proof of the table's identity.
 *
 * | at | what                                    |
 * | -- | --------------------------------------- |
 * | 0  | metaindex: offset u64, payload bytes u32 |
 * | 12 | index: offset u64, payload bytes u32    |
 * | 24 | file number u64                         |
 * | 32 | format version u32                      |
 * | 36 | zero, 16 bytes                          |
 * | 52 | CRC-32 of the bytes before u32          |
 * | 56 | magic, 8 bytes                          |
 */
import { crc32 } from 'node:zlib'
import { corruption, notSupported } from '../errors.ts'
import { readU32, readU53, writeU32, writeU53 } from './bytes.ts'

export const footerBytes = 64
/** The table format that this code reads and writes. */
const tableFormat = 1
const magic = Buffer.from('petaltbl', 'latin1')
const checksumAt = 52
const magicAt = 56

/** The position of a block: of its payload, excluding codec and checksum. */
export interface Handle {
  readonly offset: number
  readonly payloadBytes: number
}

export interface Footer {
  readonly metaindex: Handle
  readonly index: Handle
  readonly number: number
}

export function writeFooter(target: Uint8Array, at: number, footer: Footer): void {
  const bytes = target.subarray(at, at + footerBytes).fill(0)
  writeU53(bytes, 0, footer.metaindex.offset)
  writeU32(bytes, 8, footer.metaindex.payloadBytes)
  writeU53(bytes, 12, footer.index.offset)
  writeU32(bytes, 20, footer.index.payloadBytes)
  writeU53(bytes, 24, footer.number)
  writeU32(bytes, 32, tableFormat)
  writeU32(bytes, checksumAt, crc32(bytes.subarray(0, checksumAt)))
  bytes.set(magic, magicAt)
}

/**
 * @param bytes the footer's 64 bytes
 * @param offset of the footer in its file, for error messages
 * @throws LEVEL_CORRUPTION, or LEVEL_NOT_SUPPORTED for a table of another format
 */
export function readFooter(bytes: Uint8Array, path: string, offset: number): Footer {
  const place = { path, offset }
  if (bytes.length !== footerBytes || magic.compare(bytes, magicAt) !== 0) {
    throw corruption('not a table footer', place)
  }
  if (crc32(bytes.subarray(0, checksumAt)) !== readU32(bytes, checksumAt)) {
    throw corruption('checksum mismatch in the footer', place)
  }
  const format = readU32(bytes, 32)
  if (format !== tableFormat) {
    throw notSupported(`${path} has table format ${format}; this version reads format ${tableFormat}`)
  }
  return {
    metaindex: { offset: readU53(bytes, 0), payloadBytes: readU32(bytes, 8) },
    index: { offset: readU53(bytes, 12), payloadBytes: readU32(bytes, 20) },
    number: readU53(bytes, 24)
  }
}
