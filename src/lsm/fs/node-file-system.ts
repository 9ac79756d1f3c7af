/**
 * The operating system's file system, through numeric descriptors: a FileHandle that is collected unclosed causes a
 * warning, and its calls are asynchronous.
 *
 * Invariants:
 * 1. A descriptor is closed once, and only when no call with it is pending: the number may then be reused for another
 *    file.
 * 2. No system call is made with a closed descriptor.
 */
import {
  closeSync,
  fdatasync,
  fdatasyncSync,
  fstatSync,
  fsync,
  ftruncateSync,
  linkSync,
  mkdirSync,
  openSync,
  read,
  readdirSync,
  readSync,
  realpathSync,
  renameSync,
  rmdirSync,
  statSync,
  unlink,
  unlinkSync,
  writeSync
} from 'node:fs'
import { dirname } from 'node:path'
import type { FileSystem, OpenFile, OpenMode } from './file-system.ts'
import { hasSystemCode, systemError } from './system-error.ts'

const flags: Record<OpenMode, string> = { read: 'r', create: 'w+', update: 'r+', exclusive: 'wx+' }

export const nodeFileSystem: FileSystem = {
  isShared: true,
  open: (path, mode) => new NodeFile(path, openSync(path, flags[mode])),
  list: (directory) => readdirSync(directory),
  makeDirectory,
  removeDirectory: (path) => rmdirSync(path),
  size: (path) => {
    const stats = statSync(path, { throwIfNoEntry: false })
    return stats?.isFile() ? stats.size : undefined
  },
  rename: (from, to) => renameSync(from, to),
  link: (from, to) => linkSync(from, to),
  remove: (path) => unlinkSync(path),
  removeLater: (path) =>
    new Promise((resolve, reject) => unlink(path, (error) => (error === null ? resolve() : reject(error)))),
  syncDirectory,
  realPath: (path) => realpathSync(path)
}

class NodeFile implements OpenFile {
  readonly path: string
  #descriptor: number
  #isClosed = false
  /** Number of pending thread-pool calls. */
  #pending = 0

  constructor(path: string, descriptor: number) {
    this.path = path
    this.#descriptor = descriptor
  }

  read(target: Uint8Array, position: number): number {
    const descriptor = this.#use('read')
    let done = 0
    while (done < target.length) {
      const count = readSync(descriptor, target, done, target.length - done, position + done)
      if (count === 0) break
      done += count
    }
    return done
  }

  /** Reads into a buffer that is discarded: the system keeps the pages. */
  async prepareRead(position: number, bytes: number): Promise<void> {
    if (this.#isClosed) return
    const descriptor = this.#descriptor
    await this.#whileOpen((done) =>
      read(descriptor, Buffer.allocUnsafeSlow(bytes), 0, bytes, position, () => done(null))
    )
  }

  write(bytes: Uint8Array, position: number): void {
    const descriptor = this.#use('write')
    let done = 0
    while (done < bytes.length) {
      const count = writeSync(descriptor, bytes, done, bytes.length - done, position + done)
      // A device that accepts nothing and reports no error would keep us here for ever.
      if (count === 0) throw systemError('EIO', 'write', this.path)
      done += count
    }
  }

  size(): number {
    return fstatSync(this.#use('fstat')).size
  }

  isAt(path: string): boolean {
    const own = fstatSync(this.#use('fstat'), { bigint: true })
    const named = statSync(path, { bigint: true, throwIfNoEntry: false })
    return named?.ino === own.ino && named.dev === own.dev
  }

  truncate(bytes: number): void {
    ftruncateSync(this.#use('ftruncate'), bytes)
  }

  async sync(): Promise<void> {
    const descriptor = this.#use('fdatasync')
    await this.#whileOpen((done) => fdatasync(descriptor, done))
  }

  syncNow(): void {
    fdatasyncSync(this.#use('fdatasync'))
  }

  close(): void {
    if (this.#isClosed) return
    this.#isClosed = true
    if (this.#pending === 0) this.#release()
  }

  /** Makes a call in the thread pool; the descriptor stays open until it returns. */
  async #whileOpen(call: (done: (error: Error | null) => void) => void): Promise<void> {
    this.#pending++
    try {
      await new Promise<void>((resolve, reject) => {
        call((error) => (error === null ? resolve() : reject(error)))
      })
    } finally {
      this.#pending--
      if (this.#isClosed && this.#pending === 0) this.#release()
    }
  }

  #use(syscall: string): number {
    if (this.#isClosed) throw systemError('EBADF', syscall, this.path)
    return this.#descriptor
  }

  #release(): void {
    const descriptor = this.#descriptor
    this.#descriptor = -1
    closeSync(descriptor)
  }
}

/**
 * Creates the parents itself: mkdir's option `recursive` reports ENOENT where the file system is read-only, and never
 * returns where it refuses new names with ENOENT, as /proc does.
 */
function makeDirectory(path: string): void {
  try {
    mkdirSync(path)
  } catch (error) {
    if (isDirectory(path)) return
    const parent = dirname(path)
    if (!hasSystemCode(error, 'ENOENT') || isDirectory(parent)) throw error
    makeDirectory(parent)
    makeDirectory(path)
  }
}

function isDirectory(path: string): boolean {
  try {
    return statSync(path).isDirectory()
  } catch {
    return false
  }
}

async function syncDirectory(path: string): Promise<void> {
  // Windows cannot sync a directory; its renames are journalled.
  if (process.platform === 'win32') return
  const descriptor = openSync(path, 'r')
  try {
    await new Promise<void>((resolve, reject) => {
      fsync(descriptor, (error) => {
        // Some network and user-space file systems do not support this for directories: there is nothing to wait for.
        if (error === null || hasSystemCode(error, 'EINVAL', 'ENOTSUP')) resolve()
        else reject(error)
      })
    })
  } finally {
    closeSync(descriptor)
  }
}
