/**
 * A wrapper around any file system that fails the Nth call; counts calls and open files, and reports calls.
 *
 * A failing call does nothing, except where real ones do half of their work: `write` may have written the first half,
 * `close` has closed, and after a failed `sync` the underlying file system drops unsynced data, if it can: as on
 * Linux, a retry would then report success for bytes that are lost.
 */
import type { FileSystem, OpenFile, OpenMode } from '../../src/lsm/fs/file-system.ts'
import { MemoryOpenFile } from '../../src/lsm/fs/memory-file-system.ts'
import { type SystemErrorCode, systemError } from '../../src/lsm/fs/system-error.ts'

/** Operations that change the disk, or what of it is durable: the points at which crashes differ. `open` may create. */
export const changingOperations = [
  'open',
  'write',
  'truncate',
  'sync',
  'makeDirectory',
  'removeDirectory',
  'rename',
  'link',
  'remove',
  'syncDirectory'
] as const

/** `sync` includes `syncNow`; `fileSize` is `size` of an open file. */
export type Operation =
  | (typeof changingOperations)[number]
  | 'read'
  | 'fileSize'
  | 'close'
  | 'list'
  | 'size'
  | 'realPath'

export interface Call {
  readonly operation: Operation
  readonly path: string
  readonly mode?: OpenMode
  /** Of rename and link. */
  readonly to?: string
  readonly position?: number
  /** Maximum number of bytes to read or write; the new size for truncate. */
  readonly bytes?: number
}

export interface Fault {
  /** Fails this one of the matching calls, counted from 1 since the fault was set. */
  readonly at: number
  /** Also fails all later matching calls. Default false. */
  readonly isPersistent?: boolean
  /** Default all. */
  readonly operations?: readonly Operation[]
  /** Default all. */
  readonly path?: RegExp
  readonly code: 'EIO' | 'ENOSPC'
  /** A failing write writes its first half. Default false. */
  readonly isPartial?: boolean
}

export interface FaultyOptions {
  /** Called before every call, failing or not; the call rethrows its errors. */
  readonly before?: (call: Call) => void
  /** Called after every successful call, for `sync` on completion. */
  readonly after?: (call: Call) => void
  /** Records every call in `trace`. Default false. */
  readonly isTraced?: boolean
}

export class FaultyFileSystem implements FileSystem {
  /** Calls from worker threads would bypass this file system. */
  readonly isShared: boolean = false
  readonly inner: FileSystem
  readonly trace: Call[] = []
  readonly #options: FaultyOptions
  readonly #open = new Map<OpenFile, string>()
  #fault: Fault | undefined
  #matches = 0
  #calls = 0

  constructor(inner: FileSystem, options: FaultyOptions = {}) {
    this.inner = inner
    this.#options = options
  }

  /** Number of calls so far. */
  get calls(): number {
    return this.#calls
  }

  /** Number of calls that matched the fault since it was set. */
  get matches(): number {
    return this.#matches
  }

  /** Paths of the open files: any left at the end are leaks. */
  get openFiles(): readonly string[] {
    return [...this.#open.values()]
  }

  /** Replaces the fault. */
  fail(fault: Fault): void {
    this.#fault = fault
    this.#matches = 0
  }

  heal(): void {
    this.#fault = undefined
  }

  open(path: string, mode: OpenMode): OpenFile {
    return this.run({ operation: 'open', path, mode }, () => {
      const file = new FaultyFile(this, this.inner.open(path, mode), () => this.#open.delete(file))
      this.#open.set(file, path)
      return file
    })
  }

  list(path: string): string[] {
    return this.run({ operation: 'list', path }, () => this.inner.list(path))
  }

  makeDirectory(path: string): void {
    this.run({ operation: 'makeDirectory', path }, () => this.inner.makeDirectory(path))
  }

  removeDirectory(path: string): void {
    this.run({ operation: 'removeDirectory', path }, () => this.inner.removeDirectory(path))
  }

  size(path: string): number | undefined {
    return this.run({ operation: 'size', path }, () => this.inner.size(path))
  }

  rename(from: string, to: string): void {
    this.run({ operation: 'rename', path: from, to }, () => this.inner.rename(from, to))
  }

  link(from: string, to: string): void {
    this.run({ operation: 'link', path: from, to }, () => this.inner.link(from, to))
  }

  remove(path: string): void {
    this.run({ operation: 'remove', path }, () => this.inner.remove(path))
  }

  async removeLater(path: string): Promise<void> {
    await this.runAsync({ operation: 'remove', path }, () => this.inner.removeLater(path))
  }

  async syncDirectory(path: string): Promise<void> {
    await this.runAsync({ operation: 'syncDirectory', path }, () => this.inner.syncDirectory(path))
  }

  realPath(path: string): string {
    return this.run({ operation: 'realPath', path }, () => this.inner.realPath(path))
  }

  /** Makes a call or fails it; also used by the open files of this file system. */
  run<T>(call: Call, action: () => T, whenFailing?: (fault: Fault) => void): T {
    this.#enter(call, whenFailing)
    const result = action()
    this.#options.after?.(call)
    return result
  }

  async runAsync<T>(call: Call, action: () => Promise<T>, whenFailing?: (fault: Fault) => void): Promise<T> {
    this.#enter(call, whenFailing)
    const result = await action()
    this.#options.after?.(call)
    return result
  }

  #enter(call: Call, whenFailing?: (fault: Fault) => void): void {
    this.#calls++
    if (this.#options.isTraced) this.trace.push(call)
    this.#options.before?.(call)
    const fault = this.#fault
    if (fault === undefined || !matchesFault(fault, call)) return
    this.#matches++
    if (this.#matches !== fault.at && !(fault.isPersistent && this.#matches > fault.at)) return
    whenFailing?.(fault)
    throw systemError(fault.code satisfies SystemErrorCode, call.operation, call.path)
  }
}

class FaultyFile implements OpenFile {
  readonly path: string
  readonly #fileSystem: FaultyFileSystem
  readonly #inner: OpenFile
  readonly #onClose: () => void
  #isClosed = false

  constructor(fileSystem: FaultyFileSystem, inner: OpenFile, onClose: () => void) {
    this.#fileSystem = fileSystem
    this.#inner = inner
    this.#onClose = onClose
    this.path = inner.path
  }

  read(target: Uint8Array, position: number): number {
    const call = this.#call('read', { position, bytes: target.length })
    return this.#fileSystem.run(call, () => this.#inner.read(target, position))
  }

  /** Not counted as a call: only the read itself can fail. */
  prepareRead(position: number, bytes: number): Promise<void> {
    return this.#inner.prepareRead(position, bytes)
  }

  write(bytes: Uint8Array, position: number): void {
    this.#fileSystem.run(
      this.#call('write', { position, bytes: bytes.length }),
      () => this.#inner.write(bytes, position),
      (fault) => {
        if (fault.isPartial) this.#inner.write(bytes.subarray(0, bytes.length >> 1), position)
      }
    )
  }

  size(): number {
    return this.#fileSystem.run(this.#call('fileSize'), () => this.#inner.size())
  }

  isAt(path: string): boolean {
    return this.#fileSystem.run(this.#call('fileSize'), () => this.#inner.isAt(path))
  }

  truncate(bytes: number): void {
    this.#fileSystem.run(this.#call('truncate', { bytes }), () => this.#inner.truncate(bytes))
  }

  async sync(): Promise<void> {
    await this.#fileSystem.runAsync(
      this.#call('sync'),
      () => this.#inner.sync(),
      () => this.#loseUnsynced()
    )
  }

  syncNow(): void {
    this.#fileSystem.run(
      this.#call('sync'),
      () => this.#inner.syncNow(),
      () => this.#loseUnsynced()
    )
  }

  close(): void {
    if (this.#isClosed) return
    this.#isClosed = true
    const close = () => {
      this.#inner.close()
      this.#onClose()
    }
    this.#fileSystem.run(this.#call('close'), close, close)
  }

  #loseUnsynced(): void {
    if (this.#inner instanceof MemoryOpenFile) this.#inner.loseUnsynced()
  }

  #call(operation: Operation, details: Partial<Call> = {}): Call {
    return { operation, path: this.path, ...details }
  }
}

function matchesFault({ operations, path }: Fault, call: Call): boolean {
  return (
    (operations === undefined || operations.includes(call.operation)) && (path === undefined || path.test(call.path))
  )
}
