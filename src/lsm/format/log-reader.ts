/**
 * Reads the records of a log or manifest.
 *
 * Invariants:
 * 1. A payload is yielded whole or not at all.
 * 2. The log ends where no valid record of it follows. If a later header says that bytes at that place were synced,
 *    this is corruption. Otherwise it is the end, or the torn tail of a crash: unsynced pages reach the disk in any
 *    order, so the mere presence of later records proves nothing.
 * 3. Nothing is allocated for a length that exceeds the file.
 */
import { corruption, reading } from '../errors.ts'
import type { OpenFile } from '../fs/file-system.ts'
import { isPayload, logNumberOffset, type RecordHeader, readHeader, recordHeaderBytes } from './log-record.ts'

export interface LogRecord {
  /** Valid until the next record is requested. */
  readonly payload: Uint8Array
  /** Offset of its header in the log. */
  readonly offset: number
}

/** Bytes read at a time. */
const windowBytes = 2 ** 20

export class LogReader {
  readonly #file: OpenFile
  readonly #logNumber: number
  readonly #size: number
  #end = 0
  #window: Buffer = Buffer.alloc(0)
  #windowStart = 0

  /** The caller closes the file. */
  constructor(file: OpenFile, logNumber: number) {
    this.#file = file
    this.#logNumber = logNumber
    this.#size = reading(file.path, () => file.size())
  }

  /** Offset after the last record yielded: once all were, where the log ends or breaks. */
  get end(): number {
    return this.#end
  }

  /** Size of the file. Larger than `end` if the tail is torn, and in a recycled file. */
  get fileBytes(): number {
    return this.#size
  }

  /**
   * Skips empty payloads, which are markers of the writer.
   * @throws LEVEL_CORRUPTION, LEVEL_IO_ERROR
   */
  *records(): Generator<LogRecord, void> {
    for (;;) {
      const offset = this.#end
      const header = this.#headerAt(offset)
      if (header === undefined) break
      const payload = this.#bytesAt(offset + recordHeaderBytes, header.payloadBytes)
      if (payload === undefined || !isPayload(header, payload)) break
      this.#end = offset + recordHeaderBytes + header.payloadBytes
      if (payload.length > 0) yield { payload, offset }
    }
    const synced = this.maxSyncedOffset()
    if (synced > this.#end) {
      const what = `no valid record, but the log is known to have been synced up to offset ${synced}`
      throw corruption(what, { path: this.#file.path, offset: this.#end })
    }
  }

  /** The greatest synced offset recorded in a header at or after `end`; 0 if there is none. */
  maxSyncedOffset(): number {
    const needle = Buffer.alloc(4)
    needle.writeUInt32LE(this.#logNumber >>> 0)
    let synced = 0
    for (let start = this.#end; this.#size - start >= recordHeaderBytes; ) {
      const window = this.#bytesAt(start, Math.min(windowBytes, this.#size - start))
      if (window === undefined) break
      for (let found = window.indexOf(needle); found !== -1; found = window.indexOf(needle, found + 1)) {
        const at = found - logNumberOffset
        if (at < 0 || at + recordHeaderBytes > window.length) continue
        const header = readHeader(window, at, this.#logNumber, start + at)
        if (header !== undefined) synced = Math.max(synced, header.syncedOffset)
      }
      // Windows overlap, so that a header on a border is whole in one of them.
      start += window.length - recordHeaderBytes + 1
    }
    return synced
  }

  #headerAt(offset: number): RecordHeader | undefined {
    const bytes = this.#bytesAt(offset, recordHeaderBytes)
    return bytes === undefined ? undefined : readHeader(bytes, 0, this.#logNumber, offset)
  }

  /** A view of the file's bytes; undefined if it is too short. */
  #bytesAt(offset: number, length: number): Buffer | undefined {
    if (length > this.#size - offset) return undefined
    const at = offset - this.#windowStart
    if (at >= 0 && at + length <= this.#window.length) return this.#window.subarray(at, at + length)
    const window = Buffer.allocUnsafe(Math.min(Math.max(length, windowBytes), this.#size - offset))
    const count = reading(this.#file.path, () => this.#file.read(window, offset))
    this.#window = window.subarray(0, count)
    this.#windowStart = offset
    return length <= count ? window.subarray(0, length) : undefined
  }
}
