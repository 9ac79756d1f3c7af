/**
 * Copies an open store, as it is at one moment, into a new directory. Tables, which never change, are hard-linked
 * where the file system allows it, and copied otherwise; memtables are written as level-0 tables; log and manifest are
 * new.
 *
 * Invariant: the directory exists only once the copy is complete and durable (fs/staged-directory.ts).
 */
import { join } from 'node:path'
import { InlineRunner } from '../compaction/inline-runner.ts'
import { workerRunner } from '../compaction/worker-runner.ts'
import type { CapturedState } from '../engine/capture.ts'
import type { Engine } from '../engine/engine.ts'
import { isTurnLong, nextTurn } from '../engine/event-loop-turn.ts'
import { aborted, corruption, ioError } from '../errors.ts'
import { comparatorName } from '../format/version-edit.ts'
import { sideFileName, tableName } from '../fs/file-names.ts'
import type { FileSystem } from '../fs/file-system.ts'
import { stageDirectory } from '../fs/staged-directory.ts'
import { hasSystemCode } from '../fs/system-error.ts'
import type { Cancellation } from '../value/attached.ts'
import { writeCurrent } from '../version/current-file.ts'
import { createLog } from '../version/log-files.ts'
import { createManifest } from '../version/manifest.ts'
import type { TableMeta } from '../version/table-meta.ts'

export interface BackupOptions {
  /** Aborts with LEVEL_ABORTED, leaving nothing behind. */
  readonly signal?: AbortSignal | undefined
  /** Called after every table. */
  readonly onProgress?: ((progress: BackupProgress) => void) | undefined
  /** May add further files, with durable contents, before the directory gets its name. */
  readonly finish?: ((directory: string, fileSystem: FileSystem) => Promise<void>) | undefined
}

export interface BackupProgress {
  readonly bytes: number
  readonly totalBytes: number
}

export interface BackupResult {
  readonly tables: number
  /** Bytes of all tables, and of those that share a file with the original. */
  readonly bytes: number
  readonly linkedBytes: number
}

type Options = Omit<BackupOptions, 'signal'> & { readonly signal: Cancellation }

/** Error codes of file systems that cannot link a file. */
const cannotLink = ['EXDEV', 'EROFS', 'EPERM', 'ENOTSUP', 'EOPNOTSUPP', 'ENOSYS', 'EMLINK'] as const
const copyBytes = 256 * 1024

/**
 * @param location must not exist, or be an empty directory
 * @throws LEVEL_IO_ERROR, with a cause EEXIST for a location that is taken, EINVAL for one within a database;
 * LEVEL_CORRUPTION; LEVEL_ABORTED
 */
export async function backupStore(
  engine: Engine,
  state: CapturedState,
  location: string,
  options: Options
): Promise<BackupResult> {
  try {
    const fill = async (directory: string): Promise<BackupResult> => {
      const result = await new Backup(engine, state, directory, options).run()
      await options.finish?.(directory, engine.fileSystem)
      return result
    }
    return await stageDirectory(engine.fileSystem, location, fill, engine.directory)
  } catch (error) {
    const { code } = error as { readonly code?: string }
    throw code?.startsWith('LEVEL_') ? error : ioError(`Cannot back up to ${location}`, error, { path: location })
  }
}

class Backup {
  readonly #engine: Engine
  readonly #state: CapturedState
  readonly #directory: string
  readonly #options: Options
  #nextNumber = 1
  #canLink = true
  #bytes = 0
  #linkedBytes = 0

  constructor(engine: Engine, state: CapturedState, directory: string, options: Options) {
    this.#engine = engine
    this.#state = state
    this.#directory = directory
    this.#options = options
  }

  async run(): Promise<BackupResult> {
    const { version } = this.#state.view
    for (const table of version.allTables()) {
      await this.#check()
      await this.#take(table)
      this.#options.onProgress?.({ bytes: this.#bytes, totalBytes: version.bytes })
    }
    const [level0 = [], ...below] = version.levels
    const levels = [[...(await this.#writeMemtables()), ...level0], ...below]
    await this.#check()
    await this.#writeManifest(levels)
    return {
      tables: levels.flat().length,
      bytes: levels.flat().reduce((sum, { bytes }) => sum + bytes, 0),
      linkedBytes: this.#linkedBytes
    }
  }

  async #take({ number, bytes }: TableMeta): Promise<void> {
    const { fileSystem, directory } = this.#engine
    if (await this.#transfer(tableName(number), bytes)) this.#linkedBytes += bytes
    const sideBytes = fileSystem.size(join(directory, sideFileName(number)))
    if (sideBytes !== undefined) await this.#transfer(sideFileName(number), sideBytes)
    this.#bytes += bytes
    this.#nextNumber = Math.max(this.#nextNumber, number + 1)
  }

  /** True if the file was linked, false if it was copied. */
  async #transfer(name: string, bytes: number): Promise<boolean> {
    const { fileSystem, directory } = this.#engine
    const [from, to] = [join(directory, name), join(this.#directory, name)]
    try {
      if (this.#canLink) {
        fileSystem.link(from, to)
        return true
      }
    } catch (error) {
      if (!hasSystemCode(error, ...cannotLink)) throw error
      // If a store is open for reading only, some of its tables are in memory and others are not.
      this.#canLink = hasSystemCode(error, 'EXDEV')
    }
    await this.#copy(from, to, bytes)
    return false
  }

  async #copy(from: string, to: string, bytes: number): Promise<void> {
    const { fileSystem } = this.#engine
    const source = fileSystem.open(from, 'read')
    try {
      const target = fileSystem.open(to, 'exclusive')
      try {
        const piece = Buffer.alloc(Math.min(bytes, copyBytes))
        for (let at = 0; at < bytes; ) {
          const count = source.read(piece.subarray(0, bytes - at), at)
          if (count === 0) throw corruption(`the file ends before offset ${bytes}`, { path: from, offset: at })
          target.write(piece.subarray(0, count), at)
          at += count
          await this.#check()
        }
        await target.sync()
      } finally {
        target.close()
      }
    } finally {
      source.close()
    }
  }

  async #writeMemtables(): Promise<readonly TableMeta[]> {
    const { memtableJob: memory } = this.#state
    if (memory === undefined) return []
    const { fileSystem } = this.#engine
    const runner = fileSystem.isShared ? workerRunner : new InlineRunner(fileSystem)
    const firstNumber = this.#takeNumbers(memory.reservedNumbers)
    const { tables } = await runner.run({ ...memory, directory: this.#directory, firstNumber })
    return tables
  }

  async #writeManifest(levels: readonly (readonly TableMeta[])[]): Promise<void> {
    const { fileSystem } = this.#engine
    const logNumber = this.#takeNumbers(1)
    const log = createLog(fileSystem, this.#directory, logNumber)
    try {
      await log.sync()
    } finally {
      log.close()
    }
    const number = this.#takeNumbers(1)
    const manifest = await createManifest(fileSystem, this.#directory, number, {
      ...this.#state.manifest,
      levels,
      comparator: comparatorName,
      logNumber,
      lastSequence: this.#state.view.sequence,
      nextFileNumber: this.#nextNumber
    })
    manifest.close()
    await writeCurrent(fileSystem, this.#directory, number)
  }

  #takeNumbers(count: number): number {
    const first = this.#nextNumber
    this.#nextNumber += count
    return first
  }

  async #check(): Promise<void> {
    if (isTurnLong()) await nextTurn()
    const { signal } = this.#options
    if (signal.aborted) throw aborted(signal.reason)
  }
}
