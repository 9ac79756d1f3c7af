/**
 * Schedules flushes (flushes.ts) and compactions in a worker: at most one merge at a time, flushes first.
 *
 * Invariants:
 * 1. Tables synced by the job → directory and version edit made durable → memtables and logs released, old tables
 *    removed. A failure at any step leaves everything before it in use.
 * 2. A failed job is retried with growing delays; its memtables and their logs stay. If writers wait for it and it has
 *    failed too often, writing ends.
 * 3. If the manifest cannot be written, writing ends and no further job is started.
 */
import type { JobRunner, TableJob, TableJobResult } from '../compaction/job.ts'
import type { CompactionState, Merge, Move } from '../compaction/pick.ts'
import { pickCompaction } from '../compaction/picker.ts'
import { aborted, hasCode } from '../errors.ts'
import type { VersionEdit } from '../format/version-edit.ts'
import type { SparingFileSystem } from '../fs/sparing-file-system.ts'
import type { ResolvedOptions } from '../options.ts'
import type { Version } from '../version/version.ts'
import type { VersionSet } from '../version/version-set.ts'
import type { EngineCounters } from './counters.ts'
import { Flushes, type FlushesHost, type FrozenBuffer } from './flushes.ts'
import { RetryDelay } from './retry-delay.ts'
import type { Snapshots } from './snapshots.ts'
import { compactionLimits, mergeJob, type PlannedJob } from './table-jobs.ts'

/** The tables that a version edit adds. */
export type AddedTables = NonNullable<VersionEdit['newTables']>

/** The tables that a version edit drops. */
export type DroppedTables = NonNullable<VersionEdit['deletedTables']>

/** What the background work needs of the engine. */
export interface BackgroundHost {
  readonly fileSystem: SparingFileSystem
  readonly directory: string
  readonly options: ResolvedOptions
  readonly versions: VersionSet
  readonly snapshots: Snapshots
  readonly runner: JobRunner
  readonly counters: EngineCounters
  /** Frozen memtables, oldest first. */
  frozen(): readonly FrozenBuffer[]
  /**
   * The entries of these memtables are in installed tables; `milliseconds` is the time the flush took, excluding
   * overlap with the previous one.
   */
  onFlushed(buffers: readonly FrozenBuffer[], milliseconds: number): void
  /** A version edit was installed. */
  onInstalled(edit: VersionEdit): void
  /** There are fewer tables or memtables: writers may resume. */
  onProgress(): void
  /** Whether writers wait for a flush or a merge. */
  hasWaitingWriters(): boolean
  /** Ends writing. */
  fail(error: Error): void
}

/** What a pick that started nothing saw. */
interface EmptyPick {
  readonly version: Version
  readonly running: Merge | undefined
  readonly oldestSnapshot: number | undefined
}

/**
 * Milliseconds between opening a store as it was closed and looking for merges: choosing among hundreds of tables takes
 * 9 ms in a process that has never done it, and whoever has just opened a store wants to read it. The first write ends
 * the delay: a store that is always closed soon after it was opened would get more and more tables.
 */
const firstPickDelay = 200

export class Background {
  readonly #host: BackgroundHost
  readonly #abort = new AbortController()
  readonly #flushes: Flushes
  readonly #mergeRetry: RetryDelay
  #merging: Promise<void> | undefined
  #moving: Promise<void> | undefined
  /** Until it fires nothing is picked. */
  #firstPick: NodeJS.Timeout | undefined
  #running: Merge | undefined
  /** State at the last pick that started nothing. */
  #lastEmptyPick: EmptyPick | undefined
  /** Manual merges, drops and ingests, one after another; the picker pauses while there are any. */
  #manualQueue: Promise<void> = Promise.resolve()
  #manualCount = 0
  /** Why the last merge failed; undefined once one has succeeded. */
  #mergeError: Error | undefined
  #isStopped = false

  constructor(host: BackgroundHost) {
    this.#host = host
    this.#flushes = new Flushes(this.#flushesHost(host), () => this.schedule())
    this.#mergeRetry = new RetryDelay(() => this.schedule())
  }

  get isMerging(): boolean {
    return this.#merging !== undefined
  }

  /** Why the last job failed; undefined once one has succeeded. */
  get lastError(): Error | undefined {
    return this.#flushes.error ?? this.#mergeError
  }

  /** Goes on, a moment from now, with what was left to merge when the store was closed. */
  resume(): void {
    this.#firstPick = setTimeout(() => this.endDelay(), firstPickDelay).unref()
  }

  /** Ends the delay of resume(): something was written, which will be a table, or somebody waits. */
  endDelay(): void {
    if (this.#firstPick === undefined) return
    clearTimeout(this.#firstPick)
    this.#firstPick = undefined
    this.schedule()
  }

  /** Starts whatever is due. */
  schedule(): void {
    if (this.#isStopped) return
    this.#flushes.schedule()
    if (!this.#host.options.autoCompaction) return
    const isFree = this.#moving === undefined && this.#manualCount === 0 && !this.#mergeRetry.isWaiting
    if (isFree && this.#firstPick === undefined) this.#startPick()
  }

  /** Writers are waiting now: a job that has failed too often gets a last try at once. */
  onWritersWaiting(): void {
    this.#flushes.onWritersWaiting()
    this.#mergeRetry.expedite()
    this.endDelay()
  }

  /** Resolves when every memtable has been flushed. @throws the failure of an attempt that began after the call */
  whenFlushed(): Promise<void> {
    return this.#flushes.whenDone()
  }

  /**
   * Runs the merges that `next` returns, one after another, until it returns undefined.
   * @throws the failure of a merge
   */
  runManualMerges(next: () => Merge | undefined): Promise<void> {
    return this.#runManual(async () => {
      for (let merge = next(); merge !== undefined; merge = next()) {
        if (this.#isStopped) throw this.lastError ?? closed()
        this.#startMerge(merge)
        await this.#merging
        if (this.#mergeError !== undefined) throw this.#mergeError
      }
    })
  }

  /** Drops whole tables. @param choose selects them, called when no merge is running */
  drop(choose: () => DroppedTables): Promise<void> {
    return this.#runManual(async () => {
      if (this.#isStopped) throw this.lastError ?? closed()
      const { snapshots, counters, onProgress: progressed } = this.#host
      const deletedTables = choose()
      if (deletedTables.length === 0) return
      await snapshots.holdDuring(() => this.#install({ deletedTables }))
      counters.droppedTables += deletedTables.length
      progressed()
    })
  }

  /**
   * Adds tables written elsewhere.
   * @param choose selects their levels, called when no merge is running; undefined: nothing is added
   * @returns whether they were added
   */
  add(choose: () => Promise<AddedTables | undefined>): Promise<boolean> {
    return this.#runManual(async () => {
      if (this.#isStopped) throw this.lastError ?? closed()
      const { snapshots, counters } = this.#host
      const newTables = await choose()
      if (newTables === undefined) return false
      await snapshots.holdDuring(() => this.#install({ newTables }))
      counters.ingestedTables += newTables.length
      return true
    })
  }

  /** Runs manual operations one after another, with the picker paused. */
  #runManual<T>(run: () => Promise<T>): Promise<T> {
    this.#manualCount++
    const done = this.#manualQueue.then(async () => {
      try {
        await Promise.all([this.#merging, this.#moving])
        return await run()
      } finally {
        this.#manualCount--
        this.schedule()
      }
    })
    this.#manualQueue = done.then(
      () => undefined,
      () => undefined
    )
    return done
  }

  /** Starts no further jobs; aborts merges and waits for flushes. */
  async stop(): Promise<void> {
    this.halt()
    await Promise.all([this.#flushes.whenIdle(), this.#merging, this.#moving, this.#manualQueue])
  }

  #startPick(): void {
    const { versions, options, snapshots } = this.#host
    const { current } = versions
    const oldestSnapshot = snapshots.oldest
    if (this.#lastEmptyPick !== undefined && this.#isSame(this.#lastEmptyPick, oldestSnapshot)) return
    const state: CompactionState = {
      running: this.#running === undefined ? [] : [this.#running],
      movesOnly: this.#merging !== undefined,
      oldestSnapshot,
      pointer: (level, group) => versions.compactionPointer(level, Buffer.from(group, 'latin1'))
    }
    const pick = pickCompaction(current, compactionLimits(options), state)
    if (pick?.kind === 'move') this.#startMove(pick)
    else if (pick?.kind === 'merge') this.#startMerge(pick)
    else this.#lastEmptyPick = { version: current, running: this.#running, oldestSnapshot }
  }

  /** Whether the picker would decide the same again: for the same tables and merge, with the same entries held back. */
  #isSame(last: EmptyPick, oldestSnapshot: number | undefined): boolean {
    const isHeldBackAsBefore = last.oldestSnapshot === undefined || last.oldestSnapshot === oldestSnapshot
    return last.version === this.#host.versions.current && last.running === this.#running && isHeldBackAsBefore
  }

  #startMove(move: Move): void {
    this.#moving = this.#move(move).finally(() => {
      this.#moving = undefined
      this.schedule()
    })
  }

  #startMerge(merge: Merge): void {
    this.#running = merge
    this.#merging = this.#merge(merge).finally(() => {
      this.#merging = undefined
      this.#running = undefined
      this.schedule()
    })
  }

  #flushesHost(host: BackgroundHost): FlushesHost {
    const { fileSystem, directory, options, versions, snapshots, counters } = host
    return {
      fileSystem,
      directory,
      options,
      versions,
      snapshots,
      frozen: () => host.frozen(),
      run: (plan) => this.#run(plan),
      install: (edit) => this.#install(edit),
      onFlushed: (buffers, result, milliseconds) => {
        counters.addFlush(result)
        host.onFlushed(buffers, milliseconds)
        host.onProgress()
      },
      onFailed: (error, retry) => this.#onJobFailed(error, retry)
    }
  }

  async #move({ level, toLevel, tables }: Move): Promise<void> {
    try {
      await this.#install({
        deletedTables: tables.map(({ number }) => ({ level, number })),
        newTables: tables.map((table) => ({ level: toLevel, table }))
      })
      this.#host.counters.moves += tables.length
      this.#host.onProgress()
    } catch (error) {
      this.#mergeError = error as Error
      this.#onJobFailed(error, this.#mergeRetry)
    }
  }

  async #merge(merge: Merge): Promise<void> {
    const { directory, options, versions, snapshots, counters } = this.#host
    const version = versions.current.retain()
    try {
      const result = await this.#run(() => mergeJob(directory, merge, version, snapshots.live(), options))
      await this.#install(editOf(merge, result))
      counters.addMerge(merge.outputLevel, result)
      this.#mergeRetry.reset()
      this.#mergeError = undefined
      this.#host.onProgress()
    } catch (error) {
      this.#mergeError = error as Error
      this.#onJobFailed(error, this.#mergeRetry)
    } finally {
      version.release()
    }
  }

  /** @param plan called again where the job, or its thread, has run out of descriptors: a job is used up by a run */
  #run(plan: () => PlannedJob): Promise<TableJobResult> {
    const { fileSystem, versions, runner } = this.#host
    return fileSystem.retrying(() => {
      const planned = plan()
      const firstNumber = versions.takeFileNumbers(planned.reservedNumbers)
      const job: TableJob = { ...planned, firstNumber }
      return runner.run(job, job.kind === 'compaction' ? this.#abort.signal : undefined)
    })
  }

  /** Ends writing if the manifest cannot be written. */
  async #install(edit: VersionEdit): Promise<void> {
    const { versions } = this.#host
    try {
      await versions.install(edit)
    } catch (error) {
      if (versions.failure !== undefined) this.#end(error as Error)
      throw error
    }
    this.#host.onInstalled(edit)
  }

  #onJobFailed(error: unknown, retry: RetryDelay): void {
    if (this.#isStopped || hasCode(error, 'LEVEL_ABORTED')) return
    this.#host.counters.failedJobs++
    retry.scheduleRetry(this.#host.hasWaitingWriters())
    if (retry.isExhausted && this.#host.hasWaitingWriters()) this.#end(error as Error)
  }

  #end(error: Error): void {
    this.halt()
    this.#host.fail(error)
  }

  /** Starts no further jobs and aborts merges. */
  halt(): void {
    this.#isStopped = true
    clearTimeout(this.#firstPick)
    this.#flushes.halt()
    this.#mergeRetry.cancel()
    this.#abort.abort()
  }
}

function closed(): Error {
  return aborted('the database is closed')
}

function editOf({ inputs, outputLevel, group }: Merge, result: TableJobResult): VersionEdit {
  const [top] = inputs
  const last = top?.tables.at(-1)
  const isLeveled = top !== undefined && top.level > 0 && last !== undefined
  return {
    deletedTables: inputs.flatMap(({ level, tables }) => tables.map(({ number }) => ({ level, number }))),
    newTables: result.tables.map((table) => ({ level: outputLevel, table })),
    ...(isLeveled
      ? { compactionPointers: [{ level: top.level, partition: Buffer.from(group, 'latin1'), key: last.largest }] }
      : {})
  }
}
