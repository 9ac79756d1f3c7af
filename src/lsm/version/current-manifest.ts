/**
 * The manifest that CURRENT names, as it is written: edits at its end, and a new one in its place when it has grown.
 *
 * Calls come one after the other: that, and what an edit means, is the version set's.
 */

import type { LogWriter } from '../format/log-writer.ts'
import { encodeEdit, type VersionEdit } from '../format/version-edit.ts'
import type { FileSystem } from '../fs/file-system.ts'
import { writeCurrent } from './current-file.ts'
import { appendEdit, createManifest } from './manifest.ts'
import { type ManifestState, snapshotEdit } from './manifest-state.ts'

export interface RotationOptions {
  /** A manifest larger than this many times its snapshot is written anew. Default 4. */
  readonly rotationFactor?: number
  /** … but not below this size. Default 64 KiB. */
  readonly minRotationBytes?: number
}

const defaultMinRotationBytes = 64 * 1024

/** At close less is worth it: nobody waits, and each open reads the manifest from its start. */
const closeRotationShare = 1 / 8
const closeRotationFactor = 1.5

export class CurrentManifest {
  readonly #fileSystem: FileSystem
  readonly #directory: string
  readonly #options: RotationOptions
  #number: number
  /** Undefined when what is on disk has a torn tail: the next edit begins a new one. */
  #log: LogWriter | undefined
  /** Of the edit that it began with. */
  #snapshotBytes: number

  constructor(
    fileSystem: FileSystem,
    directory: string,
    options: RotationOptions,
    number: number,
    log: LogWriter | undefined,
    snapshotBytes: number
  ) {
    this.#fileSystem = fileSystem
    this.#directory = directory
    this.#options = options
    this.#number = number
    this.#log = log
    this.#snapshotBytes = snapshotBytes
  }

  /** Writes a manifest of one edit and makes it the current one. @throws LEVEL_IO_ERROR, Node's own errors */
  static async create(
    fileSystem: FileSystem,
    directory: string,
    options: RotationOptions,
    number: number,
    state: ManifestState
  ): Promise<CurrentManifest> {
    const log = await createCurrent(fileSystem, directory, number, state)
    return new CurrentManifest(fileSystem, directory, options, number, log, log.bytes)
  }

  get number(): number {
    return this.#number
  }

  /** Of the file, or of the directory while the file cannot be written. */
  get path(): string {
    return this.#log?.path ?? this.#directory
  }

  /** Whether the next edit is better kept as part of a new one. */
  get isOverdue(): boolean {
    const { rotationFactor = 4, minRotationBytes = defaultMinRotationBytes } = this.#options
    return this.#log === undefined || this.#log.bytes > Math.max(minRotationBytes, rotationFactor * this.#snapshotBytes)
  }

  /** Whether the next open would have clearly less to read in one that begins with this state. */
  isWorthShortening(state: ManifestState): boolean {
    if (this.#log === undefined) return false
    const { minRotationBytes = defaultMinRotationBytes } = this.#options
    return this.#log.bytes > Math.max(minRotationBytes * closeRotationShare, closeRotationFactor * snapshotSize(state))
  }

  /** Durably. REQUIRES: it is not overdue. @throws LEVEL_IO_ERROR, Node's own errors */
  async append(edit: VersionEdit): Promise<void> {
    await appendEdit(this.#log!, edit)
  }

  /** Begins a new one with this state. It counts from the moment that CURRENT names it. @throws as append() */
  async rotate(number: number, state: ManifestState): Promise<void> {
    const log = await createCurrent(this.#fileSystem, this.#directory, number, state)
    const old = this.#log
    this.#log = log
    this.#number = number
    this.#snapshotBytes = log.bytes
    old?.close()
  }

  /** Fine when called twice. */
  close(): void {
    this.#log?.close()
    this.#log = undefined
  }
}

async function createCurrent(
  fileSystem: FileSystem,
  directory: string,
  number: number,
  state: ManifestState
): Promise<LogWriter> {
  const log = await createManifest(fileSystem, directory, number, state)
  try {
    await writeCurrent(fileSystem, directory, number)
    return log
  } catch (error) {
    log.close()
    throw error
  }
}

/** Bytes of a state as a manifest. */
function snapshotSize(state: ManifestState): number {
  return encodeEdit(snapshotEdit(state)).length
}
