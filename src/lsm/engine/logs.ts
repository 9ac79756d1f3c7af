/**
 * The write-ahead logs that are needed: one per memtable that is not in tables yet, the newest one being written.
 *
 * A log that is not needed any more becomes one of the next, so that its pages need not be made again, nor removed. Since
 * that takes a sync of the directory, some are prepared ahead; when none is ready in time, the next log is a new file.
 *
 * Invariants:
 * 1. sync() makes durable everything appended so far, whichever log it went to (see LogWriter, invariant 2).
 * 2. Numbers of logs ascend in the order in which they are written.
 */
import { join } from 'node:path'
import type { LogWriter } from '../format/log-writer.ts'
import { closeQuietly } from '../fs/close-quietly.ts'
import { logName } from '../fs/file-names.ts'
import type { FileSystem } from '../fs/file-system.ts'
import { createLog, recycleLog } from '../version/log-files.ts'

/** Logs that are prepared: as many as memtables may become tables at a time. */
const maxPrepared = 3
/** A larger log is not recycled: one huge batch would occupy the disk for ever. As a multiple of writeBufferSize. */
const maxRecycledFactor = 4

export class Logs {
  readonly #fileSystem: FileSystem
  readonly #directory: string
  readonly #maxRecycledBytes: number
  readonly #takeNumber: () => number
  /** Oldest first. */
  readonly #needed: LogWriter[] = []
  /** Made of obsolete logs, in the order of their numbers. */
  readonly #prepared: LogWriter[] = []
  /** Logs that are being prepared, one after another. */
  #preparing: Promise<void> = Promise.resolve()
  #preparingCount = 0
  #isClosed = false

  constructor(fileSystem: FileSystem, directory: string, writeBufferBytes: number, takeNumber: () => number) {
    this.#fileSystem = fileSystem
    this.#directory = directory
    this.#maxRecycledBytes = writeBufferBytes * maxRecycledFactor
    this.#takeNumber = takeNumber
  }

  /** The log that is being written. REQUIRES: begin(). */
  get current(): LogWriter {
    return this.#needed[this.#needed.length - 1]!
  }

  /** Numbers of the logs that are needed, ascending. */
  get numbers(): readonly number[] {
    return this.#needed.map(({ logNumber }) => logNumber)
  }

  /** Bytes in all logs that are needed. */
  get bytes(): number {
    return this.#needed.reduce((sum, log) => sum + log.bytes, 0)
  }

  /** Goes on in another log. @throws LEVEL_IO_ERROR */
  begin(): LogWriter {
    const previous = this.#needed.at(-1)
    const prepared = this.#takePrepared(previous)
    const log = prepared ?? createLog(this.#fileSystem, this.#directory, this.#takeNumber(), previous)
    this.#needed.push(log)
    return log
  }

  /** The entries of all logs before this one are in installed tables. */
  retire(firstNeeded: number): void {
    for (let log = this.#needed[0]; log !== undefined && log.logNumber < firstNeeded; log = this.#needed[0]) {
      this.#needed.shift()
      closeQuietly(log)
      if (log.bytes <= this.#maxRecycledBytes) this.#recycle(log.logNumber)
      else this.#remove(log.logNumber)
    }
  }

  /** Closes the files, which stay, as long as what is in them. */
  async close(): Promise<void> {
    this.#isClosed = true
    await this.#preparing
    for (const log of this.#prepared.splice(0)) {
      closeQuietly(log)
      this.#remove(log.logNumber)
    }
    for (const log of this.#needed.splice(0)) {
      log.trim()
      closeQuietly(log)
    }
  }

  /** A prepared log whose number is behind that of the log before. */
  #takePrepared(previous: LogWriter | undefined): LogWriter | undefined {
    for (let log = this.#prepared.shift(); log !== undefined; log = this.#prepared.shift()) {
      if (previous !== undefined && log.logNumber > previous.logNumber) {
        log.follow(previous)
        return log
      }
      // Another log was begun while it was prepared: it needs another number.
      closeQuietly(log)
      this.#recycle(log.logNumber)
    }
    return undefined
  }

  /** Prepares what was this log, unless there are enough. */
  #recycle(oldNumber: number): void {
    if (this.#isClosed || this.#prepared.length + this.#preparingCount >= maxPrepared) {
      this.#remove(oldNumber)
      return
    }
    this.#preparingCount++
    this.#preparing = this.#preparing.then(() => this.#prepare(oldNumber))
  }

  async #prepare(oldNumber: number): Promise<void> {
    try {
      this.#prepared.push(await recycleLog(this.#fileSystem, this.#directory, oldNumber, this.#takeNumber()))
    } catch {
      // The next log will be a new file; what became of this one is seen to at the next open.
    } finally {
      this.#preparingCount--
    }
  }

  #remove(number: number): void {
    try {
      this.#fileSystem.remove(join(this.#directory, logName(number)))
    } catch {
      // It is not needed; the next open removes it.
    }
  }
}
