/**
 * A copy-on-write overlay in memory over a directory that must not change: a store opens in it normally and leaves
 * nothing behind. Whatever opening writes, a lock, a log, a manifest and tables, vanishes with the overlay.
 *
 * Invariants:
 * 1. Nothing in the directory is ever written, created, renamed or removed. Files elsewhere are those of the
 *    underlying file system and can be changed: a file of the directory may get a second name there.
 * 2. A name in the overlay hides the one below; so does a removal.
 */
import { join, sep } from 'node:path'
import type { FileSystem, OpenFile, OpenMode } from './file-system.ts'
import { MemoryFileSystem } from './memory-file-system.ts'
import { systemError } from './system-error.ts'

/** Bytes copied at a time. */
const pieceBytes = 1024 * 1024

export class OverlayFileSystem implements FileSystem {
  /** A worker cannot access files in memory. */
  readonly isShared = false
  readonly #lower: FileSystem
  readonly #upper = new MemoryFileSystem()
  /** Ends with a separator. */
  readonly #root: string
  readonly #removed = new Set<string>()

  /** @param directory must exist */
  constructor(lower: FileSystem, directory: string) {
    this.#lower = lower
    const root = lower.realPath(directory)
    this.#root = join(root, sep)
    this.#upper.makeDirectory(root)
  }

  open(path: string, mode: OpenMode): OpenFile {
    if (!this.#isWithin(path)) return this.#lower.open(path, mode)
    const isAbove = this.#isInUpper(path)
    if (mode === 'read') return isAbove ? this.#upper.open(path, mode) : this.#existing(path).open(path, mode)
    if (mode === 'exclusive' && this.size(path) !== undefined) throw systemError('EEXIST', 'open', path)
    if (mode === 'update') this.#copyUp(path)
    return this.#upper.open(path, mode)
  }

  list(directory: string): string[] {
    if (!this.#isWithin(join(directory, sep))) return this.#lower.list(directory)
    const names = this.#lower.list(directory).filter((name) => !this.#removed.has(join(directory, name)))
    return [...new Set([...names, ...this.#upper.list(directory)])]
  }

  makeDirectory(path: string): void {
    this.#changed(path, 'mkdir').makeDirectory(path)
  }

  removeDirectory(path: string): void {
    this.#changed(path, 'rmdir').removeDirectory(path)
  }

  size(path: string): number | undefined {
    if (this.#isInUpper(path)) return this.#upper.size(path)
    return this.#removed.has(path) ? undefined : this.#lower.size(path)
  }

  rename(from: string, to: string): void {
    if (this.#areElsewhere(from, to, 'rename')) {
      this.#lower.rename(from, to)
      return
    }
    this.#copyUp(from)
    this.#upper.rename(from, to)
    this.#removed.add(from)
  }

  link(from: string, to: string): void {
    const isInLower = this.#isWithin(from) && !this.#isInUpper(from) && !this.#removed.has(from)
    // A second name elsewhere changes nothing in the directory.
    if ((isInLower && !this.#isWithin(to)) || this.#areElsewhere(from, to, 'link')) {
      this.#lower.link(from, to)
      return
    }
    this.#copyUp(from)
    if (this.size(to) !== undefined) throw systemError('EEXIST', 'link', to)
    this.#upper.link(from, to)
  }

  remove(path: string): void {
    if (!this.#isWithin(path)) {
      this.#lower.remove(path)
      return
    }
    if (this.size(path) === undefined) throw systemError('ENOENT', 'unlink', path)
    if (this.#isInUpper(path)) this.#upper.remove(path)
    this.#removed.add(path)
  }

  async removeLater(path: string): Promise<void> {
    this.remove(path)
  }

  /** Nothing in the overlay will be durable, and the files below it already are. */
  async syncDirectory(path: string): Promise<void> {
    if (!this.#isWithin(join(path, sep))) await this.#lower.syncDirectory(path)
  }

  realPath(path: string): string {
    return this.#lower.realPath(path)
  }

  #isInUpper(path: string): boolean {
    return this.#upper.size(path) !== undefined
  }

  /** The underlying file system, if it has the file. @throws ENOENT */
  #existing(path: string): FileSystem {
    if (this.#removed.has(path)) throw systemError('ENOENT', 'open', path)
    return this.#lower
  }

  #isWithin(path: string): boolean {
    return path.startsWith(this.#root)
  }

  #areElsewhere(from: string, to: string, syscall: string): boolean {
    const isWithin = this.#isWithin(from)
    if (isWithin !== this.#isWithin(to)) throw systemError('EXDEV', syscall, from)
    return !isWithin
  }

  /** The file system in which a directory is created or removed. An open store creates none within its own. */
  #changed(path: string, syscall: string): FileSystem {
    if (this.#isWithin(path)) throw systemError('EPERM', syscall, path)
    return this.#lower
  }

  /** Copies a file into memory, unless it is there already. @throws ENOENT */
  #copyUp(path: string): void {
    if (this.#isInUpper(path)) return
    const source = this.#existing(path).open(path, 'read')
    try {
      const target = this.#upper.open(path, 'create')
      const piece = Buffer.alloc(pieceBytes)
      const bytes = source.size()
      for (let at = 0; at < bytes; at += piece.length) target.write(piece.subarray(0, source.read(piece, at)), at)
      target.close()
    } finally {
      source.close()
    }
  }
}
