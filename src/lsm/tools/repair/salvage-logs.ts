/**
 * Turns logs into tables.
 *
 * Each log is read up to the first place where no record of it follows, or an invalid one; the next log is read in any
 * case. Unlike an open, a repair does not stop at a hole between two logs: later entries are kept, and the hole is
 * reported as a loss.
 *
 * Invariant: no sequence number occurs twice. If a log begins with one that an earlier log also has, a recovery has
 * dropped the earlier log's entries from there on, and so does repair.
 */
import { join } from 'node:path'
import { copyShared } from '../../../model/copy-bytes.ts'
import { applyBatches } from '../../engine/apply-batches.ts'
import { isTurnLong } from '../../engine/event-loop-turn.ts'
import { flushJob } from '../../engine/table-jobs.ts'
import { WriteBuffer } from '../../engine/write-buffer.ts'
import { corruption, type Place } from '../../errors.ts'
import { LogReader } from '../../format/log-reader.ts'
import { logNumberOffset, readHeader, recordHeaderBytes } from '../../format/log-record.ts'
import { decodeBatches, readFirstSequence } from '../../format/write-batch.ts'
import { logName } from '../../fs/file-names.ts'
import type { OpenFile } from '../../fs/file-system.ts'
import { ArenaPool } from '../../memtable/arena.ts'
import type { TableMeta } from '../../version/table-meta.ts'
import { Version } from '../../version/version.ts'
import { isDamage } from './losses.ts'
import { passTurn, type RepairSettings } from './settings.ts'

export interface SalvagedLogs {
  readonly tables: readonly TableMeta[]
  /** Number of operations in the logs. */
  readonly operations: number
  /** Numbers of logs with losses. */
  readonly damaged: readonly number[]
  /** Sequence number of the newest operation; 0 if there is none. */
  readonly lastSequence: number
}

/**
 * @param numbers of the logs, ascending
 * @param lastSequence sequence number before the first log; undefined if unknown
 * @throws LEVEL_IO_ERROR, Node's own errors
 */
export async function salvageLogs(
  settings: RepairSettings,
  numbers: readonly number[],
  lastSequence: number | undefined
): Promise<SalvagedLogs> {
  const salvager = new LogSalvager(settings, lastSequence)
  const firsts = numbers.map((number) => firstSequence(settings, number))
  for (const [i, number] of numbers.entries()) await salvager.salvage(number, Math.min(...firsts.slice(i + 1)))
  return salvager.finish()
}

class LogSalvager {
  readonly #settings: RepairSettings
  readonly #tables: TableMeta[] = []
  readonly #damaged: number[] = []
  #buffer = new WriteBuffer(new ArenaPool(0))
  #operations = 0
  #lastSequence = 0
  /** The sequence number with which the next batch has to begin. */
  #nextSequence: number | undefined

  constructor(settings: RepairSettings, lastSequence: number | undefined) {
    this.#settings = settings
    this.#nextSequence = lastSequence === undefined ? undefined : lastSequence + 1
  }

  /** @param limit the least sequence number in later logs */
  async salvage(number: number, limit: number): Promise<void> {
    const { losses } = this.#settings
    const file = openLog(this.#settings, number)
    try {
      const reader = new LogReader(file, number)
      for (const { payload, offset } of reader.records()) {
        if (!this.#add(payload, { path: file.path, offset }, limit)) return
        if (this.#buffer.fillBytes >= this.#settings.options.writeBufferSize) await this.#flush()
        else if (isTurnLong()) await passTurn(this.#settings)
      }
      if (!hasLaterHeader(file, number, reader.end)) return
      losses.add(file.path, 'an unreadable record', reader.end, reader.fileBytes - reader.end)
      this.#damaged.push(number)
    } catch (error) {
      losses.addDamage(file.path, error)
      this.#damaged.push(number)
    } finally {
      file.close()
    }
  }

  async finish(): Promise<SalvagedLogs> {
    await this.#flush()
    return {
      tables: this.#tables,
      operations: this.#operations,
      damaged: this.#damaged,
      lastSequence: this.#lastSequence
    }
  }

  /** False if the record is one that a recovery has dropped. @throws LEVEL_CORRUPTION for an invalid record */
  #add(payload: Uint8Array, place: Place, limit: number): boolean {
    const first = readFirstSequence(payload, 0, payload.length, place)
    if (first >= limit) return false
    const next = decodeBatches(payload, 0, payload.length, place, () => undefined)
    const due = this.#nextSequence ?? first
    if (first < due || (first > due && place.offset !== 0)) {
      throw corruption(`a batch begins with sequence ${first}, expected ${due}`, place)
    }
    if (first > due)
      this.#settings.losses.add(place.path, `the batches before this log, from sequence ${due} to ${first - 1}`)
    const { memtable } = this.#buffer
    const { chunk, bytes, offset } = memtable.arena.reserve(payload.length)
    copyShared(payload, bytes, offset)
    memtable.arena.commit(offset + payload.length)
    applyBatches(memtable, chunk, offset, offset + payload.length, place)
    this.#operations += next - first
    this.#lastSequence = next - 1
    this.#nextSequence = next
    return true
  }

  async #flush(): Promise<void> {
    const { memtable } = this.#buffer
    if (memtable.isEmpty) return
    const { directory, options, numbers, runner, signal } = this.#settings
    const planned = flushJob(directory, [memtable], new Version(), [], options)
    const job = { ...planned, firstNumber: numbers.take(planned.reservedNumbers) }
    const { tables } = await runner.run(job, signal)
    this.#tables.push(...tables)
    this.#buffer.release()
    this.#buffer = new WriteBuffer(new ArenaPool(0))
  }
}

/** The first sequence number of a log; Infinity if its first record is missing or unreadable. */
function firstSequence(settings: RepairSettings, number: number): number {
  const file = openLog(settings, number)
  try {
    for (const { payload, offset } of new LogReader(file, number).records()) {
      return readFirstSequence(payload, 0, payload.length, { path: file.path, offset })
    }
  } catch (error) {
    // Saving the log meets the same damage.
    if (!isDamage(error)) throw error
  } finally {
    file.close()
  }
  return Number.POSITIVE_INFINITY
}

function openLog({ fileSystem, directory }: RepairSettings, number: number): OpenFile {
  return fileSystem.open(join(directory, logName(number)), 'read')
}

/** Bytes read at a time. */
const windowBytes = 1 << 20

/** Whether a record header of this log follows at or after `start`: the log is then damaged there, not at its end. */
function hasLaterHeader(file: OpenFile, number: number, start: number): boolean {
  const needle = Buffer.alloc(4)
  needle.writeUInt32LE(number >>> 0)
  const window = Buffer.alloc(windowBytes)
  for (let offset = start; ; ) {
    const bytes = window.subarray(0, file.read(window, offset))
    if (bytes.length < recordHeaderBytes) return false
    for (let found = bytes.indexOf(needle); found !== -1; found = bytes.indexOf(needle, found + 1)) {
      const at = found - logNumberOffset
      if (at < 0 || at + recordHeaderBytes > bytes.length) continue
      if (readHeader(bytes, at, number, offset + at) !== undefined) return true
    }
    // Windows overlap, so that a header on a border is whole in one of them.
    offset += bytes.length - recordHeaderBytes + 1
  }
}
