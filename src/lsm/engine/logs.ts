/**
 * The write-ahead logs in use: one per memtable that is not in tables yet; the newest one is being written.
 *
 * An obsolete log is recycled as a future one, so that its pages need be neither allocated again nor freed. Recycling
 * takes a sync of the directory, so a few logs are prepared ahead; if none is ready in time, the next log is a new
 * file.
 *
 * Invariants:
 * 1. sync() makes durable everything appended so far, in whichever log (see LogWriter, invariant 2).
 * 2. Log numbers ascend in the order of writing.
 */
import { join } from 'node:path'
import type { LogWriter } from '../format/log-writer.ts'
import { closeQuietly } from '../fs/close-quietly.ts'
import { logName } from '../fs/file-names.ts'
import type { FileSystem } from '../fs/file-system.ts'
import { createLog, recycleLog } from '../version/log-files.ts'

/** Maximum number of prepared logs: as many as memtables can be flushed at a time. */
const maxPrepared = 3
/** Larger logs are not recycled: one huge batch would occupy the disk for ever. A multiple of writeBufferSize. */
const maxRecycledFactor = 4

export class Logs {
  readonly #fileSystem: FileSystem
  readonly #directory: string
  readonly #maxRecycledBytes: number
  readonly #takeNumber: () => number
  /** Oldest first. */
  readonly #needed: LogWriter[] = []
  /** Recycled logs, in the order of their numbers. */
  readonly #prepared: LogWriter[] = []
  /** Logs being prepared, one after another. */
  #preparing: Promise<void> = Promise.resolve()
  #preparingCount = 0
  #isClosed = false

  constructor(fileSystem: FileSystem, directory: string, writeBufferBytes: number, takeNumber: () => number) {
    this.#fileSystem = fileSystem
    this.#directory = directory
    this.#maxRecycledBytes = writeBufferBytes * maxRecycledFactor
    this.#takeNumber = takeNumber
  }

  /** The log being written. REQUIRES: begin(). */
  get current(): LogWriter {
    return this.#needed[this.#needed.length - 1]!
  }

  /** Numbers of the logs in use, ascending. */
  get numbers(): readonly number[] {
    return this.#needed.map(({ logNumber }) => logNumber)
  }

  /** Total bytes of the logs in use. */
  get bytes(): number {
    return this.#needed.reduce((sum, log) => sum + log.bytes, 0)
  }

  /** Begins with an empty log that exists. REQUIRES: no other was begun. @throws LEVEL_IO_ERROR */
  beginWith(number: number): void {
    this.#needed.push(createLog(this.#fileSystem, this.#directory, number))
  }

  /** Switches to another log. @throws LEVEL_IO_ERROR */
  begin(): LogWriter {
    const previous = this.#needed.at(-1)
    const prepared = this.#takePrepared(previous)
    const log = prepared ?? createLog(this.#fileSystem, this.#directory, this.#takeNumber(), previous)
    this.#needed.push(log)
    return log
  }

  /** Retires the logs before this one: all their entries are in installed tables. */
  retire(firstNeeded: number): void {
    for (let log = this.#needed[0]; log !== undefined && log.logNumber < firstNeeded; log = this.#needed[0]) {
      this.#needed.shift()
      closeQuietly(log)
      if (log.bytes <= this.#maxRecycledBytes) this.#recycle(log.logNumber)
      else this.#remove(log.logNumber)
    }
  }

  /** Closes the files, trimmed to their contents, and removes the prepared ones. */
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

  /** A prepared log with a higher number than the previous log. */
  #takePrepared(previous: LogWriter | undefined): LogWriter | undefined {
    for (let log = this.#prepared.shift(); log !== undefined; log = this.#prepared.shift()) {
      if (previous !== undefined && log.logNumber > previous.logNumber) {
        log.setPrevious(previous)
        return log
      }
      // Another log was begun during its preparation: it needs a new number.
      closeQuietly(log)
      this.#recycle(log.logNumber)
    }
    return undefined
  }

  /** Prepares an obsolete log for reuse, unless enough are prepared. */
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
      // The next log will be a new file; the next open cleans up this one.
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
