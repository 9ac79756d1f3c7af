/**
 * Writes memtables out, two jobs at a time: while the tables of one are synced and installed, the next one is written.
 *
 * Invariants:
 * 1. Each job takes all memtables that were set aside and are in no job yet: jobs follow each other as memtables do.
 * 2. Edits are installed in the order of the jobs, so that what is in tables is always a prefix of what was written.
 * 3. When a job fails, those after it fail, too, and what they have written is removed: the next attempt begins with the
 *    oldest memtable.
 */
import { join } from 'node:path'
import type { TableJobResult } from '../compaction/job.ts'
import { aborted } from '../errors.ts'
import type { VersionEdit } from '../format/version-edit.ts'
import { sideFileName, tableName } from '../fs/file-names.ts'
import type { FileSystem } from '../fs/file-system.ts'
import type { ResolvedOptions } from '../options.ts'
import type { VersionSet } from '../version/version-set.ts'
import { RetryDelay } from './retry-delay.ts'
import type { Snapshots } from './snapshots.ts'
import { flushJob, type PlannedJob } from './table-jobs.ts'
import type { WriteBuffer } from './write-buffer.ts'

/** One is written while the tables of the other are on their way to the device. */
const maxJobs = 2

export interface FrozenBuffer {
  readonly buffer: WriteBuffer
  /** Sequence number of its last entry. */
  readonly lastSequence: number
  /** The log that was begun after it. */
  readonly nextLog: number
}

/** What flushes need of the background. */
export interface FlushesHost {
  readonly fileSystem: FileSystem
  readonly directory: string
  readonly options: ResolvedOptions
  readonly versions: VersionSet
  readonly snapshots: Pick<Snapshots, 'live'>
  /** Memtables that were set aside, oldest first. */
  frozen(): readonly FrozenBuffer[]
  run(job: PlannedJob): Promise<TableJobResult>
  /** Makes the edit durable, then current. */
  install(edit: VersionEdit): Promise<void>
  /** The entries of these memtables are in installed tables, which took so long. */
  flushed(buffers: readonly FrozenBuffer[], result: TableJobResult, milliseconds: number): void
  /** A job failed; the host decides when it is tried again. */
  failed(error: Error, retry: RetryDelay): void
}

interface Flush {
  readonly memtables: number
  /** True when it was installed. Never rejects. */
  readonly isInstalled: Promise<boolean>
}

export class Flushes {
  readonly #host: FlushesHost
  readonly #schedule: () => void
  readonly #retry: RetryDelay
  /** Jobs that have not ended, in order. */
  #running: readonly Flush[] = []
  /** One of the jobs has failed: the others have to end before there is a new attempt. */
  #isFailing = false
  #error: Error | undefined
  /** When the last job ended: from then on the next one had all there is. */
  #lastEnd = 0
  #isStopped = false

  /** @param schedule called when it is time for another attempt */
  constructor(host: FlushesHost, schedule: () => void) {
    this.#host = host
    this.#schedule = schedule
    this.#retry = new RetryDelay(schedule)
  }

  get isBusy(): boolean {
    return this.#running.length > 0
  }

  /** Why the last attempt failed, while none has succeeded since. */
  get error(): Error | undefined {
    return this.#error
  }

  /** Starts a job, if there is something to write out. */
  schedule(): void {
    if (!this.#isStopped && !this.#retry.isWaiting) this.#start()
  }

  /** Writers wait from now on: what has failed too often already is tried once more. */
  writersWait(): void {
    this.#retry.hold()
  }

  /** Resolves when no memtable is left to be written out. @throws why an attempt failed that began after the call */
  async whenDone(): Promise<void> {
    await this.whenIdle()
    while (this.#host.frozen().length > 0) {
      if (this.#isStopped && !this.isBusy) throw this.#error ?? aborted('the database is closed')
      this.#start()
      await this.whenIdle()
      if (this.#error !== undefined) throw this.#error
    }
  }

  /** Resolves when the jobs that run now have ended. */
  async whenIdle(): Promise<void> {
    await Promise.all(this.#running.map(({ isInstalled }) => isInstalled))
  }

  /** Starts nothing any more; jobs that run go on. */
  halt(): void {
    this.#isStopped = true
    this.#retry.cancel()
  }

  #start(): void {
    if (this.#isFailing || this.#running.length === maxJobs) return
    const taken = this.#running.reduce((sum, { memtables }) => sum + memtables, 0)
    const buffers = this.#host.frozen().slice(taken)
    if (buffers.length === 0) return
    const isInstalled = this.#flush(buffers, this.#running.at(-1)?.isInstalled)
    this.#running = [...this.#running, { memtables: buffers.length, isInstalled }]
  }

  /** @param before what became of the job before this one */
  async #flush(buffers: readonly FrozenBuffer[], before: Promise<boolean> | undefined): Promise<boolean> {
    const begin = performance.now()
    const { lastSequence, nextLog } = buffers[buffers.length - 1]!
    let result: TableJobResult | undefined
    try {
      result = await this.#host.run(this.#plan(buffers))
      if ((await before) === false) throw aborted('a memtable before it was not written out')
      const newTables = result.tables.map((table) => ({ level: 0, table }))
      await this.#host.install({ newTables, logNumber: nextLog, lastSequence })
    } catch (error) {
      // Jobs end in order.
      await before
      if (result !== undefined) this.#remove(result)
      this.#failed(error as Error)
      return false
    }
    // From here on without waiting: what is set aside and what is taken of it change together.
    this.#end()
    this.#error = undefined
    this.#retry.reset()
    const now = performance.now()
    this.#host.flushed(buffers, result, now - Math.max(begin, this.#lastEnd))
    this.#lastEnd = now
    this.#schedule()
    return true
  }

  #plan(buffers: readonly FrozenBuffer[]): PlannedJob {
    const { directory, versions, snapshots, options } = this.#host
    const memtables = buffers.map(({ buffer }) => buffer.memtable)
    return flushJob(directory, memtables, versions.current, snapshots.live(), options)
  }

  #failed(error: Error): void {
    const isFirst = !this.#isFailing
    this.#isFailing = true
    this.#end()
    if (isFirst) {
      this.#error = error
      this.#host.failed(error, this.#retry)
    }
    this.#schedule()
  }

  /** The oldest job has ended. */
  #end(): void {
    this.#running = this.#running.slice(1)
    if (this.#running.length === 0) this.#isFailing = false
  }

  /** After a failure of the manifest everything stays: whether it names the tables is unknown. */
  #remove({ tables }: TableJobResult): void {
    const { fileSystem, directory, versions } = this.#host
    for (const { number } of versions.failure === undefined ? tables : []) {
      for (const name of [tableName(number), sideFileName(number)]) {
        try {
          fileSystem.remove(join(directory, name))
        } catch {
          // Most tables have no side file; what stays is removed at the next open.
        }
      }
    }
  }
}
