/**
 * The manifest that CURRENT names, open for writing: edits are appended, and it is replaced when it has grown too
 * large.
 *
 * The version set serializes the calls and interprets the edits.
 */

import type { LogWriter } from '../format/log-writer.ts'
import type { VersionEdit } from '../format/version-edit.ts'
import type { FileSystem } from '../fs/file-system.ts'
import { isOutOfDescriptors } from '../fs/system-error.ts'
import { installCurrent, prepareCurrent } from './current-file.ts'
import { appendEdit, createManifest, type ManifestContents } from './manifest.ts'
import type { ManifestState } from './manifest-state.ts'

export interface RotationOptions {
  /** A manifest larger than this many times its snapshot is rewritten. Default 4. */
  readonly rotationFactor?: number
  /** Smaller manifests are not rewritten. Default 64 KiB. */
  readonly minRotationBytes?: number
}

const defaultMinRotationBytes = 64 * 1024

export class CurrentManifest {
  readonly #fileSystem: FileSystem
  readonly #directory: string
  readonly #options: RotationOptions
  #number: number
  /** Undefined if the manifest on disk has a torn tail: the next edit starts a new one. */
  #log: LogWriter | undefined
  /** Size of the initial snapshot edit. */
  #snapshotBytes: number
  /** Number of edits after it. */
  #edits: number
  /** Makes the manifest durable as it was read; undefined once it is, or another one has taken its place. */
  #settle: (() => Promise<void>) | undefined

  /** @param settle of a manifest that was read */
  constructor(
    fileSystem: FileSystem,
    directory: string,
    options: RotationOptions,
    number: number,
    log: LogWriter | undefined,
    { snapshotBytes, edits }: Pick<ManifestContents, 'snapshotBytes' | 'edits'>,
    settle?: () => Promise<void>
  ) {
    this.#fileSystem = fileSystem
    this.#directory = directory
    this.#options = options
    this.#number = number
    this.#log = log
    this.#snapshotBytes = snapshotBytes
    this.#edits = edits
    this.#settle = settle
  }

  /** Writes a manifest of one edit and makes it the current one. @throws LEVEL_IO_ERROR, Node's own errors */
  static async create(
    fileSystem: FileSystem,
    directory: string,
    options: RotationOptions,
    number: number,
    state: ManifestState
  ): Promise<CurrentManifest> {
    const log = await prepareManifest(fileSystem, directory, number, state)
    await makeCurrent(fileSystem, directory, log)
    return new CurrentManifest(fileSystem, directory, options, number, log, { snapshotBytes: log.bytes, edits: 0 })
  }

  get number(): number {
    return this.#number
  }

  /** Path of the file; of the directory while the file cannot be written. */
  get path(): string {
    return this.#log?.path ?? this.#directory
  }

  /** Whether the next edit should start a new manifest. */
  get isRotationDue(): boolean {
    const { rotationFactor = 4, minRotationBytes = defaultMinRotationBytes } = this.#options
    return this.#log === undefined || this.#log.bytes > Math.max(minRotationBytes, rotationFactor * this.#snapshotBytes)
  }

  /**
   * Whether edits follow the snapshot. Should the file lose its end, it would look like one to which they had not been
   * written yet; a snapshot is there as a whole or not.
   */
  get hasEdits(): boolean {
    return this.#log !== undefined && this.#edits > 0
  }

  /** Whether it is a snapshot without edits, which was durable as a whole before CURRENT named it. */
  get isSnapshot(): boolean {
    return this.#log !== undefined && this.#edits === 0
  }

  /** Makes what was read of it durable. @throws LEVEL_IO_ERROR, Node's own errors */
  async settle(): Promise<void> {
    await this.#settle?.()
    this.#settle = undefined
  }

  /** Appends an edit durably. REQUIRES: not overdue. @throws LEVEL_IO_ERROR, Node's own errors */
  async append(edit: VersionEdit): Promise<void> {
    await this.settle()
    await appendEdit(this.#log!, edit)
    this.#edits++
  }

  /**
   * Starts a new manifest with this state. It is in effect once CURRENT names it.
   * @returns false if there were not enough descriptors for it, and this one can still be appended to: nothing has
   *   changed then
   * @throws as append()
   */
  async rotate(number: number, state: ManifestState): Promise<boolean> {
    const old = this.#log
    let log: LogWriter
    try {
      log = await prepareManifest(this.#fileSystem, this.#directory, number, state)
    } catch (error) {
      if (old !== undefined && isOutOfDescriptors(error)) return false
      throw error
    }
    await makeCurrent(this.#fileSystem, this.#directory, log)
    this.#log = log
    this.#number = number
    this.#snapshotBytes = log.bytes
    this.#edits = 0
    this.#settle = undefined
    old?.close()
    return true
  }

  /** May be called twice. */
  close(): void {
    this.#log?.close()
    this.#log = undefined
  }
}

/** Creates a manifest and what will be CURRENT, durably. */
async function prepareManifest(
  fileSystem: FileSystem,
  directory: string,
  number: number,
  state: ManifestState
): Promise<LogWriter> {
  const log = await createManifest(fileSystem, directory, number, state)
  try {
    await prepareCurrent(fileSystem, directory, number)
    return log
  } catch (error) {
    log.close()
    throw error
  }
}

async function makeCurrent(fileSystem: FileSystem, directory: string, log: LogWriter): Promise<void> {
  try {
    await installCurrent(fileSystem, directory, log.logNumber)
  } catch (error) {
    log.close()
    throw error
  }
}
