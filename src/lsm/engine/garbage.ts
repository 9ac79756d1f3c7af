/**
 * Removes tables that no version refers to any more, and replaced manifests.
 *
 * Invariants:
 * 1. A table's file is removed only after the edit that dropped it is durable, and after every version that was live
 *    then is gone.
 * 2. After a manifest failure nothing is removed: whether the last edit is on disk is unknown.
 * 3. Files left behind by a crash are removed at the next open, from the directory listing.
 */
import { join } from 'node:path'
import type { VersionEdit } from '../format/version-edit.ts'
import { manifestName, sideFileName, tableName } from '../fs/file-names.ts'
import type { FileSystem } from '../fs/file-system.ts'
import type { TableCache } from '../version/table-cache.ts'
import type { Version } from '../version/version.ts'
import type { VersionSet } from '../version/version-set.ts'

interface Dropped {
  readonly numbers: readonly number[]
  /** Versions that refer to them. */
  readonly holders: readonly Version[]
}

export class Garbage {
  readonly #fileSystem: FileSystem
  readonly #directory: string
  readonly #tables: TableCache
  readonly #versions: VersionSet
  #dropped: Dropped[] = []
  /** Names of files that may be removed now. */
  readonly #names: string[] = []
  #manifestNumber: number
  /** The running removal of files, one after another. */
  #removing: Promise<void> | undefined

  constructor(fileSystem: FileSystem, directory: string, tables: TableCache, versions: VersionSet) {
    this.#fileSystem = fileSystem
    this.#directory = directory
    this.#tables = tables
    this.#versions = versions
    this.#manifestNumber = versions.manifestNumber
  }

  /** Call right after a version edit is installed. */
  onInstalled(edit: VersionEdit): void {
    const versions = this.#versions
    const stays = new Set(edit.newTables?.map(({ table }) => table.number))
    const numbers = (edit.deletedTables ?? []).map(({ number }) => number).filter((number) => !stays.has(number))
    if (numbers.length > 0) {
      const holders = [...versions.liveVersions].filter((version) => version !== versions.current)
      this.#dropped.push({ numbers, holders })
    }
    if (this.#manifestNumber !== versions.manifestNumber) this.#names.push(manifestName(this.#manifestNumber))
    this.#manifestNumber = versions.manifestNumber
    this.collect()
  }

  /** Call when a version has become unused. */
  collect(): void {
    if (this.#versions.failure !== undefined) return
    const kept: Dropped[] = []
    for (const dropped of this.#dropped) {
      if (dropped.holders.some((version) => version.isUsed)) kept.push(dropped)
      else for (const number of dropped.numbers) this.#discard(number)
    }
    this.#dropped = kept
    this.#schedule()
  }

  /** Resolves when every removable file is removed. */
  async finish(): Promise<void> {
    this.collect()
    await this.#removing
  }

  #discard(number: number): void {
    this.#tables.drop(number)
    this.#names.push(tableName(number), sideFileName(number))
  }

  #schedule(): void {
    if (this.#names.length === 0) return
    this.#removing ??= this.#remove()
  }

  async #remove(): Promise<void> {
    for (let name = this.#names.shift(); name !== undefined; name = this.#names.shift()) {
      if (this.#versions.failure !== undefined) break
      try {
        await this.#fileSystem.removeLater(join(this.#directory, name))
      } catch {
        // Most tables have no side file; leftovers are removed at the next open.
      }
    }
    this.#removing = undefined
  }
}
