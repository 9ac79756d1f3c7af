/**
 * The directory `lost` inside the database's, where repair puts damaged files under their names.
 *
 * Invariants:
 * 1. Nothing in it is overwritten: if a name is taken, a number is appended, `000014.sst.2`.
 * 2. A file is durable there before it is removed from its place; in between it is in both.
 */
import { join } from 'node:path'
import { currentName, parseFileName } from '../../fs/file-names.ts'
import type { FileSystem } from '../../fs/file-system.ts'
import { hasSystemCode } from '../../fs/system-error.ts'

export const lostName = 'lost'

const copyBytes = 1 << 20

/** The original name of a file in `lost`; undefined if repair did not put it there. */
export function lostFileName(name: string): string | undefined {
  const original = /^(.+?)(?:\.[1-9]\d{0,8})?$/.exec(name)?.[1]
  return original !== undefined && parseFileName(original) !== undefined ? original : undefined
}

export class LostFiles {
  readonly #fileSystem: FileSystem
  readonly #directory: string
  readonly #kept: string[] = []

  /** @param directory of the database */
  constructor(fileSystem: FileSystem, directory: string) {
    this.#fileSystem = fileSystem
    this.#directory = directory
  }

  /**
   * Moves what has a file's name, but is a directory or leads nowhere, into `lost`: it is no part of the database, but in
   * its way. @throws Node's own errors
   */
  async setAside(names: readonly string[]): Promise<void> {
    if (names.length === 0) return
    const lost = await this.#begin()
    for (const name of names) this.#moveOne(name, lost)
    await this.#fileSystem.syncDirectory(lost)
  }

  /** Links or copies files into `lost`, durably; they also stay where they are. @throws Node's own errors */
  async keep(names: readonly string[]): Promise<void> {
    if (names.length === 0) return
    const fileSystem = this.#fileSystem
    const lost = await this.#begin()
    for (const name of names) {
      await this.#keepOne(name, lost)
      this.#kept.push(name)
    }
    await fileSystem.syncDirectory(lost)
  }

  /**
   * Removes the files passed to keep() from their places. REQUIRES: the new CURRENT is durable.
   * @returns their names
   */
  finish(): readonly string[] {
    for (const name of this.#kept) {
      // The new CURRENT has replaced it.
      if (name === currentName) continue
      try {
        this.#fileSystem.remove(join(this.#directory, name))
      } catch {
        // It is obsolete now, and will be removed at the next open.
      }
    }
    return this.#kept
  }

  /** Returns the path of `lost`. */
  async #begin(): Promise<string> {
    const lost = join(this.#directory, lostName)
    this.#fileSystem.makeDirectory(lost)
    await this.#fileSystem.syncDirectory(this.#directory)
    return lost
  }

  #moveOne(name: string, lost: string): void {
    const taken = this.#fileSystem.list(lost)
    let attempt = 1
    while (taken.includes(nthName(name, attempt))) attempt++
    this.#fileSystem.rename(join(this.#directory, name), join(lost, nthName(name, attempt)))
  }

  async #keepOne(name: string, lost: string): Promise<void> {
    const from = join(this.#directory, name)
    for (let attempt = 1; ; attempt++) {
      const to = join(lost, nthName(name, attempt))
      try {
        this.#fileSystem.link(from, to)
        return
      } catch (error) {
        if (hasSystemCode(error, 'EEXIST')) continue
        if (!hasSystemCode(error, 'EPERM', 'ENOTSUP', 'EOPNOTSUPP', 'ENOSYS', 'EMLINK', 'EXDEV')) throw error
      }
      // Links are not supported here.
      if (await this.#copy(from, to)) return
    }
  }

  /** False if the name is taken. */
  async #copy(from: string, to: string): Promise<boolean> {
    const source = this.#fileSystem.open(from, 'read')
    try {
      const target = this.#fileSystem.open(to, 'exclusive')
      try {
        const bytes = Buffer.alloc(copyBytes)
        for (let at = 0, count = source.read(bytes, 0); count > 0; count = source.read(bytes, at)) {
          target.write(bytes.subarray(0, count), at)
          at += count
        }
        await target.sync()
      } finally {
        target.close()
      }
      return true
    } catch (error) {
      if (hasSystemCode(error, 'EEXIST')) return false
      throw error
    } finally {
      source.close()
    }
  }
}

function nthName(name: string, attempt: number): string {
  return attempt === 1 ? name : `${name}.${attempt}`
}
