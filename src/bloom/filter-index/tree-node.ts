/** The nodes of the filter tree, and the bits of an inner node. */
import { popcount32 } from '../bit-set.ts'
import { hasAll, saturatedFill } from './slotted-index.ts'

export interface Leaf {
  readonly slot: number
  /** Undefined while it is on disk. */
  filter: Uint8Array | undefined
  parent: Inner | undefined
}

export interface Inner {
  children: (Inner | Leaf)[]
  readonly bits: NodeBits
  parent: Inner | undefined
}

/** The OR of filters, until it has too many bits set to be useful. */
export class NodeBits {
  readonly #limit: number
  readonly #bytes: number
  /** Two views of the same memory; undefined: all ones. OR does not depend on the byte order of words. */
  #words: Uint32Array | undefined
  #filter: Uint8Array | undefined

  constructor(bits: number) {
    this.#limit = Math.floor(bits * saturatedFill)
    this.#bytes = Math.ceil(bits / 32) * 4
    this.clear()
  }

  get isSaturated(): boolean {
    return this.#filter === undefined
  }

  get memoryBytes(): number {
    return this.#filter === undefined ? 0 : this.#bytes
  }

  clear(): void {
    if (this.#filter !== undefined) {
      this.#filter.fill(0)
      return
    }
    const memory = new ArrayBuffer(this.#bytes)
    this.#words = new Uint32Array(memory)
    this.#filter = new Uint8Array(memory)
  }

  saturate(): void {
    this.#words = undefined
    this.#filter = undefined
  }

  or(filter: Uint8Array): void {
    if (this.#filter === undefined) return
    for (let i = 0; i < filter.length; i++) this.#filter[i] = this.#filter[i]! | filter[i]!
    this.#saturateIfFull()
  }

  orNode(other: NodeBits): void {
    const words = this.#words
    if (words === undefined) return
    const more = other.#words
    if (more === undefined) {
      this.saturate()
      return
    }
    for (let i = 0; i < words.length; i++) words[i] = words[i]! | more[i]!
    this.#saturateIfFull()
  }

  mayHaveAll(positions: Int32Array): boolean {
    return this.#filter === undefined || hasAll(this.#filter, positions)
  }

  #saturateIfFull(): void {
    let count = 0
    for (const word of this.#words as Uint32Array) count += popcount32(word)
    if (count > this.#limit) this.saturate()
  }
}

/** Recomputes a node as the OR of its children. An unreadable leaf counts as all ones. */
export function recompute(node: Inner, filterOf: (leaf: Leaf) => Uint8Array | undefined): void {
  node.bits.clear()
  for (const child of node.children) {
    if (node.bits.isSaturated) return
    if (!('slot' in child)) {
      node.bits.orNode(child.bits)
      continue
    }
    const filter = filterOf(child)
    if (filter === undefined) node.bits.saturate()
    else node.bits.or(filter)
  }
}

/** Bytes of the inner nodes in a subtree. */
export function memoryOf(node: Inner | undefined): number {
  if (node === undefined) return 0
  let bytes = node.bits.memoryBytes
  for (const child of node.children) if (!('slot' in child)) bytes += memoryOf(child)
  return bytes
}
