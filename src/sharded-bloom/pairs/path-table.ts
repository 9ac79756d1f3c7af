/**
 * Interns the paths of documents, so that a path is hashed once and compared by identity afterwards.
 *
 * Invariants:
 * 1. A node's seed depends on the hasher, the index seed and the bytes of the path alone: it is the same after every
 *    reopen and in every thread.
 * 2. The table is bounded: past `maxPaths` it is emptied (`generation` grows), which costs time only.
 */
import type { PairHasher } from '../../bloom/hash.ts'
import { PetalError } from '../../model/errors.ts'
import { isDigits, topLevelKey } from '../../model/path.ts'
import { Tag } from './pair-tags.ts'

export interface PathNode {
  readonly path: string
  readonly topLevelKey: string
  /** Unique for the lifetime of the table, across generations. */
  readonly id: number
  /** Seed of every hash on this path. */
  readonly seedLo: number
  readonly seedHi: number
  /** True when the last key contains a dot: the path may then equal another one. */
  readonly isDotted: boolean
  /** undefined as long as there are none: most paths lead to values. */
  children: Map<string, PathNode> | undefined
  /** The child last taken: documents of one kind have the same keys in the same order. */
  lastKey: string | undefined
  lastChild: PathNode | undefined
  /** The document in which this node was last met, and the types met in it, one bit each. */
  stamp: number
  types: number
  /** For each tag the column in which the open segment `columnsOf` keeps the values. */
  columns: Int8Array | undefined
  columnsOf: object | undefined
}

export class PathTable {
  readonly #hasher: PairHasher
  readonly #seedLo: number
  readonly #seedHi: number
  readonly #maxPaths: number
  #size = 0
  #nextId = 1
  generation = 0
  root: PathNode

  constructor(hasher: PairHasher, seedLo: number, seedHi: number, maxPaths = 65_536) {
    this.#hasher = hasher
    this.#seedLo = seedLo
    this.#seedHi = seedHi
    this.#maxPaths = maxPaths
    this.root = this.#createNode('', false)
  }

  /** Forgets every path when the table is full. Call between documents only. */
  trim(): boolean {
    if (this.#size <= this.#maxPaths) return false
    this.#size = 0
    this.generation++
    this.root = this.#createNode('', false)
    return true
  }

  /**
   * Returns the node below `parent` for a key. All-digit keys are not path components: they lead back to the parent.
   * @throws PetalError BadValue for the key `__proto__`
   */
  child(parent: PathNode, key: string): PathNode {
    if (parent.lastKey === key) return parent.lastChild!
    const child = parent.children?.get(key) ?? this.#addChild(parent, key)
    parent.lastKey = key
    parent.lastChild = child
    return child
  }

  /** The seed of a path that need not be in the table, for queries. */
  seedOf(path: string): { readonly lo: number; readonly hi: number } {
    this.#hasher.hashString(this.#seedLo, this.#seedHi, Tag.path, path)
    return { lo: this.#hasher.lo, hi: this.#hasher.hi }
  }

  #addChild(parent: PathNode, key: string): PathNode {
    if (key === '__proto__') {
      const path = parent === this.root ? key : `${parent.path}.${key}`
      throw new PetalError('BadValue', `The key '__proto__' cannot be stored (at '${path}')`, { details: { path } })
    }
    if (isDigits(key)) return parent
    const path = parent === this.root ? key : `${parent.path}.${key}`
    const child = this.#createNode(path, key.includes('.'))
    parent.children ??= new Map()
    parent.children.set(key, child)
    return child
  }

  #createNode(path: string, isDotted: boolean): PathNode {
    const { lo, hi } = this.seedOf(path)
    this.#size++
    return {
      path,
      topLevelKey: topLevelKey(path),
      id: this.#nextId++,
      seedLo: lo,
      seedHi: hi,
      isDotted,
      children: undefined,
      lastKey: undefined,
      lastChild: undefined,
      stamp: 0,
      types: 0,
      columns: undefined,
      columnsOf: undefined
    }
  }
}
