/**
 * An in-memory file system that can crash like a real one: at any time, without stopping its users, it yields copies
 * in states that a power failure may leave.
 *
 * Nothing is durable except by the contract in file-system.ts: that includes the name of a directory, which needs a
 * sync of its parent. Path separators are `/` and `\`; relative paths start at the root.
 */
import { crashPlans, type PendingGroup, randomFates } from './crash-plans.ts'
import type { FileSystem, OpenFile, OpenMode } from './file-system.ts'
import { type Fates, MemoryDirectory, MemoryFile, type MemoryNode } from './memory-nodes.ts'
import { type SystemErrorCode, systemError } from './system-error.ts'

/** A directory, and a name that may or may not exist in it. */
interface DirectoryEntry {
  readonly directory: MemoryDirectory
  readonly name: string
}

export class MemoryFileSystem implements FileSystem {
  readonly isShared = false
  /** How this state was created, for test messages: `everything but operation 3 of 7 (rename …)`. */
  readonly origin: string
  readonly #root: MemoryDirectory
  #lastOrder = 0

  constructor()
  constructor(root: MemoryDirectory, origin: string)
  constructor(root = new MemoryDirectory(), origin = 'new') {
    this.#root = root
    this.origin = origin
  }

  open(path: string, mode: OpenMode): OpenFile {
    const { directory, name } = this.#locate(path, 'open')
    const node = directory.current.get(name)
    if (node instanceof MemoryDirectory) throw systemError('EISDIR', 'open', path)
    if (node === undefined) {
      if (mode === 'read' || mode === 'update') throw systemError('ENOENT', 'open', path)
      const file = new MemoryFile()
      directory.apply({ kind: 'add', order: this.#nextOrder(), name, node: file })
      return this.#opened(path, file, true)
    }
    if (mode === 'exclusive') throw systemError('EEXIST', 'open', path)
    if (mode === 'create') node.resize(this.#nextOrder(), 0)
    return this.#opened(path, node, mode !== 'read')
  }

  list(directory: string): string[] {
    return [...this.#directory(directory, 'scandir').current.keys()]
  }

  makeDirectory(path: string): void {
    let directory = this.#root
    for (const name of namesOf(path)) {
      let node = directory.current.get(name)
      if (node instanceof MemoryFile) throw systemError('EEXIST', 'mkdir', path)
      if (node === undefined) {
        node = new MemoryDirectory()
        directory.apply({ kind: 'add', order: this.#nextOrder(), name, node })
      }
      directory = node
    }
  }

  removeDirectory(path: string): void {
    const { directory, name } = this.#locate(path, 'rmdir')
    if (this.#directory(path, 'rmdir').current.size > 0) throw systemError('ENOTEMPTY', 'rmdir', path)
    directory.apply({ kind: 'remove', order: this.#nextOrder(), name })
  }

  size(path: string): number | undefined {
    const node = this.#find(path)
    return node instanceof MemoryFile ? node.current.length : undefined
  }

  rename(from: string, to: string): void {
    const source = this.#locate(from, 'rename')
    const node = this.#existing(source, from, 'rename')
    const target = this.#locate(to, 'rename')
    if (target.directory !== source.directory) throw systemError('EXDEV', 'rename', from)
    const replaced = target.directory.current.get(target.name)
    // Two names of one file: POSIX leaves both.
    if (replaced === node) return
    if (replaced instanceof MemoryDirectory) throw systemError('EISDIR', 'rename', to)
    target.directory.apply({ kind: 'rename', order: this.#nextOrder(), name: source.name, to: target.name, node })
  }

  link(from: string, to: string): void {
    const node = this.#existing(this.#locate(from, 'link'), from, 'link')
    if (node instanceof MemoryDirectory) throw systemError('EISDIR', 'link', from)
    const { directory, name } = this.#locate(to, 'link')
    if (directory.current.has(name)) throw systemError('EEXIST', 'link', to)
    directory.apply({ kind: 'add', order: this.#nextOrder(), name, node })
  }

  remove(path: string): void {
    const spot = this.#locate(path, 'unlink')
    const node = this.#existing(spot, path, 'unlink')
    if (node instanceof MemoryDirectory) throw systemError('EISDIR', 'unlink', path)
    spot.directory.apply({ kind: 'remove', order: this.#nextOrder(), name: spot.name })
  }

  async removeLater(path: string): Promise<void> {
    this.remove(path)
  }

  async syncDirectory(path: string): Promise<void> {
    const directory = this.#directory(path, 'fsync')
    const order = this.#nextOrder()
    await deviceTime()
    directory.sync(order)
  }

  realPath(path: string): string {
    if (this.#find(path) === undefined) throw systemError('ENOENT', 'realpath', path)
    return `/${namesOf(path).join('/')}`
  }

  /**
   * A copy of the file system, including what is durable and what is not; later changes to either do not affect the
   * other.
   */
  snapshot(): MemoryFileSystem {
    const snapshot = new MemoryFileSystem(this.#root.fork(new Map()), this.origin)
    snapshot.#lastOrder = this.#lastOrder
    return snapshot
  }

  /**
   * States that a crash at this moment may leave, the most revealing first: nothing unsynced, everything, names
   * without bytes, each file's operations lost, every prefix of the operations, each one lost, each one alone, writes
   * torn. Their number grows with that of unsynced operations; take as many as time allows.
   */
  crashStates(): Iterable<MemoryFileSystem> {
    const crashed = this.snapshot()
    const pending = crashed.#pending()
    return (function* () {
      for (const plan of crashPlans(pending)) yield crashed.#afterCrash(plan.fates, plan.description)
    })()
  }

  /**
   * One random state that a crash may leave: any subset of the unsynced operations, with writes torn at sectors or
   * ended at any byte.
   * @param random uniform in [0, 1)
   */
  crashClone({ random }: { readonly random: () => number }): MemoryFileSystem {
    return this.#afterCrash(randomFates(this.#pending(), random), 'random crash')
  }

  #afterCrash(fates: Fates, description: string): MemoryFileSystem {
    return new MemoryFileSystem(this.#root.afterCrash(fates, new Map()), description)
  }

  /** The unsynced operations, by file and directory. */
  #pending(): PendingGroup[] {
    const seen = new Set<MemoryNode>()
    const pending: PendingGroup[] = []
    const visit = (node: MemoryNode): void => {
      if (seen.has(node)) return
      seen.add(node)
      if (node.pending.length > 0) pending.push(node.pending)
      if (node instanceof MemoryDirectory) for (const child of node.reachable()) visit(child)
    }
    visit(this.#root)
    return pending
  }

  #nextOrder(): number {
    return ++this.#lastOrder
  }

  #opened(path: string, file: MemoryFile, isWritable: boolean): OpenFile {
    const isAt = (name: string) => this.#find(name) === file
    return new MemoryOpenFile(path, file, isWritable, isAt, () => this.#nextOrder())
  }

  #find(path: string): MemoryNode | undefined {
    let node: MemoryNode | undefined = this.#root
    for (const name of namesOf(path)) {
      if (!(node instanceof MemoryDirectory)) return undefined
      node = node.current.get(name)
    }
    return node
  }

  #directory(path: string, syscall: string): MemoryDirectory {
    const node = this.#find(path)
    if (node instanceof MemoryDirectory) return node
    throw systemError(node === undefined ? 'ENOENT' : 'ENOTDIR', syscall, path)
  }

  #locate(path: string, syscall: string): DirectoryEntry {
    const names = namesOf(path)
    const name = names.pop()
    if (name === undefined) throw systemError('EISDIR', syscall, path)
    return { directory: this.#directory(names.join('/'), syscall), name }
  }

  #existing({ directory, name }: DirectoryEntry, path: string, syscall: string): MemoryNode {
    const node = directory.current.get(name)
    if (node === undefined) throw systemError('ENOENT', syscall, path)
    return node
  }
}

/** An open file of a MemoryFileSystem. */
export class MemoryOpenFile implements OpenFile {
  readonly path: string
  readonly #file: MemoryFile
  readonly #isWritable: boolean
  readonly #isAt: (path: string) => boolean
  readonly #nextOrder: () => number
  #isClosed = false

  constructor(
    path: string,
    file: MemoryFile,
    isWritable: boolean,
    isAt: (path: string) => boolean,
    nextOrder: () => number
  ) {
    this.path = path
    this.#file = file
    this.#isWritable = isWritable
    this.#isAt = isAt
    this.#nextOrder = nextOrder
  }

  read(target: Uint8Array, position: number): number {
    return this.#use('read').current.read(target, position)
  }

  async prepareRead(): Promise<void> {}

  write(bytes: Uint8Array, position: number): void {
    if (!this.#isWritable) throw this.#error('EBADF', 'write')
    this.#use('write').write(this.#nextOrder(), bytes, position)
  }

  size(): number {
    return this.#use('fstat').current.length
  }

  isAt(path: string): boolean {
    this.#use('fstat')
    return this.#isAt(path)
  }

  truncate(bytes: number): void {
    if (!this.#isWritable) throw this.#error('EINVAL', 'ftruncate')
    this.#use('ftruncate').resize(this.#nextOrder(), bytes)
  }

  async sync(): Promise<void> {
    const file = this.#use('fdatasync')
    const order = this.#nextOrder()
    await deviceTime()
    file.sync(order)
  }

  syncNow(): void {
    this.#use('fdatasync').sync(this.#nextOrder())
  }

  close(): void {
    this.#isClosed = true
  }

  /** For faulty file systems: unsynced data will never be synced. */
  loseUnsynced(): void {
    this.#file.loseUnsynced()
  }

  #use(syscall: string): MemoryFile {
    if (this.#isClosed) throw this.#error('EBADF', syscall)
    return this.#file
  }

  #error(code: SystemErrorCode, syscall: string): Error {
    return systemError(code, syscall, this.path)
  }
}

function namesOf(path: string): string[] {
  const names: string[] = []
  for (const name of path.split(/[\\/]/)) {
    if (name === '..') names.pop()
    else if (name !== '' && name !== '.') names.push(name)
  }
  return names
}

/** A sync takes an event-loop turn and does not include what is written meanwhile. */
function deviceTime(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve))
}
