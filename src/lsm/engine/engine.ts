/**
 * An open store: its memtables, its tables, and what goes on between them.
 *
 * Invariants:
 * 1. The places to look for a key, newest first, are: the active memtable, the frozen ones, level 0, the levels below.
 *    They are replaced as a whole, so that whoever captures them synchronously sees one moment.
 * 2. `sequence` is that of the newest entry that is visible; everything up to it is in the places.
 * 3. A memtable is given up only when its entries are in installed tables; its memory is used again only when no read
 *    view holds it either.
 * 4. Reading goes on after a failure of writing.
 */
import type { BlockCache } from '../cache/block-cache.ts'
import type { JobRunner } from '../compaction/job.ts'
import type { PutHashes } from '../encoded-batch.ts'
import { notSupported } from '../errors.ts'
import type { VersionEdit } from '../format/version-edit.ts'
import type { FileSystem } from '../fs/file-system.ts'
import type { Lock } from '../fs/lock.ts'
import type { ArenaPool } from '../memtable/arena.ts'
import type { ResolvedOptions } from '../options.ts'
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
  readonly fileSystem: FileSystem
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

/** At close, a memtable with more than this is written out: the next open need not replay it. */
const closeFlushBytes = 256 * 1024

export class Engine implements Moment {
  readonly fileSystem: FileSystem
  readonly directory: string
  readonly options: ResolvedOptions
  readonly versions: VersionSet
  readonly tables: TableCache
  readonly blocks: BlockCache
  readonly snapshots: Snapshots
  readonly counters = new EngineCounters()
  readonly #parts: EngineParts
  readonly #logs: Logs
  readonly #queue: WriteQueue
  readonly #background: Background
  readonly #garbage: Garbage
  readonly #writeController: WriteController
  /** Newest first; the first is the active one. */
  #buffers: readonly WriteBuffer[]
  /** Oldest first. */
  #frozen: readonly FrozenBuffer[] = []
  #sequence: number
  /** Read views that are not released. */
  #views = 0
  #onLastView: (() => void) | undefined
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
    this.#background.schedule()
  }

  /** Memtables, newest first. */
  get buffers(): readonly WriteBuffer[] {
    return this.#buffers
  }

  get version(): Version {
    return this.versions.current
  }

  /** Of the newest visible entry. */
  get sequence(): number {
    return this.#sequence
  }

  /** Numbers of the logs that hold what is not in tables yet, ascending. */
  get logNumbers(): readonly number[] {
    return this.#logs.numbers
  }

  /** Bytes in logs that the next open would have to replay. */
  get logBytes(): number {
    return this.#logs.bytes
  }

  get pendingMemtables(): number {
    return this.#frozen.length
  }

  /** Why the last flush or merge failed, or writing ended; undefined while all is well. */
  get lastError(): Error | undefined {
    return this.#queue.failure ?? this.#background.lastError
  }

  /** @throws what ended writing */
  put(key: Uint8Array, value: Uint8Array, sync: boolean, hashes?: Int32Array): Promise<void> {
    return this.#queue.put(key, value, sync, hashes)
  }

  delete(key: Uint8Array, sync: boolean): Promise<void> {
    return this.#queue.delete(key, sync)
  }

  /** Whole or not at all. REQUIRES: at least one operation. */
  batch(operations: readonly WriteOperation[], sync: boolean, takesHashes = false): Promise<void> {
    return this.#queue.batch(operations, sync, takesHashes)
  }

  /** As batch(), of `count` encoded operations, which are copied. REQUIRES: at least one. */
  write(operations: Uint8Array, count: number, sync: boolean, hashes?: readonly PutHashes[]): Promise<void> {
    return this.#queue.encoded(operations, count, sync, hashes)
  }

  /** Shows the keys of what was handed in and is not visible yet: views of bytes that do not change. */
  visitWaiting(visit: (key: Uint8Array) => void): void {
    this.#queue.visitWaiting(visit)
  }

  /** Resolves when everything handed in so far is visible. @throws what ended writing */
  whenWritten(): Promise<void> {
    return this.#queue.whenWritten()
  }

  /** What is visible at a moment, by default now; the caller releases it. */
  view(at: Moment = this): EngineReadView {
    this.#views++
    return new EngineReadView(at, at.sequence, this.#onViewReleased)
  }

  /** Writes out what is in memory. @throws LEVEL_IO_ERROR */
  async flush(): Promise<void> {
    await this.#queue.rotate()
    await this.#background.whenFlushed()
  }

  /** Merges everything in [start, end] into one level and drops what nobody can see. */
  async compactRange(start: Uint8Array, end: Uint8Array): Promise<void> {
    await this.flush()
    let isDone = false
    await this.#background.mergeByHand(() => {
      if (isDone) return undefined
      isDone = true
      return mergeOfRange(this.version, start, end)
    })
  }

  /**
   * Drops tables as a whole, by an edit of the manifest, while nothing is merged; open snapshots keep them.
   * @param choose says which, when nothing is merged any more; none ends it
   * @throws LEVEL_IO_ERROR, LEVEL_ABORTED
   */
  dropTables(choose: () => DroppedTables): Promise<void> {
    return this.#background.drop(choose)
  }

  /** @throws what ended writing; LEVEL_NOT_SUPPORTED for a store with value filters, which tables come with */
  async beginIngest(): Promise<Ingest> {
    if (this.#queue.failure !== undefined) throw this.#queue.failure
    if (this.options.values !== undefined)
      throw notSupported('Tables are not ingested by a store with the option values')
    return new Ingest(this)
  }

  /**
   * Takes in tables that others have written, by an edit of the manifest, while nothing is merged. What was written
   * before is durable first; open snapshots do not see the tables.
   * @param choose says to which levels, when nothing is merged any more; undefined ends it
   * @returns whether they were taken in
   * @throws LEVEL_IO_ERROR, LEVEL_ABORTED
   */
  addTables(choose: () => AddedTables | undefined): Promise<boolean> {
    return this.#background.add(async () => {
      await this.sync()
      return choose()
    })
  }

  /** Makes durable what is visible now. @throws LEVEL_IO_ERROR */
  async sync(): Promise<void> {
    await this.#logs.current.sync()
  }

  /** Called when the last user of some version is gone. */
  versionUnused(): void {
    this.#garbage.collect()
  }

  /**
   * Waits for reads and writes on their way, and for what writes need; merges are aborted.
   * REQUIRES: no new reads and writes, but by those that hold a view.
   */
  async close(): Promise<void> {
    await new Promise<void>((resolve) => {
      this.#onLastView = resolve
      if (this.#views === 0) resolve()
    })
    await this.#queue.whenIdle()
    if (this.#queue.failure === undefined && this.#buffers[0]!.fillBytes > closeFlushBytes) {
      // What cannot be written out is in the log.
      await this.flush().catch(() => undefined)
    }
    await this.#background.stop()
    // What was acknowledged is in files already: a failure here loses nothing, and must not keep the rest open.
    const steps = [
      () => this.#logs.close(),
      async () => {
        await this.versions.shorten()
        this.#garbage.installed({})
      },
      () => this.#garbage.finish(),
      () => this.versions.close(),
      () => this.tables.close()
    ]
    for (const step of steps) {
      const done = Promise.resolve().then(step)
      await done.catch(() => undefined)
    }
    for (const buffer of this.#buffers) buffer.release()
    this.#buffers = []
    this.#parts.lock.release()
  }

  #makeQueue(active: WriteBuffer): WriteQueue {
    const { pool, options, lastSequence } = this.#parts
    const host = {
      newBuffer: () => new WriteBuffer(pool),
      activate: (buffer: WriteBuffer) => this.#activate(buffer),
      mayActivate: () => this.#mayActivate(),
      delay: (bytes: number) => this.#writeController.delay(bytes, this.#frozen.length),
      append: (record: Uint8Array) => {
        this.#logs.current.append(record)
        this.counters.loggedBytes += record.length
      },
      sync: () => this.#logs.current.sync(),
      publish: (group: WriteGroup) => this.#publish(group),
      failed: () => this.#background.halt()
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
      flushed: (buffers, milliseconds) => this.#flushed(buffers, milliseconds),
      installed: (edit) => this.#installed(edit),
      progressed: () => this.#queue.resume(),
      hasWaitingWriters: () => this.#queue.isStalled,
      jobFailed: (error) => this.tables.relieveAfter(error),
      fail: (error) => this.#queue.fail(error)
    })
  }

  /** The write queue goes on in this memtable; the one before is written out. */
  #activate(buffer: WriteBuffer): void {
    const [previous] = this.#buffers
    const nextLog = this.tables.whileOpening(() => this.#logs.begin()).logNumber
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
    applyBatches(memtable, group.chunk, group.payloadStart, group.payloadEnd, { path: this.#logs.current.path })
    this.#sequence = group.lastSequence
  }

  #flushed(flushed: readonly FrozenBuffer[], milliseconds: number): void {
    const bytes = flushed.reduce((sum, { buffer }) => sum + buffer.memtable.arena.usedBytes, 0)
    this.#writeController.flushed(bytes, milliseconds)
    const gone = new Set(flushed.map(({ buffer }) => buffer))
    this.#frozen = this.#frozen.filter(({ buffer }) => !gone.has(buffer))
    this.#buffers = this.#buffers.filter((buffer) => !gone.has(buffer))
    for (const buffer of gone) buffer.release()
    this.#logs.retire(this.versions.logNumber)
  }

  #installed(edit: VersionEdit): void {
    this.#writeController.installed(this.version.tables(0))
    this.#garbage.installed(edit)
  }

  #mayActivate(): boolean {
    if (this.#writeController.mayActivate(this.#frozen.length)) return true
    this.#background.writersWait()
    return false
  }
}
