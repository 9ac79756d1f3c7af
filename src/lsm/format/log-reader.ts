/**
 * Reads the records of a log or manifest.
 *
 * Invariants:
 * 1. A payload is yielded whole or not at all.
 * 2. The log ends where no valid record of it follows. When a header behind that place says that bytes there were
 *    synced, it is corruption. Otherwise it is the end, or the torn tail of a crash: unsynced pages reach the disk in
 *    any order, so records behind it prove nothing by being there.
 * 3. Nothing is allocated for a length that the file has not.
 */
import { corruption, ioError } from '../errors.ts'
import type { OpenFile } from '../fs/file-system.ts'
import { isPayload, logNumberOffset, type RecordHeader, readHeader, recordHeaderBytes } from './log-record.ts'

export interface LogRecord {
  /** Valid until the next record is asked for. */
  readonly payload: Uint8Array
  /** Where in the log its header is. */
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
    this.#size = attempt(file, () => file.size())
  }

  /** Offset behind the last record yielded: where the log ends, or breaks, once all were. */
  get end(): number {
    return this.#end
  }

  /** Bytes of the file. Larger than `end` when the tail is torn, and in a recycled file. */
  get fileBytes(): number {
    return this.#size
  }

  /**
   * Empty payloads are marks of the writer, and not yielded.
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

  /** The greatest synced offset that a header at or behind `end` knows of; 0 when there is none. */
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
      // Windows overlap, so that a header on the border is in one of them.
      start += window.length - recordHeaderBytes + 1
    }
    return synced
  }

  #headerAt(offset: number): RecordHeader | undefined {
    const bytes = this.#bytesAt(offset, recordHeaderBytes)
    return bytes === undefined ? undefined : readHeader(bytes, 0, this.#logNumber, offset)
  }

  /** A view of the file's bytes, undefined when it has not that many. */
  #bytesAt(offset: number, length: number): Buffer | undefined {
    if (length > this.#size - offset) return undefined
    const at = offset - this.#windowStart
    if (at >= 0 && at + length <= this.#window.length) return this.#window.subarray(at, at + length)
    const window = Buffer.allocUnsafe(Math.min(Math.max(length, windowBytes), this.#size - offset))
    const count = attempt(this.#file, () => this.#file.read(window, offset))
    this.#window = window.subarray(0, count)
    this.#windowStart = offset
    return length <= count ? window.subarray(0, length) : undefined
  }
}

function attempt<T>(file: OpenFile, read: () => T): T {
  try {
    return read()
  } catch (error) {
    throw ioError(`Cannot read ${file.path}`, error, { path: file.path })
  }
}
