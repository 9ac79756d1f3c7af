/**
 * Decides which records of which logs are replayed when a database opens. This is the only place with that rule:
 *
 * The batches of a store form one sequence without gaps, through all logs. Recovery yields a prefix of it: a batch
 * that survived a crash is dropped if an earlier one did not.
 *
 * 1. Logs are read in the order of their numbers, each up to the first place where no valid record follows.
 * 2. That place is a torn tail, in an older log as well as in the newest one: by the time the next log begins,
 *    everything in the previous one was handed to the operating system, but nothing is synced unless somebody asked
 *    for it. A recycled log shows no end either: its last record is followed by the bytes of an older log, torn or
 *    not.
 * 3. Whether a log lost its tail is decided by the next log, whose first batch has to begin with the expected sequence
 *    number. If it does not, the prefix ends at the hole, and later logs are dropped.
 * 4. If the missing part was known to be durable, this is corruption instead. Within a log, a synced offset beyond the
 *    hole proves that (LogReader). In a later log, any synced offset above 0 does, because a sync of a log also syncs
 *    the logs before it (LogWriter).
 * 5. The log that the manifest names as the oldest has to exist: its name was durable before the manifest's entry.
 *    Older logs are never read.
 *
 * REQUIRES of the caller: before it accepts a write, it installs the replayed entries as tables, together with a log
 * number above those of all logs replayed. Thus a torn log is never appended to, and a dropped one never comes back.
 */
import { join } from 'node:path'
import { corruption, type Place, reading } from '../errors.ts'
import { logName, parseFileName } from '../fs/file-names.ts'
import type { FileSystem } from '../fs/file-system.ts'
import { LogReader } from './log-reader.ts'
import { decodeBatches, readFirstSequence } from './write-batch.ts'

export interface RecoveredRecord {
  /** Batches, fully checked. Valid until the next record is requested. */
  readonly payload: Uint8Array
  /** The log and offset of the record, for errors. */
  readonly place: Place
  /** Sequence number of the last operation. */
  readonly lastSequence: number
}

/** The manifest's log position: a VersionSet. */
export interface LogPosition {
  /** The oldest log to read; 0: no lower bound. */
  readonly logNumber: number
  /** Everything up to this sequence number is in tables. */
  readonly lastSequence: number
}

export class LogRecovery {
  /** The names in the directory. */
  readonly listing: readonly string[]
  /** All logs from the oldest needed one on, ascending; includes those that are dropped. */
  readonly logNumbers: readonly number[]
  readonly #fileSystem: FileSystem
  readonly #directory: string
  #lastSequence: number
  #lostFrom: Place | undefined

  /** @throws LEVEL_CORRUPTION if the oldest log is missing; LEVEL_IO_ERROR */
  constructor(fileSystem: FileSystem, directory: string, from: LogPosition) {
    this.#fileSystem = fileSystem
    this.#directory = directory
    this.#lastSequence = from.lastSequence
    this.listing = reading(directory, () => fileSystem.list(directory))
    this.logNumbers = logsIn(this.listing)
      .filter((number) => number >= from.logNumber)
      .sort((a, b) => a - b)
    if (from.logNumber > 0 && this.logNumbers[0] !== from.logNumber) {
      throw corruption('the log named by the manifest is missing', { path: join(directory, logName(from.logNumber)) })
    }
  }

  /** Sequence number of the newest operation yielded so far; the next write gets the number after it. */
  get lastSequence(): number {
    return this.#lastSequence
  }

  /**
   * Where a later log shows that batches are missing; everything after that was dropped. Undefined if there is no such
   * hole: batches lost from the newest log's tail leave no trace.
   */
  get lostFrom(): Place | undefined {
    return this.#lostFrom
  }

  /** @throws LEVEL_CORRUPTION, LEVEL_IO_ERROR */
  *records(): Generator<RecoveredRecord, void> {
    let end: Place = { path: this.#directory }
    for (const number of this.logNumbers) {
      const path = join(this.#directory, logName(number))
      const file = reading(path, () => this.#fileSystem.open(path, 'read'))
      try {
        const reader = new LogReader(file, number)
        if (this.#lostFrom === undefined) yield* this.#replay(reader, path, end)
        if (this.#lostFrom !== undefined) this.#checkUnsynced(reader, path, this.#lostFrom)
        end = { path, offset: reader.end }
      } finally {
        file.close()
      }
    }
  }

  *#replay(reader: LogReader, path: string, previousEnd: Place): Generator<RecoveredRecord, void> {
    for (const { payload, offset } of reader.records()) {
      const place = { path, offset }
      const due = this.#lastSequence + 1
      const first = readFirstSequence(payload, 0, payload.length, place)
      if (first > due && offset === 0) {
        this.#lostFrom = previousEnd
        return
      }
      if (first !== due) throw corruption(`batch begins with sequence ${first}, expected ${due}`, place)
      const next = decodeBatches(payload, 0, payload.length, place, () => {})
      this.#lastSequence = next - 1
      yield { payload, place, lastSequence: this.#lastSequence }
    }
  }

  #checkUnsynced(reader: LogReader, path: string, hole: Place): void {
    const synced = reader.maxSyncedOffset()
    if (synced === 0) return
    throw corruption(`batches are missing after this position, although ${path} was synced after them`, hole)
  }
}

function logsIn(listing: readonly string[]): number[] {
  return listing.flatMap((name) => {
    const parsed = parseFileName(name)
    return parsed?.kind === 'log' ? [parsed.number] : []
  })
}
