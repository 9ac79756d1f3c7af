/**
 * Appends records to a log or manifest.
 *
 * Invariants:
 * 1. A record's header says how much of the log was known to be durable before it: recovery has to find that much.
 * 2. A sync of this log resolves only when the previous log and the file's name are durable, too. So a synced offset
 *    in one log implies that all logs before it were synced to their ends.
 * 3. After a failure nothing more is written: the file may end in half a record, and what a failed sync left on the
 *    device is unknown.
 */
import { ioError, notSupported } from '../errors.ts'
import type { OpenFile } from '../fs/file-system.ts'
import { maxPayloadBytes, recordHeaderBytes, writeHeader } from './log-record.ts'

export interface LogWriterOptions {
  /** Offset to append at: the end of a log that ends cleanly. Default 0. */
  readonly offset?: number
  /** Size of the file, whatever it contains; see `maxPreallocatedBytes`. Default 0. */
  readonly fileBytes?: number
  /**
   * Maximum number of zeros that sync() may preallocate after the log, so that later syncs need not persist a new file
   * size and new blocks, which halves their time. It preallocates as many bytes as the log has, up to this. Default 0.
   */
  readonly maxPreallocatedBytes?: number
  /** The log written before this one. */
  readonly previous?: LogWriter | undefined
  /** Makes the file's name durable; called by the first sync. */
  readonly syncName?: (() => Promise<void>) | undefined
}

export class LogWriter {
  readonly logNumber: number
  readonly #file: OpenFile
  #maxPreallocatedBytes: number
  #bytes: number
  /** Size of the file, including any room after the log. */
  #fileBytes: number
  #syncedOffset = 0
  /** The synced offset in the last header. */
  #recordedOffset = 0
  #previous: LogWriter | undefined
  #syncName: (() => Promise<void>) | undefined
  #failure: Error | undefined
  /** The sync in progress; never rejects. */
  #syncing: Promise<void> | undefined
  #isClosed = false

  /** Takes ownership of the file. */
  constructor(file: OpenFile, logNumber: number, options: LogWriterOptions = {}) {
    this.logNumber = logNumber
    this.#file = file
    this.#bytes = options.offset ?? 0
    this.#fileBytes = Math.max(this.#bytes, options.fileBytes ?? 0)
    this.#maxPreallocatedBytes = options.maxPreallocatedBytes ?? 0
    this.#previous = options.previous
    this.#syncName = options.syncName
  }

  get path(): string {
    return this.#file.path
  }

  /** Length of the log so far; the file may be longer. */
  get bytes(): number {
    return this.#bytes
  }

  /** Length known to be durable. */
  get syncedOffset(): number {
    return this.#syncedOffset
  }

  /** The error that stopped this log; undefined while it works. */
  get failure(): Error | undefined {
    return this.#failure
  }

  /** Sets the log written before this one. REQUIRES: nothing was appended or synced. */
  setPrevious(previous: LogWriter | undefined): void {
    this.#previous = previous
  }

  /**
   * Fills in the header and appends the record, in a single write.
   * @param record 24 bytes for the header, then the payload
   * @throws LEVEL_IO_ERROR; LEVEL_NOT_SUPPORTED for a payload of more than a gibibyte, which leaves the log intact
   */
  append(record: Uint8Array): void {
    this.#check()
    const payloadBytes = record.length - recordHeaderBytes
    if (payloadBytes > maxPayloadBytes) {
      throw notSupported(`A write of ${payloadBytes} bytes is too large: the limit is ${maxPayloadBytes}`)
    }
    writeHeader(record, 0, payloadBytes, this.logNumber, this.#syncedOffset, this.#bytes)
    try {
      this.#file.write(record, this.#bytes)
    } catch (error) {
      throw this.#fail('Cannot write', error)
    }
    this.#bytes += record.length
    if (this.#bytes > this.#fileBytes) this.#fileBytes = this.#bytes
    this.#recordedOffset = this.#syncedOffset
  }

  /**
   * Resolves when everything appended before the call is durable. Calls may overlap.
   * @throws LEVEL_IO_ERROR
   */
  async sync(): Promise<void> {
    // One after another: of several calls in progress, the system tells only one of a failure, and it may be any.
    while (this.#syncing !== undefined) await this.#syncing
    // A log is closed once its batches are in tables; its bytes are no longer needed.
    if (this.#isClosed) return
    this.#check()
    if (this.#bytes === this.#syncedOffset && this.#previous === undefined && this.#syncName === undefined) return
    const syncing = this.#syncNow()
    const end = (): void => {
      this.#syncing = undefined
    }
    this.#syncing = syncing.then(end, end)
    await syncing
  }

  /**
   * Records the synced offset in the log, unless the last record does: appends an empty record, itself not synced. It
   * distinguishes damage to the last synced record from a torn tail.
   * @throws LEVEL_IO_ERROR
   */
  mark(): void {
    if (this.#syncedOffset > this.#recordedOffset) this.append(new Uint8Array(recordHeaderBytes))
  }

  /**
   * Truncates the file to the log, removing preallocated room or records of an older log, which the next open would
   * search for synced offsets. If truncation fails, it does so.
   * REQUIRES: the database is closing.
   */
  trim(): void {
    if (this.#failure !== undefined || this.#fileBytes === this.#bytes) return
    try {
      this.#file.truncate(this.#bytes)
      this.#fileBytes = this.#bytes
    } catch {
      // See above.
    }
  }

  /**
   * REQUIRES: the database is closing, or all entries of the log are in installed tables. May be called twice.
   * @throws LEVEL_IO_ERROR
   */
  close(): void {
    this.#isClosed = true
    this.#previous = undefined
    try {
      this.#file.close()
    } catch (error) {
      throw this.#fail('Cannot close', error)
    }
  }

  async #syncNow(): Promise<void> {
    const bytes = this.#bytes
    const [previous, syncName] = [this.#previous, this.#syncName]
    this.#preallocate()
    try {
      await Promise.all([previous?.sync(), syncName?.(), this.#file.sync()])
    } catch (error) {
      throw this.#fail('Cannot sync', error)
    }
    this.#previous = undefined
    this.#syncName = undefined
    this.#syncedOffset = bytes
  }

  /** Writes zeros after the log once it has reached the end of the file. */
  #preallocate(): void {
    const room = Math.min(this.#maxPreallocatedBytes, this.#bytes)
    if (room === 0 || this.#bytes < this.#fileBytes) return
    try {
      this.#file.write(new Uint8Array(room), this.#bytes)
      this.#fileBytes = this.#bytes + room
    } catch {
      // The log is intact and does without room; a persistent error will show in the next write.
      this.#maxPreallocatedBytes = 0
    }
  }

  #check(): void {
    if (this.#failure !== undefined) throw ioError('No writes are possible after a failure', this.#failure)
  }

  #fail(what: string, cause: unknown): Error {
    const error = ioError(`${what} ${this.path}`, cause, { path: this.path, offset: this.#bytes })
    this.#failure ??= error
    return error
  }
}
