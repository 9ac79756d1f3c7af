/**
 * Owns the manifest: the current version, the live versions, and the file numbers.
 *
 * Invariants:
 * 1. Edits are installed one at a time: names of new files durable → edit in the manifest → manifest durable → current
 *    version replaced. What a reader sees has survived a power loss.
 * 2. After a failure of any of these steps nothing is installed until the database is reopened: whether the edit is on
 *    disk is unknown. No file may be deleted either (see `failure`). Not being able to open the directory, for want of
 *    descriptors, is no such failure.
 * 3. Everything that recovery has read is made durable before any file is deleted because of it: by settle(), or by the
 *    first install().
 * 4. A file number is handed out once, also across crashes: no number of an existing file is reused.
 */
import { corruption, hasCode, ioError, type Place } from '../errors.ts'
import {
  type CompactionPointer,
  comparatorName,
  type ExtractorIdentity,
  type VersionEdit
} from '../format/version-edit.ts'
import { parseFileName } from '../fs/file-names.ts'
import type { FileSystem } from '../fs/file-system.ts'
import { isOutOfDescriptors } from '../fs/system-error.ts'
import { readCurrent } from './current-file.ts'
import { CurrentManifest, type RotationOptions } from './current-manifest.ts'
import { continueManifest, readManifest } from './manifest.ts'
import { emptyState, type ManifestState, pointerName, StateBuilder } from './manifest-state.ts'
import { Version } from './version.ts'
import { checkLogPosition, checkTables } from './version-checks.ts'

export interface VersionSetOptions extends RotationOptions {
  /** Called when a version has become unused; its tables may be obsolete. */
  readonly onVersionUnused?: () => void
}

/** Files with larger numbers are not ours; counting them would leave no numbers. */
const maxFileNumber = 2 ** 48

export class VersionSet {
  readonly #fileSystem: FileSystem
  readonly #directory: string
  readonly #options: VersionSetOptions
  readonly #live = new Set<Version>()
  #state: ManifestState
  #current: Version
  #nextFileNumber: number
  readonly #manifest: CurrentManifest
  #queue: Promise<void> = Promise.resolve()
  #failure: unknown

  private constructor(
    fileSystem: FileSystem,
    directory: string,
    options: VersionSetOptions,
    manifest: CurrentManifest,
    state: ManifestState
  ) {
    this.#fileSystem = fileSystem
    this.#directory = directory
    this.#options = options
    this.#manifest = manifest
    this.#state = state
    this.#nextFileNumber = Math.max(state.nextFileNumber, manifest.number + 1)
    this.#current = this.#newVersion(state)
  }

  /**
   * Creates a new database.
   * REQUIRES: the directory exists, and its name is durable.
   * @throws LEVEL_CORRUPTION if there are tables or logs but no CURRENT; LEVEL_IO_ERROR
   */
  static create(fileSystem: FileSystem, directory: string, options: VersionSetOptions = {}): Promise<VersionSet> {
    return wrapErrors(`Cannot create a database in ${directory}`, async () => {
      const orphan = fileSystem.list(directory).find((name) => /^(table|log)$/.test(parseFileName(name)?.kind ?? ''))
      if (orphan !== undefined) throw corruption(`there is ${orphan} but no CURRENT`, { path: directory })
      const number = 1
      const state = { ...emptyState, comparator: comparatorName, nextFileNumber: number + 1 }
      const manifest = await CurrentManifest.create(fileSystem, directory, options, number, state)
      return new VersionSet(fileSystem, directory, options, manifest, state)
    })
  }

  /**
   * Recovers the database from its manifest; the caller replays the logs (see format/log-recovery.ts).
   * @throws LEVEL_CORRUPTION, LEVEL_NOT_SUPPORTED, LEVEL_IO_ERROR
   */
  static recover(fileSystem: FileSystem, directory: string, options: VersionSetOptions = {}): Promise<VersionSet> {
    return wrapErrors(`Cannot open the database in ${directory}`, async () => {
      const number = readCurrent(fileSystem, directory)
      if (number === undefined) throw corruption('CURRENT is missing', { path: directory })
      const contents = readManifest(fileSystem, directory, number)
      checkTables(fileSystem, directory, contents.state)
      const names = fileSystem.list(directory)
      const { log, settle } = continueManifest(fileSystem, directory, number, contents.end)
      if (!contents.isClean) {
        // Nothing can be appended to it, so it is settled now.
        try {
          await fileSystem.syncDirectory(directory)
          await settle()
        } finally {
          log.close()
        }
      }
      const writable = contents.isClean ? log : undefined
      const unsettled = contents.isClean ? settle : undefined
      const manifest = new CurrentManifest(fileSystem, directory, options, number, writable, contents, unsettled)
      const versions = new VersionSet(fileSystem, directory, options, manifest, contents.state)
      versions.#reserveNumbersIn(names)
      return versions
    })
  }

  /** The newest version. Retain it to keep it beyond the next install(). */
  get current(): Version {
    return this.#current
  }

  /** The oldest log that recovery has to read. */
  get logNumber(): number {
    return this.#state.logNumber
  }

  /** Everything up to this sequence number is in tables; log `logNumber` continues after it. */
  get lastSequence(): number {
    return this.#state.lastSequence
  }

  get manifestNumber(): number {
    return this.#manifest.number
  }

  get extractor(): ExtractorIdentity | undefined {
    return this.#state.extractor
  }

  /** Why nothing can be installed, and no file deleted, any more; undefined while all is well. */
  get failure(): unknown {
    return this.#failure
  }

  get liveVersions(): ReadonlySet<Version> {
    return this.#live
  }

  /** Where the next compaction of a level within a partition continues. */
  compactionPointer(level: number, partition: Uint8Array): Uint8Array | undefined {
    return this.#state.pointers.get(pointerName(level, partition))?.key
  }

  get compactionPointers(): ReadonlyMap<string, CompactionPointer> {
    return this.#state.pointers
  }

  /**
   * Whether the manifest is as consolidate() leaves it: nothing was lost of it, and all that it names was durable before
   * it was the current one.
   */
  get isConsolidated(): boolean {
    return this.#manifest.isSnapshot
  }

  /**
   * Makes everything that recovery has read durable: a crash may have come between a rename or an edit and its sync.
   * @throws LEVEL_IO_ERROR
   */
  async settle(): Promise<void> {
    const place = { path: this.#manifest.path }
    await this.#syncNames(place)
    await this.#write(() => this.#manifest.settle(), place)
  }

  /** Numbers of all tables that live versions refer to. */
  liveTables(): Set<number> {
    const numbers = new Set<number>()
    for (const version of this.#live) for (const table of version.allTables()) numbers.add(table.number)
    return numbers
  }

  /** Reserves file numbers; returns the first. */
  takeFileNumbers(count: number): number {
    const first = this.#nextFileNumber
    this.#nextFileNumber += count
    return first
  }

  /**
   * Makes the edit durable, then current. Calls are queued.
   * REQUIRES: the new tables and the log `logNumber` exist; the tables' contents are durable. A flush sets
   * `logNumber`, the oldest log still needed, together with `lastSequence`, the last sequence number in tables.
   * @throws LEVEL_IO_ERROR, after which this set cannot be used for writing if there is a `failure`; LEVEL_CORRUPTION
   * for an edit that does not fit the current version, which changes nothing
   */
  install(edit: VersionEdit): Promise<void> {
    const installed = this.#queue.then(() => this.#install(edit))
    // The caller sees the failure; the queue only has to continue.
    this.#queue = installed.catch(() => undefined)
    return installed
  }

  /**
   * Rewrites a manifest with edits as one without, which is the quickest to open, and of which no part gets lost
   * unnoticed. Calls are queued. @throws LEVEL_IO_ERROR
   */
  consolidate(): Promise<void> {
    const rotated = this.#queue.then(async () => {
      if (this.#failure !== undefined || !this.#manifest.hasEdits) return
      await this.#write(async () => void (await this.#rotate(this.#state)), { path: this.#manifest.path })
    })
    this.#queue = rotated.catch(() => undefined)
    return rotated
  }

  /** Waits for pending edits. May be called twice. @throws LEVEL_IO_ERROR */
  async close(): Promise<void> {
    await this.#queue
    this.#manifest.close()
    this.#failure ??= new Error('The database is closed')
  }

  async #install(edit: VersionEdit): Promise<void> {
    if (this.#failure !== undefined) throw ioError('The manifest cannot be written after a failure', this.#failure)
    const place = { path: this.#manifest.path }
    checkLogPosition(edit, this.#state, place)
    const complete = { ...edit, nextFileNumber: this.#nextFileNumber }
    const builder = new StateBuilder(this.#state)
    builder.apply(complete, place)
    const state = builder.build(place)
    await this.#syncNames(place)
    await this.#write(async () => {
      const isRotated = this.#manifest.isRotationDue && (await this.#rotate(state))
      if (!isRotated) await this.#manifest.append(complete)
    }, place)
    const old = this.#current
    this.#state = state
    this.#current = this.#newVersion(state)
    old.release()
  }

  /**
   * Makes the names of new files durable. A directory that cannot be opened for want of descriptors is not a failure:
   * nothing has been written, and the edit can be installed later.
   */
  async #syncNames(place: Place): Promise<void> {
    try {
      await this.#fileSystem.syncDirectory(this.#directory)
    } catch (error) {
      if (!isOutOfDescriptors(error)) this.#failure = error
      throw ioError('Cannot write the manifest', error, place)
    }
  }

  /** Records a failure, after which nothing is written any more. */
  async #write(write: () => Promise<void>, place: Place): Promise<void> {
    try {
      await write()
    } catch (error) {
      this.#failure = error
      throw ioError('Cannot write the manifest', error, place)
    }
  }

  /** @returns false if that has to wait for descriptors */
  #rotate(state: ManifestState): Promise<boolean> {
    const number = this.takeFileNumbers(1)
    return this.#manifest.rotate(number, { ...state, nextFileNumber: this.#nextFileNumber })
  }

  #newVersion(state: ManifestState): Version {
    const version = new Version(state.levels, (unused) => {
      this.#live.delete(unused)
      this.#options.onVersionUnused?.()
    })
    this.#live.add(version)
    return version
  }

  #reserveNumbersIn(names: readonly string[]): void {
    for (const name of names) {
      const number = parseFileName(name)?.number ?? 0
      if (number < maxFileNumber) this.#nextFileNumber = Math.max(this.#nextFileNumber, number + 1)
    }
  }
}

/** Errors without a LEVEL code come from the operating system. */
async function wrapErrors<T>(what: string, run: () => Promise<T>): Promise<T> {
  try {
    return await run()
  } catch (error) {
    const isOurs = ['LEVEL_CORRUPTION', 'LEVEL_NOT_SUPPORTED', 'LEVEL_IO_ERROR'].some((code) => hasCode(error, code))
    throw isOurs ? error : ioError(what, error)
  }
}
