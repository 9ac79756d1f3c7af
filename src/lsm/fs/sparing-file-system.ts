/**
 * A file system whose users give descriptors back when the process, or the system, has no more of them: whatever
 * opens a file or a directory through it then tries again.
 *
 * Invariants:
 * 1. There is one for each file system: all databases of a thread give for any of them.
 * 2. A call is made again only if it failed for want of a descriptor, that is before it had any effect, and only if
 *    one was given back.
 */
import { reading } from '../errors.ts'
import type { FileSystem, OpenFile, OpenMode } from './file-system.ts'
import { isOutOfDescriptors } from './system-error.ts'

/** Closes files that can be opened again when they are needed; false if there are none. */
type GiveBack = () => boolean

const known = new WeakMap<FileSystem, SparingFileSystem>()

/** The file system as one that spares descriptors. */
export function sparing(fileSystem: FileSystem): SparingFileSystem {
  if (fileSystem instanceof SparingFileSystem) return fileSystem
  const found = known.get(fileSystem) ?? new SparingFileSystem(fileSystem)
  known.set(fileSystem, found)
  return found
}

export class SparingFileSystem implements FileSystem {
  readonly isShared: boolean
  readonly #inner: FileSystem
  readonly #givers = new Set<GiveBack>()

  /** Not to be called directly: use sparing(). */
  constructor(inner: FileSystem) {
    this.isShared = inner.isShared
    this.#inner = inner
  }

  /** Registers somebody who can give descriptors back; the result takes the registration back. */
  onShortage(giveBack: GiveBack): () => void {
    this.#givers.add(giveBack)
    return () => this.#givers.delete(giveBack)
  }

  /** Called after something has failed: whether it ran out of descriptors, and some have now been given back. */
  helpAfter(error: unknown): boolean {
    if (!isOutOfDescriptors(error)) return false
    let isHelped = false
    for (const giveBack of this.#givers) isHelped = giveBack() || isHelped
    return isHelped
  }

  /** Makes a call again as long as it runs out of descriptors and some are given back. */
  async retrying<T>(call: () => Promise<T>): Promise<T> {
    for (;;) {
      try {
        return await call()
      } catch (error) {
        if (!this.helpAfter(error)) throw error
      }
    }
  }

  /**
   * Imports modules on demand, with a descriptor to spare: one that could not be read for want of it would not be read
   * again, because Node keeps the error.
   * @param directory exists
   * @throws LEVEL_IO_ERROR
   */
  async importing<T>(directory: string, load: () => Promise<T>): Promise<T> {
    reading(directory, () => this.list(directory))
    return load()
  }

  open(path: string, mode: OpenMode): OpenFile {
    return this.#retry(() => this.#inner.open(path, mode))
  }

  list(directory: string): string[] {
    return this.#retry(() => this.#inner.list(directory))
  }

  makeDirectory(path: string): void {
    this.#inner.makeDirectory(path)
  }

  removeDirectory(path: string): void {
    this.#inner.removeDirectory(path)
  }

  size(path: string): number | undefined {
    return this.#inner.size(path)
  }

  rename(from: string, to: string): void {
    this.#inner.rename(from, to)
  }

  link(from: string, to: string): void {
    this.#inner.link(from, to)
  }

  remove(path: string): void {
    this.#inner.remove(path)
  }

  removeLater(path: string): Promise<void> {
    return this.#inner.removeLater(path)
  }

  /** A sync that fails is not made again (FileSystem, 4): one that could not open the directory has not begun. */
  syncDirectory(path: string): Promise<void> {
    return this.retrying(() => this.#inner.syncDirectory(path))
  }

  realPath(path: string): string {
    return this.#inner.realPath(path)
  }

  #retry<T>(call: () => T): T {
    for (;;) {
      try {
        return call()
      } catch (error) {
        if (!this.helpAfter(error)) throw error
      }
    }
  }
}
