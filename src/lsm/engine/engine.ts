/**
 * An open store: its memtables and tables, and the work that moves entries between them.
 *
 * Invariants:
 * 1. The places to look for a key are, newest first: the active memtable, the frozen ones, level 0, the levels below.
 *    They are replaced as a whole, so that capturing them synchronously yields one moment.
 * 2. `sequence` is that of the newest visible entry; everything up to it is in the places.
 * 3. A memtable is released only when its entries are in installed tables; its memory is reused only when no read view
 *    holds it either.
 * 4. Reads continue to work after writing has failed.
 */
import type { BlockCache } from '../cache/block-cache.ts'
import type { JobRunner } from '../compaction/job.ts'
import type { PutHashes } from '../encoded-batch.ts'
import { notOpen, notSupported } from '../errors.ts'
import type { VersionEdit } from '../format/version-edit.ts'
import type { Lock } from '../fs/lock.ts'
import type { SparingFileSystem } from '../fs/sparing-file-system.ts'
import type { ArenaPool } from '../memtable/arena.ts'
import type { ResolvedOptions } from '../options.ts'
import { Gaps } from '../read/gaps.ts'
import type { TableCache } from '../version/table-cache.ts'
import type { Version } from '../version/version.ts'
import type { VersionSet } from '../version/version-set.ts'
import { applyBatches } from './apply-batches.ts'
import { type AddedTables, Background, type DroppedTables } from './background.ts'
import { EngineCounters } from './counters.ts'
import { EngineReadView } from './engine-read-view.ts'
import type { FrozenBuffer } from './flushes.ts'
import { Garbage } from './garbage.ts'
import { Ingest } from './ingest.ts'
import type { Logs } from './logs.ts'
import { mergeOfRange } from './range-merge.ts'
import { type Moment, Snapshots } from './snapshots.ts'
import { WriteBuffer } from './write-buffer.ts'
import { WriteController } from './write-controller.ts'
import type { WriteGroup, WriteOperation } from './write-group.ts'
import { WriteQueue } from './write-queue.ts'

export interface EngineParts {
  readonly fileSystem: SparingFileSystem
  /** Real path. */
  readonly directory: string
  readonly options: ResolvedOptions
  readonly lock: Lock
  readonly versions: VersionSet
  readonly logs: Logs
  readonly lastSequence: number
  readonly blocks: BlockCache
  readonly tables: TableCache
  readonly pool: ArenaPool
  readonly runner: JobRunner
}

/** On close, a memtable larger than this is flushed, which spares the next open its replay. */
const closeFlushBytes = 256 * 1024

export class Engine implements Moment {
  readonly fileSystem: SparingFileSystem
  readonly directory: string
  readonly options: ResolvedOptions
  readonly versions: VersionSet
  readonly tables: TableCache
  readonly blocks: BlockCache
  readonly snapshots: Snapshots
  readonly counters = new EngineCounters()
  readonly #gaps = new Gaps(this)
  readonly #parts: EngineParts
  readonly #logs: Logs
  readonly #queue: WriteQueue
  readonly #background: Background
  readonly #garbage: Garbage
  readonly #writeController: WriteController
  /** Newest first; the first is the active one. */
  #buffers: readonly WriteBuffer[]
  /** Memtables that are not active yet, and will never be if writing fails first. */
  readonly #waiting = new Set<WriteBuffer>()
  /** Oldest first. */
  #frozen: readonly FrozenBuffer[] = []
  #sequence: number
  /** Number of unreleased read views. */
  #views = 0
  #onLastView: (() => void) | undefined
  /** Whether close() has waited for the last view: nobody may take one any more. */
  #isClosed = false
  readonly #onViewReleased = (): void => {
    this.#views--
    if (this.#views === 0) this.#onLastView?.()
  }

  constructor(parts: EngineParts) {
    const { directory, options, versions, tables, blocks, logs, fileSystem, pool } = parts
    this.#parts = parts
    this.snapshots = new Snapshots(this)
    this.fileSystem = fileSystem
    this.directory = directory
    this.options = options
    this.versions = versions
    this.tables = tables
    this.blocks = blocks
    this.#logs = logs
    this.#sequence = parts.lastSequence
    this.#writeController = new WriteController(options, this.counters, versions.current.tables(0))
    this.#garbage = new Garbage(fileSystem, directory, tables, versions)
    const active = new WriteBuffer(pool)
    this.#buffers = [active]
    this.#queue = this.#makeQueue(active)
    this.#background = this.#makeBackground()
    // Recovery that has written a table may be what happens at every opening.
    if (versions.isConsolidated) this.#background.resume()
    else this.#background.schedule()
  }

  /** Memtables, newest first. */
  get buffers(): readonly WriteBuffer[] {
    return this.#buffers
  }

  get version(): Version {
    return this.versions.current
  }

  /** Sequence number of the newest visible entry. */
  get sequence(): number {
    return this.#sequence
  }

  /** See GapMoment. */
  get epoch(): number | undefined {
    return this.snapshots.epoch
  }

  /** Numbers of the logs with entries that are not in tables yet, ascending. */
  get logNumbers(): readonly number[] {
    return this.#logs.numbers
  }

  /** Log bytes that the next open would have to replay. */
  get logBytes(): number {
    return this.#logs.bytes
  }

  get pendingMemtables(): number {
    return this.#frozen.length
  }

  /** Whether a merge is running, for which edits of the tables wait. */
  get isMerging(): boolean {
    return this.#background.isMerging
  }

  /** Why the last flush or merge failed, or why writing ended; undefined while all is well. */
  get lastError(): Error | undefined {
    return this.#queue.failure ?? this.#background.lastError
  }

  /** @throws the error that ended writing */
  put(key: Uint8Array, value: Uint8Array, sync: boolean, hashes?: Int32Array): Promise<void> {
    return this.#queue.put(key, value, sync, hashes)
  }

  delete(key: Uint8Array, sync: boolean): Promise<void> {
    return this.#queue.delete(key, sync)
  }

  /** Atomic. REQUIRES: at least one operation. */
  batch(operations: readonly WriteOperation[], sync: boolean, takesHashes = false): Promise<void> {
    return this.#queue.batch(operations, sync, takesHashes)
  }

  /** As batch(), for `count` encoded operations, which are copied. REQUIRES: at least one. */
  write(operations: Uint8Array, count: number, sync: boolean, hashes?: readonly PutHashes[]): Promise<void> {
    return this.#queue.writeEncoded(operations, count, sync, hashes)
  }

  /** Visits the keys of writes that are not visible yet: views of immutable bytes. */
  visitPendingKeys(visit: (key: Uint8Array) => void): void {
    this.#queue.visitPendingKeys(visit)
  }

  /** Resolves when all writes submitted so far are visible. @throws the error that ended writing */
  whenWritten(): Promise<void> {
    return this.#queue.whenWritten()
  }

  /** A view of a moment, by default now; the caller releases it. @throws LEVEL_DATABASE_NOT_OPEN */
  view(at: Moment = this): EngineReadView {
    if (this.#isClosed) throw notOpen()
    this.#views++
    return new EngineReadView(at, this.#gaps, this.#onViewReleased)
  }

  /** Flushes the memtables. @throws LEVEL_IO_ERROR */
  async flush(): Promise<void> {
    await this.#queue.rotate()
    await this.#background.whenFlushed()
  }

  /**
   * Merges everything in [start, end] into one level, drops entries that nobody can see, and removes files that nobody
   * reads.
   */
  async compactRange(start: Uint8Array, end: Uint8Array): Promise<void> {
    await this.flush()
    let isDone = false
    await this.#background.runManualMerges(() => {
      if (isDone) return undefined
      isDone = true
      return mergeOfRange(this.version, start, end)
    })
    // Whoever compacts may need the room.
    await this.#garbage.finish()
  }

  /**
   * Drops whole tables by a version edit, while nothing is merged; open snapshots keep them.
   * @param choose selects the tables once no merge is running; it may return none
   * @throws LEVEL_IO_ERROR, LEVEL_ABORTED
   */
  dropTables(choose: () => DroppedTables): Promise<void> {
    return this.#background.drop(choose)
  }

  /**
   * @throws the error that ended writing; LEVEL_NOT_SUPPORTED for a store with value filters, since ingested tables
   * have none
   */
  async beginIngest(): Promise<Ingest> {
    if (this.#queue.failure !== undefined) throw this.#queue.failure
    if (this.options.values !== undefined) throw notSupported('A store with the option values cannot ingest tables')
    return new Ingest(this)
  }

  /**
   * Adds tables written elsewhere by a version edit, while nothing is merged. Earlier writes are made durable first;
   * open snapshots do not see the tables.
   * @param choose selects their levels once no merge is running; undefined cancels
   * @returns whether they were added
   * @throws LEVEL_IO_ERROR, LEVEL_ABORTED
   */
  addTables(choose: () => AddedTables | undefined): Promise<boolean> {
    return this.#background.add(async () => {
      await this.sync()
      return choose()
    })
  }

  /** Makes everything visible now durable. @throws LEVEL_IO_ERROR */
  async sync(): Promise<void> {
    await this.#logs.current.sync()
  }

  /** Called when the last user of a version has released it. */
  onVersionUnused(): void {
    this.#garbage.collect()
  }

  /**
   * Waits for pending reads and writes and for the flushes that writes need; merges are aborted.
   * REQUIRES: no new reads and writes, except through existing views.
   */
  async close(): Promise<void> {
    await new Promise<void>((resolve) => {
      this.#onLastView = () => {
        this.#isClosed = true
        resolve()
      }
      if (this.#views === 0) this.#onLastView()
    })
    await this.#queue.whenIdle()
    if (this.#queue.failure === undefined && this.#buffers[0]!.fillBytes > closeFlushBytes) {
      // If the flush fails, the entries are still in the log.
      await this.flush().catch(() => undefined)
    }
    await this.#background.stop()
    // Acknowledged writes are in files already: a failure here loses nothing, and must not prevent the other steps.
    const steps = [
      () => this.#logs.close(),
      async () => {
        await this.versions.consolidate()
        this.#garbage.onInstalled({})
      },
      () => this.#garbage.finish(),
      () => this.versions.close(),
      () => this.tables.close()
    ]
    for (const step of steps) {
      const done = Promise.resolve().then(step)
      await done.catch(() => undefined)
    }
    for (const buffer of [...this.#buffers, ...this.#waiting]) buffer.release()
    this.#buffers = []
    this.#parts.lock.release()
  }

  onSnapshotReleased(): void {
    this.#background.schedule()
  }

  #makeQueue(active: WriteBuffer): WriteQueue {
    const { pool, options, lastSequence } = this.#parts
    const host = {
      newBuffer: () => {
        const buffer = new WriteBuffer(pool)
        this.#waiting.add(buffer)
        return buffer
      },
      activate: (buffer: WriteBuffer) => this.#activate(buffer),
      mayActivate: () => this.#mayActivate(),
      delay: (bytes: number) => this.#writeController.delay(bytes, this.#frozen.length),
      append: (record: Uint8Array) => {
        this.#logs.current.append(record)
        this.counters.loggedBytes += record.length
      },
      sync: () => this.#logs.current.sync(),
      publish: (group: WriteGroup) => this.#publish(group),
      onFailed: () => this.#background.halt()
    }
    return new WriteQueue(host, active, lastSequence, options.writeBufferSize)
  }

  #makeBackground(): Background {
    const { fileSystem, directory, options, versions, runner } = this.#parts
    return new Background({
      fileSystem,
      directory,
      options,
      versions,
      runner,
      snapshots: this.snapshots,
      counters: this.counters,
      frozen: () => this.#frozen,
      onFlushed: (buffers, milliseconds) => this.#onFlushed(buffers, milliseconds),
      onInstalled: (edit) => this.#onInstalled(edit),
      onProgress: () => this.#queue.resume(),
      hasWaitingWriters: () => this.#queue.isStalled,
      fail: (error) => this.#queue.fail(error)
    })
  }

  /** Makes this memtable the active one; the previous one is frozen and will be flushed. */
  #activate(buffer: WriteBuffer): void {
    const [previous] = this.#buffers
    const nextLog = this.#logs.begin().logNumber
    this.#waiting.delete(buffer)
    if (previous !== undefined && !previous.memtable.isEmpty) {
      this.#frozen = [...this.#frozen, { buffer: previous, lastSequence: this.#sequence, nextLog }]
      this.#buffers = [buffer, ...this.#buffers]
    } else {
      this.#buffers = [buffer, ...this.#buffers.slice(1)]
      previous?.release()
    }
    this.#background.schedule()
  }

  #publish(group: WriteGroup): void {
    const { memtable } = group.buffer
    const place = { path: this.#logs.current.path }
    applyBatches(memtable, group.chunk, group.payloadStart, group.payloadEnd, place, this.#gaps)
    this.#sequence = group.lastSequence
    this.#background.endDelay()
  }

  #onFlushed(flushed: readonly FrozenBuffer[], milliseconds: number): void {
    const bytes = flushed.reduce((sum, { buffer }) => sum + buffer.memtable.arena.usedBytes, 0)
    this.#writeController.onFlushed(bytes, milliseconds)
    const gone = new Set(flushed.map(({ buffer }) => buffer))
    this.#frozen = this.#frozen.filter(({ buffer }) => !gone.has(buffer))
    this.#buffers = this.#buffers.filter((buffer) => !gone.has(buffer))
    for (const buffer of gone) buffer.release()
    this.#logs.retire(this.versions.logNumber)
  }

  #onInstalled(edit: VersionEdit): void {
    this.#writeController.onInstalled(this.version.tables(0))
    this.#garbage.onInstalled(edit)
  }

  #mayActivate(): boolean {
    if (this.#writeController.mayActivate(this.#frozen.length)) return true
    this.#background.onWritersWaiting()
    return false
  }
}
