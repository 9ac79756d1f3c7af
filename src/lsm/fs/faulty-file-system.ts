/**
 * A file system whose Nth call fails, around any other; counts calls and open files, and tells what is called.
 *
 * A failing call does nothing, but for those whose real counterparts do half of their work: `write` may have written
 * the first half, `close` has closed, and after a failed `sync` the file system below forgets what it had not synced,
 * if it can: trying again would then report success for bytes that are lost, as Linux does.
 */
import type { FileSystem, OpenFile, OpenMode } from './file-system.ts'
import { MemoryOpenFile } from './memory-file-system.ts'
import { type SystemErrorCode, systemError } from './system-error.ts'

/** What changes the disk, or what of it is durable: where crashes differ. `open` may create. */
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

/** `sync` stands for `syncNow` too, `fileSize` for `size` of an open file. */
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
  /** Bytes read or written at most; the new size for truncate. */
  readonly bytes?: number
}

export interface Fault {
  /** Fails this one of the calls that match, counted from 1 when the fault is set. */
  readonly at: number
  /** … and all that follow. Default false. */
  readonly isPersistent?: boolean
  /** Default all. */
  readonly operations?: readonly Operation[]
  /** Default all. */
  readonly path?: RegExp
  readonly code: 'EIO' | 'ENOSPC'
  /** A failing write has written its first half. Default false. */
  readonly isPartial?: boolean
}

export interface FaultyOptions {
  /** Called before every call, failing or not; what it throws is thrown by the call. */
  readonly before?: (call: Call) => void
  /** Called after every call that succeeded, for `sync` when it is done. */
  readonly after?: (call: Call) => void
  /** Keeps every call in `trace`. Default false. */
  readonly isTraced?: boolean
}

export class FaultyFileSystem implements FileSystem {
  /** Calls of worker threads would not come by here. */
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

  /** Calls made so far. */
  get calls(): number {
    return this.#calls
  }

  /** Calls that matched the fault since it was set. */
  get matches(): number {
    return this.#matches
  }

  /** Paths of the files that are open: what is left at the end leaks. */
  get openFiles(): readonly string[] {
    return [...this.#open.values()]
  }

  /** Sets the fault, in place of the one before. */
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

  /** Makes a call, or fails; for the open files of this file system. */
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
    if (fault === undefined || !isMeant(fault, call)) return
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

  /** Not a call of its own: what can fail is the read. */
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

function isMeant({ operations, path }: Fault, call: Call): boolean {
  return (
    (operations === undefined || operations.includes(call.operation)) && (path === undefined || path.test(call.path))
  )
}
