/**
 * Files and directories in memory as a crash sees them: their durable state, and the operations since, in order.
 *
 * Invariant: current = durable + pending, except for what a failed sync lost.
 */
import { MemoryContent } from './memory-content.ts'

export type MemoryNode = MemoryFile | MemoryDirectory

/** `order` is the position among all operations of a file system. */
export interface WriteOperation {
  readonly kind: 'write'
  readonly order: number
  readonly position: number
  readonly bytes: Uint8Array
}

export interface ResizeOperation {
  readonly kind: 'resize'
  readonly order: number
  readonly length: number
}

export interface AddOperation {
  readonly kind: 'add'
  readonly order: number
  readonly name: string
  readonly node: MemoryNode
}

export interface RemoveOperation {
  readonly kind: 'remove'
  readonly order: number
  readonly name: string
}

export interface RenameOperation {
  readonly kind: 'rename'
  readonly order: number
  readonly name: string
  readonly to: string
  readonly node: MemoryNode
}

export type FileOperation = WriteOperation | ResizeOperation
export type NameOperation = AddOperation | RemoveOperation | RenameOperation
export type PendingOperation = FileOperation | NameOperation

/** The effect of a crash on an unsynced operation. */
export type Fate =
  | 'lost'
  | 'kept'
  /**
   * Only the bytes [start, end) of a write; `grows`: the file nevertheless gets its new size, with zeros in between.
   */
  | { readonly ranges: readonly (readonly [start: number, end: number])[]; readonly grows: boolean }

export type Fates = ReadonlyMap<PendingOperation, Fate>
/** Maps the nodes of one file system to their copies in another: a file may have several names. */
export type Counterparts = Map<MemoryNode, MemoryNode>

export class MemoryFile {
  readonly current: MemoryContent
  readonly #durable: MemoryContent
  #pending: FileOperation[] = []

  constructor(durable = new MemoryContent(), current = durable.fork()) {
    this.#durable = durable
    this.current = current
  }

  get pending(): readonly FileOperation[] {
    return this.#pending
  }

  write(order: number, bytes: Uint8Array, position: number): void {
    this.current.write(bytes, position)
    // Not slice(): for a Buffer that would be a view.
    this.#pending.push({ kind: 'write', order, position, bytes: new Uint8Array(bytes) })
  }

  resize(order: number, length: number): void {
    this.current.resize(length)
    this.#pending.push({ kind: 'resize', order, length })
  }

  /** Makes operations up to and including `order` durable. */
  sync(order: number): void {
    for (const operation of this.#pending) {
      if (operation.order <= order) applyToFile(this.#durable, operation, 'kept')
    }
    this.#pending = this.#pending.filter((operation) => operation.order > order)
  }

  /** The effect of a failed fsync on Linux: pages are marked clean and never reach the device; reads still see them. */
  loseUnsynced(): void {
    this.#pending = []
  }

  fork(): MemoryFile {
    const fork = new MemoryFile(this.#durable.fork(), this.current.fork())
    fork.#pending = [...this.#pending]
    return fork
  }

  afterCrash(fates: Fates): MemoryFile {
    const survivor = this.#durable.fork()
    for (const operation of this.#pending) applyToFile(survivor, operation, fates.get(operation) ?? 'lost')
    return new MemoryFile(survivor)
  }
}

export class MemoryDirectory {
  readonly current: Map<string, MemoryNode>
  readonly #durable: Map<string, MemoryNode>
  #pending: NameOperation[] = []

  constructor(durable = new Map<string, MemoryNode>(), current = new Map(durable)) {
    this.#durable = durable
    this.current = current
  }

  get pending(): readonly NameOperation[] {
    return this.#pending
  }

  apply(operation: NameOperation): void {
    applyToNames(this.current, operation)
    this.#pending.push(operation)
  }

  sync(order: number): void {
    for (const operation of this.#pending) {
      if (operation.order <= order) applyToNames(this.#durable, operation)
    }
    this.#pending = this.#pending.filter((operation) => operation.order > order)
  }

  /** Every node that a name refers to, or may refer to after a crash. */
  *reachable(): Generator<MemoryNode> {
    yield* this.current.values()
    yield* this.#durable.values()
    for (const operation of this.#pending) if (operation.kind !== 'remove') yield operation.node
  }

  fork(counterparts: Counterparts): MemoryDirectory {
    const counterpart = (node: MemoryNode) => forkNode(node, counterparts)
    const fork = new MemoryDirectory(mapNames(this.#durable, counterpart), mapNames(this.current, counterpart))
    fork.#pending = this.#pending.map((operation) =>
      operation.kind === 'remove' ? operation : { ...operation, node: counterpart(operation.node) }
    )
    return fork
  }

  afterCrash(fates: Fates, counterparts: Counterparts): MemoryDirectory {
    const survivors = new Map(this.#durable)
    for (const operation of this.#pending) {
      if ((fates.get(operation) ?? 'lost') !== 'lost') applyToNames(survivors, operation)
    }
    return new MemoryDirectory(mapNames(survivors, (node) => nodeAfterCrash(node, fates, counterparts)))
  }
}

function forkNode(node: MemoryNode, counterparts: Counterparts): MemoryNode {
  return counterpartOf(node, counterparts, () => (node instanceof MemoryFile ? node.fork() : node.fork(counterparts)))
}

function nodeAfterCrash(node: MemoryNode, fates: Fates, counterparts: Counterparts): MemoryNode {
  return counterpartOf(node, counterparts, () => node.afterCrash(fates, counterparts))
}

function counterpartOf(node: MemoryNode, counterparts: Counterparts, make: () => MemoryNode): MemoryNode {
  const known = counterparts.get(node)
  if (known !== undefined) return known
  const made = make()
  counterparts.set(node, made)
  return made
}

function mapNames(names: ReadonlyMap<string, MemoryNode>, change: (node: MemoryNode) => MemoryNode) {
  return new Map([...names].map(([name, node]) => [name, change(node)]))
}

function applyToNames(names: Map<string, MemoryNode>, operation: NameOperation): void {
  if (operation.kind === 'add') names.set(operation.name, operation.node)
  else if (operation.kind === 'remove') names.delete(operation.name)
  else {
    // If an earlier operation was lost, the name may refer to another file.
    if (names.get(operation.name) === operation.node) names.delete(operation.name)
    names.set(operation.to, operation.node)
  }
}

function applyToFile(content: MemoryContent, operation: FileOperation, fate: Fate): void {
  if (fate === 'lost') return
  if (operation.kind === 'resize') {
    content.resize(operation.length)
    return
  }
  const { bytes, position } = operation
  if (fate === 'kept') {
    content.write(bytes, position)
    return
  }
  for (const [start, end] of fate.ranges) content.write(bytes.subarray(start, end), position + start)
  if (fate.grows && position + bytes.length > content.length) content.resize(position + bytes.length)
}
