/**
 * Interns the paths of documents, so that a path is hashed once and compared by identity afterwards.
 *
 * Invariants:
 * 1. A node's seed depends on the hasher, the index seed and the bytes of the path alone: it is the same after every
 *    reopen and in every thread.
 * 2. The table is bounded: past `maxPaths` it starts again from nothing (`generation` grows), which costs time only.
 */
import type { PairHasher } from '../../bloom/hash.ts'
import { PetalError } from '../../model/errors.ts'
import { isDigits, topLevelKey } from '../../model/path.ts'
import { Tag } from './pair-tags.ts'

export interface PathNode {
  readonly path: string
  readonly topLevelKey: string
  /** Unique in the life of the table, generations included. */
  readonly id: number
  /** Seed of every hash on this path. */
  readonly seedLo: number
  readonly seedHi: number
  /** True when the last key holds a dot: the path then has the name of another one. */
  readonly isDotted: boolean
  readonly children: Map<string, PathNode>
  /** The child taken last: documents of one kind ask for the same keys in the same order. */
  lastKey: string | undefined
  lastChild: PathNode | undefined
  /** The document in whose flattening this node was met last, and the types met in it, one bit each. */
  stamp: number
  types: number
  /** For each tag the column that an open segment keeps the values in; it belongs to `columnsOf`. */
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
   * The node below `parent` for a key. All-digit keys name no component, so they lead back to the parent.
   * @throws PetalError BadValue for the key `__proto__`
   */
  child(parent: PathNode, key: string): PathNode {
    if (parent.lastKey === key) return parent.lastChild!
    const child = parent.children.get(key) ?? this.#addChild(parent, key)
    parent.lastKey = key
    parent.lastChild = child
    return child
  }

  /** The seed of a path that may not be in the table: what a query hashes with. */
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
      children: new Map(),
      lastKey: undefined,
      lastChild: undefined,
      stamp: 0,
      types: 0,
      columns: undefined,
      columnsOf: undefined
    }
  }
}
