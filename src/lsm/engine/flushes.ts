/**
 * Flushes memtables, two jobs at a time: while the tables of one are synced and installed, the next one is written.
 *
 * Invariants:
 * 1. Each job takes all frozen memtables that are in no job yet: jobs follow each other as memtables do.
 * 2. Edits are installed in the order of the jobs, so that the tables always hold a prefix of the writes.
 * 3. A table of tombstones alone is left out if no table is in its range: all older entries are in tables or in the
 *    same job. Otherwise each collection that is created and dropped would leave some.
 * 4. When a job fails, those after it fail, too, and their tables are removed: the next attempt starts with the oldest
 *    memtable.
 */
import { join } from 'node:path'
import type { TableJobResult } from '../compaction/job.ts'
import { aborted } from '../errors.ts'
import type { VersionEdit } from '../format/version-edit.ts'
import { sideFileName, tableName } from '../fs/file-names.ts'
import type { FileSystem } from '../fs/file-system.ts'
import type { ResolvedOptions } from '../options.ts'
import type { TableMeta } from '../version/table-meta.ts'
import type { Version } from '../version/version.ts'
import type { VersionSet } from '../version/version-set.ts'
import { RetryDelay } from './retry-delay.ts'
import type { Snapshots } from './snapshots.ts'
import { flushJob, type PlannedJob } from './table-jobs.ts'
import type { WriteBuffer } from './write-buffer.ts'

/** One is written while the tables of the other are synced. */
const maxJobs = 2

export interface FrozenBuffer {
  readonly buffer: WriteBuffer
  /** Sequence number of the buffer's last entry. */
  readonly lastSequence: number
  /** Number of the log that follows it. */
  readonly nextLog: number
}

/** What flushes need of the background work. */
export interface FlushesHost {
  readonly fileSystem: FileSystem
  readonly directory: string
  readonly options: ResolvedOptions
  readonly versions: VersionSet
  readonly snapshots: Pick<Snapshots, 'live'>
  /** Frozen memtables, oldest first. */
  frozen(): readonly FrozenBuffer[]
  /** @param plan is called for each attempt */
  run(plan: () => PlannedJob): Promise<TableJobResult>
  /** Makes the edit durable, then current. */
  install(edit: VersionEdit): Promise<void>
  /** The entries of these memtables are in installed tables; `milliseconds` is how long that took. */
  onFlushed(buffers: readonly FrozenBuffer[], result: TableJobResult, milliseconds: number): void
  /** A job failed; the host decides when to retry. */
  onFailed(error: Error, retry: RetryDelay): void
}

interface Flush {
  readonly memtables: number
  /** True if its edit was installed. Never rejects. */
  readonly isInstalled: Promise<boolean>
}

export class Flushes {
  readonly #host: FlushesHost
  readonly #schedule: () => void
  readonly #retry: RetryDelay
  /** Unfinished jobs, in order. */
  #running: readonly Flush[] = []
  /** One of the jobs has failed: the others have to end before a new attempt. */
  #isFailing = false
  #error: Error | undefined
  /** When the last job ended: from then on the next one had the worker and the disk to itself. */
  #lastEnd = 0
  #isStopped = false

  /** @param schedule called when another attempt is due */
  constructor(host: FlushesHost, schedule: () => void) {
    this.#host = host
    this.#schedule = schedule
    this.#retry = new RetryDelay(schedule)
  }

  get isBusy(): boolean {
    return this.#running.length > 0
  }

  /** Why the last attempt failed; undefined once one has succeeded. */
  get error(): Error | undefined {
    return this.#error
  }

  /** Starts a job if there is anything to flush. */
  schedule(): void {
    if (!this.#retry.isWaiting) this.#start()
  }

  /** Writers are waiting now: a flush that has failed too often gets a last try at once. */
  onWritersWaiting(): void {
    this.#retry.expedite()
  }

  /** Resolves when every memtable has been flushed. @throws the failure of an attempt that began after the call */
  async whenDone(): Promise<void> {
    await this.whenIdle()
    while (this.#host.frozen().length > 0) {
      if (this.#isStopped && !this.isBusy) throw this.#error ?? aborted('the database is closed')
      this.#start()
      await this.whenIdle()
      if (this.#error !== undefined) throw this.#error
    }
  }

  /** Resolves when the jobs running now have ended. */
  async whenIdle(): Promise<void> {
    await Promise.all(this.#running.map(({ isInstalled }) => isInstalled))
  }

  /** Starts no further jobs; running ones continue. */
  halt(): void {
    this.#isStopped = true
    this.#retry.cancel()
  }

  #start(): void {
    // Once halted, close() waits for the jobs running then, and for no others.
    if (this.#isStopped || this.#isFailing || this.#running.length === maxJobs) return
    const taken = this.#running.reduce((sum, { memtables }) => sum + memtables, 0)
    const buffers = this.#host.frozen().slice(taken)
    if (buffers.length === 0) return
    const isInstalled = this.#flush(buffers, this.#running.at(-1)?.isInstalled)
    this.#running = [...this.#running, { memtables: buffers.length, isInstalled }]
  }

  /** @param before outcome of the previous job */
  async #flush(buffers: readonly FrozenBuffer[], before: Promise<boolean> | undefined): Promise<boolean> {
    const begin = performance.now()
    const { lastSequence, nextLog } = buffers[buffers.length - 1]!
    let result: TableJobResult | undefined
    try {
      result = await this.#host.run(() => this.#plan(buffers))
      if ((await before) === false) throw aborted('an earlier memtable was not flushed')
      const { current } = this.#host.versions
      const needless = new Set(result.tables.filter((table) => isOnlyTombstones(table) && !overlapsAny(current, table)))
      const tables = result.tables.filter((table) => !needless.has(table))
      const newTables = tables.map((table) => ({ level: 0, table }))
      await this.#host.install({ newTables, logNumber: nextLog, lastSequence })
      this.#remove(needless)
    } catch (error) {
      // Jobs end in order.
      await before
      if (result !== undefined) this.#remove(result.tables)
      this.#onFailed(error as Error)
      return false
    }
    // No await from here on: the frozen memtables and the jobs' share of them change together.
    this.#end()
    this.#error = undefined
    this.#retry.reset()
    const now = performance.now()
    this.#host.onFlushed(buffers, result, now - Math.max(begin, this.#lastEnd))
    this.#lastEnd = now
    this.#schedule()
    return true
  }

  #plan(buffers: readonly FrozenBuffer[]): PlannedJob {
    const { directory, versions, snapshots, options } = this.#host
    const memtables = buffers.map(({ buffer }) => buffer.memtable)
    return flushJob(directory, memtables, versions.current, snapshots.live(), options)
  }

  #onFailed(error: Error): void {
    const isFirst = !this.#isFailing
    this.#isFailing = true
    this.#end()
    if (isFirst) {
      this.#error = error
      this.#host.onFailed(error, this.#retry)
    }
    this.#schedule()
  }

  /** Removes the oldest job. */
  #end(): void {
    this.#running = this.#running.slice(1)
    if (this.#running.length === 0) this.#isFailing = false
  }

  /** After a manifest failure the files stay: whether the manifest names the tables is unknown. */
  #remove(tables: Iterable<TableMeta>): void {
    const { fileSystem, directory, versions } = this.#host
    for (const { number } of versions.failure === undefined ? tables : []) {
      for (const name of [tableName(number), sideFileName(number)]) {
        try {
          fileSystem.remove(join(directory, name))
        } catch {
          // Most tables have no side file; leftovers are removed at the next open.
        }
      }
    }
  }
}

function isOnlyTombstones({ entries, tombstones }: TableMeta): boolean {
  return tombstones === entries
}

function overlapsAny(version: Version, { smallest, largest }: TableMeta): boolean {
  return version.levels.some((_, level) => version.overlapping(level, smallest, largest).length > 0)
}
