/**
 * Appends records to a log or manifest.
 *
 * Invariants:
 * 1. A record's header says how much of the log was known to be durable before it: what recovery has to find.
 * 2. A sync of this log resolves only when the log before it is durable too, and the file's name. So a synced offset in
 *    one log says of all logs before it that they were synced to their ends.
 * 3. After a failure nothing is written any more: the file may end in half a record, and what a failed sync left on the
 *    device is unknown.
 */
import { ioError, notSupported } from '../errors.ts'
import type { OpenFile } from '../fs/file-system.ts'
import { maxPayloadBytes, recordHeaderBytes, writeHeader } from './log-record.ts'

export interface LogWriterOptions {
  /** Offset to append at: the end of a log that ends cleanly. Default 0. */
  readonly offset?: number
  /** Bytes that the file has, whatever they are; see `maxRoomBytes`. Default none. */
  readonly fileBytes?: number
  /**
   * Bytes of zeros that sync() may put behind the log, so that the syncs after it have no new size and no new blocks to
   * make durable, which takes them half the time. As many as the log has, but not more than these. Default 0.
   */
  readonly maxRoomBytes?: number
  /** The log that batches went to before this one. */
  readonly previous?: LogWriter | undefined
  /** Makes the name of the file durable; called by the first sync. */
  readonly syncName?: (() => Promise<void>) | undefined
}

export class LogWriter {
  readonly logNumber: number
  readonly #file: OpenFile
  #maxRoomBytes: number
  #bytes: number
  /** Where the file ends, or the log if that is longer. */
  #fileBytes: number
  #syncedOffset = 0
  /** The synced offset in the last header. */
  #saidOffset = 0
  #previous: LogWriter | undefined
  #syncName: (() => Promise<void>) | undefined
  #failure: Error | undefined
  #isClosed = false

  /** Owns the file from now on. */
  constructor(file: OpenFile, logNumber: number, options: LogWriterOptions = {}) {
    this.logNumber = logNumber
    this.#file = file
    this.#bytes = options.offset ?? 0
    this.#fileBytes = Math.max(this.#bytes, options.fileBytes ?? 0)
    this.#maxRoomBytes = options.maxRoomBytes ?? 0
    this.#previous = options.previous
    this.#syncName = options.syncName
  }

  get path(): string {
    return this.#file.path
  }

  /** Bytes of the log so far; the file may be longer. */
  get bytes(): number {
    return this.#bytes
  }

  /** Bytes known to be durable. */
  get syncedOffset(): number {
    return this.#syncedOffset
  }

  /** What stopped this log; undefined while it works. */
  get failure(): Error | undefined {
    return this.#failure
  }

  /** Says which log batches went to before this one. REQUIRES: nothing was appended or synced. */
  follow(previous: LogWriter | undefined): void {
    this.#previous = previous
  }

  /**
   * Fills the header and writes the record at the end of the log, in one write.
   * @param record 24 bytes for the header, then the payload
   * @throws LEVEL_IO_ERROR; LEVEL_NOT_SUPPORTED for more than a gibibyte, without harm to the log
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
    this.#saidOffset = this.#syncedOffset
  }

  /**
   * Resolves when everything appended before the call is durable. Calls may overlap.
   * @throws LEVEL_IO_ERROR
   */
  async sync(): Promise<void> {
    // A log is closed when its batches are in tables; nobody needs its bytes any more.
    if (this.#isClosed) return
    this.#check()
    const bytes = this.#bytes
    const [previous, syncName] = [this.#previous, this.#syncName]
    if (bytes === this.#syncedOffset && previous === undefined && syncName === undefined) return
    this.#makeRoom()
    try {
      await Promise.all([previous?.sync(), syncName?.(), this.#file.sync()])
    } catch (error) {
      throw this.#fail('Cannot sync', error)
    }
    this.#previous = undefined
    this.#syncName = undefined
    this.#syncedOffset = Math.max(this.#syncedOffset, bytes)
  }

  /**
   * Says in the log how far it is synced, unless the last record does: an empty record, itself not synced. With it,
   * damage to the last synced record is told from a torn tail.
   * @throws LEVEL_IO_ERROR
   */
  mark(): void {
    if (this.#syncedOffset > this.#saidOffset) this.append(new Uint8Array(recordHeaderBytes))
  }

  /**
   * Cuts off what the file holds behind the log, room or records of an older one: who opens the log would look through it
   * for what was synced. Where it cannot be cut, that is what happens.
   * REQUIRES: the database closes.
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
   * REQUIRES: the database closes, or everything in the log is in installed tables. Fine when called twice.
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

  /** When the log has reached the end of the file, puts zeros behind it. */
  #makeRoom(): void {
    const room = Math.min(this.#maxRoomBytes, this.#bytes)
    if (room === 0 || this.#bytes < this.#fileBytes) return
    try {
      this.#file.write(new Uint8Array(room), this.#bytes)
      this.#fileBytes = this.#bytes + room
    } catch {
      // The log is as it was, and does without; what the device has to say to it, it says to the next write.
      this.#maxRoomBytes = 0
    }
  }

  #check(): void {
    if (this.#failure !== undefined) throw ioError('Nothing is written after a failure', this.#failure)
  }

  #fail(what: string, cause: unknown): Error {
    const error = ioError(`${what} ${this.path}`, cause, { path: this.path, offset: this.#bytes })
    this.#failure ??= error
    return error
  }
}
