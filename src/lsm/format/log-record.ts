/**
 * The frame of a record in a log or manifest: a 24-byte header, then the payload. See docs/file-formats.md, Log.
 *
 * Invariants:
 * 1. The header has its own checksum, so that headers after damaged bytes can be found and trusted.
 * 2. That checksum covers the log's number and the record's offset: remnants of another log in a recycled file, and a
 *    copy of a log inside a user's value, are not records of this log.
 */
import { readU32, readU53, writeU32, writeU53 } from './bytes.ts'
import { crc32Of } from './crc32.ts'

/** Bytes before every payload. */
export const recordHeaderBytes = 24

/** The writer refuses a longer payload, and the reader does not accept one. */
export const maxPayloadBytes = 2 ** 30

/** Offset of the log number in the header. */
export const logNumberOffset = 8

const checkedBytes = 20

export interface RecordHeader {
  readonly payloadCrc: number
  readonly payloadBytes: number
  /** Bytes of this log that were known to be durable when the record was written. */
  readonly syncedOffset: number
}

/**
 * Fills the header at `at`; its payload follows it.
 * @param offset of the record in the log
 */
export function writeHeader(
  bytes: Uint8Array,
  at: number,
  payloadBytes: number,
  logNumber: number,
  syncedOffset: number,
  offset: number
): void {
  const payloadAt = at + recordHeaderBytes
  writeU32(bytes, at, crc32Of(bytes, payloadAt, payloadAt + payloadBytes))
  writeU32(bytes, at + 4, payloadBytes)
  writeU32(bytes, at + logNumberOffset, logNumber)
  writeU53(bytes, at + 12, syncedOffset)
  writeU32(bytes, at + checkedBytes, headerCrc(bytes, at, offset))
}

/**
 * Parses the header at `at`; undefined unless it is a header of this log.
 * REQUIRES: 24 bytes at `at`.
 * @param offset of these bytes in the log
 */
export function readHeader(bytes: Uint8Array, at: number, logNumber: number, offset: number): RecordHeader | undefined {
  if (readU32(bytes, at + logNumberOffset) !== logNumber >>> 0) return undefined
  if (readU32(bytes, at + checkedBytes) !== headerCrc(bytes, at, offset)) return undefined
  const payloadBytes = readU32(bytes, at + 4)
  if (payloadBytes > maxPayloadBytes) return undefined
  return { payloadCrc: readU32(bytes, at), payloadBytes, syncedOffset: readU53(bytes, at + 12) }
}

/** Whether the payload matches its header. */
export function isPayload(header: RecordHeader, payload: Uint8Array): boolean {
  return payload.length === header.payloadBytes && crc32Of(payload, 0, payload.length) === header.payloadCrc
}

function headerCrc(bytes: Uint8Array, at: number, offset: number): number {
  return crc32Of(bytes, at, at + checkedBytes, offset >>> 0)
}
