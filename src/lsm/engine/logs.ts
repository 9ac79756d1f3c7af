/**
 * The write-ahead logs that are needed: one per memtable that is not in tables yet, the newest one being written.
 *
 * A log that is not needed any more becomes the next one, so that its pages need not be made again. Since that takes a
 * sync of the directory, it is prepared ahead; when it is not ready in time, the next log is a new file.
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

/** A larger log is not recycled: one huge batch would occupy the disk for ever. As a multiple of writeBufferSize. */
const maxRecycledFactor = 4

export class Logs {
  readonly #fileSystem: FileSystem
  readonly #directory: string
  readonly #maxRecycledBytes: number
  readonly #takeNumber: () => number
  /** Oldest first. */
  readonly #needed: LogWriter[] = []
  /** Made of an obsolete log while the newest of the needed ones was written. */
  #prepared: LogWriter | undefined
  #preparing: Promise<void> | undefined
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
      const isSpare = this.#prepared === undefined && this.#preparing === undefined && !this.#isClosed
      if (isSpare && log.bytes <= this.#maxRecycledBytes) this.#preparing = this.#prepare(log.logNumber)
      else this.#remove(log.logNumber)
    }
  }

  /** Closes the files, which stay. */
  async close(): Promise<void> {
    this.#isClosed = true
    await this.#preparing
    if (this.#prepared !== undefined) {
      closeQuietly(this.#prepared)
      this.#remove(this.#prepared.logNumber)
      this.#prepared = undefined
    }
    for (const log of this.#needed.splice(0)) closeQuietly(log)
  }

  /** The prepared log, when it was made to follow the log that is to be followed. */
  #takePrepared(previous: LogWriter | undefined): LogWriter | undefined {
    const prepared = this.#prepared
    if (prepared === undefined) return undefined
    this.#prepared = undefined
    if (previous !== undefined && prepared.logNumber > previous.logNumber) return prepared
    // Another log was begun in between: its number came too early.
    closeQuietly(prepared)
    this.#remove(prepared.logNumber)
    return undefined
  }

  async #prepare(oldNumber: number): Promise<void> {
    try {
      const number = this.#takeNumber()
      this.#prepared = await recycleLog(this.#fileSystem, this.#directory, oldNumber, number, this.current)
    } catch {
      // The next log will be a new file; what became of this one is seen to at the next open.
    } finally {
      this.#preparing = undefined
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
