/**
 * A store's directory as it was at one moment, readable while another process goes on writing to the store.
 *
 * It needs no lock because of what a writer does: tables and side files are never written again, and what is open can be
 * read after its name is gone; manifest and logs are appended to; and a table is removed, and a log removed or used again
 * for another, only once the manifest says that it is not needed any more.
 *
 * Invariants:
 * 1. CURRENT and the manifests were the same before and after everything else was opened: all that they name is there.
 * 2. Of a log there is everything that was written before freeze() was called, and perhaps a part, without a hole, of what
 *    was written since; something of a log only if there is all of the logs before it.
 * 3. So it is what a crash might have left of the store. The lock and files under construction are not there.
 */
import { join, sep } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { hasCode, ioError, locked } from '../errors.ts'
import { closeQuietly } from './close-quietly.ts'
import { type FileKind, parseFileName } from './file-names.ts'
import type { FileSystem, OpenFile, OpenMode } from './file-system.ts'
import { hasSystemCode, type SystemErrorCode, systemError } from './system-error.ts'

/** A manifest changes a few times a second while much is written; opening everything takes some milliseconds. */
const maxAttempts = 200
const pauseMilliseconds = 10
/** Bytes compared at a time. */
const pieceBytes = 256 * 1024

/** What is read of a file: the open file, or its bytes. */
type Content = Pick<OpenFile, 'read' | 'prepareRead' | 'size' | 'isAt' | 'close'>
/** By name. */
type Files = Map<string, Content>

/**
 * @param directory must exist
 * @throws LEVEL_LOCKED if the manifest does not stop changing; LEVEL_IO_ERROR
 */
export async function freeze(lower: FileSystem, directory: string): Promise<FrozenDirectory> {
  try {
    const root = lower.realPath(directory)
    for (let attempt = 0; attempt < maxAttempts; attempt++) {
      if (attempt > 0) await sleep(pauseMilliseconds)
      const files = openAll(lower, root)
      if (files !== undefined) return new FrozenDirectory(lower, directory, root, files)
    }
  } catch (error) {
    throw hasCode(error, 'LEVEL_IO_ERROR') ? error : ioError(`Cannot read ${directory}`, error, { path: directory })
  }
  throw locked(directory, 'a process that changes its tables without a pause')
}

/** Opens everything, unless a manifest changes meanwhile. @throws Node's own errors */
function openAll(lower: FileSystem, root: string): Files | undefined {
  const files: Files = new Map()
  let isComplete = false
  try {
    const manifests = readManifests(lower, root)
    if (manifests === undefined) return undefined
    const names = listed(lower, root)
    for (const name of namesOf(names, 'table', 'side')) {
      const file = openIfThere(lower, join(root, name))
      if (file !== undefined) files.set(name, file)
    }
    // Newest first: what is found in one was written after everything that is found in the ones before it.
    for (const name of namesOf(names, 'log').reverse()) {
      const bytes = readIfThere(lower, join(root, name), 'ENOENT')
      if (bytes !== undefined) files.set(name, new Bytes(bytes))
    }
    if (!areSame(manifests, readManifests(lower, root))) return undefined
    for (const [name, bytes] of manifests) files.set(name, new Bytes(bytes))
    isComplete = true
    return files
  } finally {
    if (!isComplete) closeAll(files)
  }
}

/**
 * The names in the directory, with all logs before any that is among them. A list may lack a name that was given while it
 * was made, and have one that was given later; but what was there before it has ended is in the next one.
 */
function listed(lower: FileSystem, root: string): readonly string[] {
  const newest = namesOf(lower.list(root), 'log').at(-1)
  const last = newest === undefined ? 0 : logNumber(newest)
  return lower.list(root).filter((name) => logNumber(name) <= last)
}

/** 0 for files of other kinds. */
function logNumber(name: string): number {
  const file = parseFileName(name)
  return file?.kind === 'log' ? file.number : 0
}

/** CURRENT and all manifests that are files; undefined if one of them is removed meanwhile. */
function readManifests(lower: FileSystem, root: string): ReadonlyMap<string, Uint8Array> | undefined {
  const manifests = new Map<string, Uint8Array>()
  for (const name of namesOf(lower.list(root), 'current', 'manifest')) {
    const bytes = readIfThere(lower, join(root, name), 'ENOENT', 'EISDIR')
    if (bytes !== undefined) manifests.set(name, bytes)
    // A list may lack the one that has replaced it.
    else if (!isNoFile(lower, root, name)) return undefined
  }
  return manifests
}

/** Whether something else, or a link that leads nowhere, has a file's name: it is none of the store's. */
function isNoFile(lower: FileSystem, root: string, name: string): boolean {
  return lower.size(join(root, name)) === undefined && lower.list(root).includes(name)
}

function areSame(before: ReadonlyMap<string, Uint8Array>, after: ReadonlyMap<string, Uint8Array> | undefined): boolean {
  if (before.size !== after?.size) return false
  return [...before].every(([name, bytes]) => Buffer.compare(bytes, after.get(name) ?? noBytes) === 0)
}

const noBytes = new Uint8Array(0)

/** In the order of their numbers. */
function namesOf(names: readonly string[], ...kinds: readonly FileKind[]): string[] {
  const found = names.flatMap((name) => {
    const file = parseFileName(name)
    return file !== undefined && kinds.includes(file.kind) ? [{ name, number: file.number }] : []
  })
  return found.sort((a, b) => a.number - b.number).map(({ name }) => name)
}

function openIfThere(lower: FileSystem, path: string): OpenFile | undefined {
  try {
    return lower.open(path, 'read')
  } catch (error) {
    if (hasSystemCode(error, 'ENOENT', 'EISDIR')) return undefined
    throw error
  }
}

/** @param absent codes of errors that mean that there is no such file @throws LEVEL_IO_ERROR */
function readIfThere(lower: FileSystem, path: string, ...absent: readonly SystemErrorCode[]): Uint8Array | undefined {
  let file: OpenFile | undefined
  try {
    file = lower.open(path, 'read')
    return readAppended(file)
  } catch (error) {
    if (hasSystemCode(error, ...absent)) return undefined
    throw ioError(`Cannot read ${path}`, error, { path })
  } finally {
    closeQuietly(file)
  }
}

/**
 * Reads a file that is being appended to, without a hole: what two readings have in common. A reading may miss bytes and
 * have some that were written after them; but then the next one has those that were missed.
 */
function readAppended(file: OpenFile): Uint8Array {
  const bytes = Buffer.allocUnsafeSlow(file.size())
  const length = file.read(bytes, 0)
  const piece = Buffer.allocUnsafeSlow(Math.min(pieceBytes, length))
  for (let at = 0; at < length; at += piece.length) {
    const first = bytes.subarray(at, Math.min(at + piece.length, length))
    const second = piece.subarray(0, file.read(piece.subarray(0, first.length), at))
    if (!first.equals(second)) return bytes.subarray(0, at + commonBytes(first, second))
  }
  return bytes.subarray(0, length)
}

function commonBytes(a: Uint8Array, b: Uint8Array): number {
  let count = 0
  while (count < b.length && a[count] === b[count]) count++
  return count
}

function closeAll(files: Files): void {
  for (const file of files.values()) closeQuietly(file)
  files.clear()
}

/** Names that are not the store's, and paths elsewhere, are as they are below. */
class FrozenDirectory implements FileSystem {
  readonly isShared = false
  readonly #lower: FileSystem
  /** As its user names it. */
  readonly #location: string
  readonly #realPath: string
  /** Of the paths of its files. */
  readonly #prefix: string
  readonly #files: Files

  /** Not to be called directly: use freeze(). */
  constructor(lower: FileSystem, location: string, realPath: string, files: Files) {
    this.#lower = lower
    this.#location = location
    this.#realPath = realPath
    this.#prefix = join(realPath, sep)
    this.#files = files
  }

  /** REQUIRES: mode 'read' within the directory. */
  open(path: string, mode: OpenMode): OpenFile {
    const name = this.#nameOf(path)
    if (name === undefined) return this.#lower.open(path, mode)
    const content = this.#files.get(name)
    if (content === undefined) throw systemError('ENOENT', 'open', path)
    return new FrozenFile(path, content)
  }

  list(directory: string): string[] {
    if (directory !== this.#realPath) return this.#lower.list(directory)
    return [...this.#otherNames(), ...this.#files.keys()]
  }

  size(path: string): number | undefined {
    const name = this.#nameOf(path)
    return name === undefined ? this.#lower.size(path) : this.#files.get(name)?.size()
  }

  /** @throws EXDEV if the file has to be copied: below, its name is gone, or that of another file */
  link(from: string, to: string): void {
    const name = this.#nameOf(from)
    const content = name === undefined ? undefined : this.#files.get(name)
    try {
      this.#lower.link(from, to)
    } catch (error) {
      throw content !== undefined && hasSystemCode(error, 'ENOENT') ? systemError('EXDEV', 'link', from) : error
    }
    if (name === undefined || content?.isAt(to)) return
    this.#lower.remove(to)
    throw systemError(content === undefined ? 'ENOENT' : 'EXDEV', 'link', from)
  }

  makeDirectory(path: string): void {
    this.#lower.makeDirectory(path)
  }

  removeDirectory(path: string): void {
    this.#lower.removeDirectory(path)
  }

  rename(from: string, to: string): void {
    this.#lower.rename(from, to)
  }

  remove(path: string): void {
    this.#lower.remove(path)
  }

  removeLater(path: string): Promise<void> {
    return this.#lower.removeLater(path)
  }

  syncDirectory(path: string): Promise<void> {
    return this.#lower.syncDirectory(path)
  }

  realPath(path: string): string {
    return path === this.#location ? this.#realPath : this.#lower.realPath(path)
  }

  /** Frees the logs, which may be the largest part. REQUIRES: they have been replayed, and are not read again */
  forgetLogs(): void {
    for (const name of namesOf([...this.#files.keys()], 'log')) this.#files.delete(name)
  }

  /** Closes the files. May be called twice. */
  release(): void {
    closeAll(this.#files)
  }

  /** Of files that are not the store's; none if the directory has been removed or has another name now. */
  #otherNames(): string[] {
    try {
      return this.#lower.list(this.#realPath).filter((name) => parseFileName(name) === undefined)
    } catch (error) {
      if (hasSystemCode(error, 'ENOENT')) return []
      throw error
    }
  }

  /** The name of a file of the store; undefined for others. */
  #nameOf(path: string): string | undefined {
    if (!path.startsWith(this.#prefix)) return undefined
    const name = path.slice(this.#prefix.length)
    return parseFileName(name) === undefined ? undefined : name
  }
}

class Bytes implements Content {
  readonly #bytes: Uint8Array

  constructor(bytes: Uint8Array) {
    this.#bytes = bytes
  }

  read(target: Uint8Array, position: number): number {
    const part = this.#bytes.subarray(position, position + target.length)
    target.set(part)
    return part.length
  }

  async prepareRead(): Promise<void> {}

  size(): number {
    return this.#bytes.length
  }

  isAt(): boolean {
    return false
  }

  close(): void {}
}

/** A frozen file as one of its users has it open. */
class FrozenFile implements OpenFile {
  readonly path: string
  readonly #content: Content

  constructor(path: string, content: Content) {
    this.path = path
    this.#content = content
  }

  read(target: Uint8Array, position: number): number {
    return this.#content.read(target, position)
  }

  prepareRead(position: number, bytes: number): Promise<void> {
    return this.#content.prepareRead(position, bytes)
  }

  size(): number {
    return this.#content.size()
  }

  isAt(path: string): boolean {
    return this.#content.isAt(path)
  }

  write(): void {
    throw systemError('EBADF', 'write', this.path)
  }

  truncate(): void {
    throw systemError('EBADF', 'ftruncate', this.path)
  }

  async sync(): Promise<void> {}

  syncNow(): void {}

  /** The directory closes the file. */
  close(): void {}
}
