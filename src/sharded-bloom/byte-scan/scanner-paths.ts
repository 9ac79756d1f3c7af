/**
 * The paths that a scanner knows: each has a node in its memory (see assembly/nodes.ts).
 *
 * Invariant: a path with a key that cannot be read verbatim (escapes, digits only, `__proto__`) has no node, so
 * documents with it are unknown to the scanner.
 */
import { isDigits } from '../../model/path.ts'
import type { ScannerModule } from './scanner-module.ts'

export type SeedOf = (path: string) => { readonly lo: number; readonly hi: number }

/** The "none" node and the root. */
const firstNodes = 2

const encoder = new TextEncoder()

export class ScannerPaths {
  readonly #module: ScannerModule
  readonly #seedOf: SeedOf
  /** Node of each registered path; 0 for one that cannot be registered. */
  readonly #nodes = new Map<string, number>()
  #names: string[] = []
  #nodeCount = firstNodes
  #keyBytes = 0

  constructor(module: ScannerModule, seedOf: SeedOf) {
    this.#module = module
    this.#seedOf = seedOf
    this.reset()
  }

  /** By node number. */
  get names(): readonly string[] {
    return this.#names
  }

  /** True when most of the room is taken, perhaps by paths of documents long gone. */
  get isNearlyFull(): boolean {
    return this.#nodeCount * 2 > this.#module.constants.MAX_NODES
  }

  /** Forgets every path. */
  reset(): void {
    const { functions } = this.#module
    functions.resetNodes()
    functions.setIdNode(0)
    this.#nodes.clear()
    this.#names = []
    this.#nodeCount = firstNodes
    this.#keyBytes = 0
  }

  /** Returns the path's node, creating it if necessary; 0 if it cannot have one. */
  nodeOf(path: string): number {
    const known = this.#nodes.get(path)
    if (known !== undefined) return known
    let node = this.#module.functions.rootNode()
    let prefix = ''
    path.split('.').forEach((key, depth) => {
      prefix = depth === 0 ? key : `${prefix}.${key}`
      node = node === 0 ? 0 : (this.#nodes.get(prefix) ?? this.#addNode(node, prefix, key))
    })
    return node
  }

  #addNode(parent: number, path: string, key: string): number {
    const { functions, constants } = this.#module
    const node = isReadable(key) ? this.#createNode(parent, path, key) : 0
    // Paths without a node may be numerous, and are remembered only to save time.
    if (node !== 0 || this.#nodes.size < 2 * constants.MAX_NODES) this.#nodes.set(path, node)
    if (path === '_id') functions.setIdNode(node)
    return node
  }

  #createNode(parent: number, path: string, key: string): number {
    const { functions, constants, u8 } = this.#module
    const { KEYS, MAX_KEY_BYTES, MAX_NODES, NODES, NODE_BYTES } = constants
    const bytes = encoder.encode(`${key}":`)
    if (this.#nodeCount >= MAX_NODES || this.#keyBytes + bytes.length + 8 > MAX_KEY_BYTES) return 0
    const address = KEYS + this.#keyBytes
    u8.set(bytes, address)
    this.#keyBytes += bytes.length
    this.#nodeCount++
    const { lo, hi } = this.#seedOf(path)
    const node = functions.addNode(parent, address, bytes.length, lo, hi)
    this.#names[(node - NODES) / NODE_BYTES] = path
    return node
  }
}

/** True for a key that is a path component and that JSON writes verbatim. */
function isReadable(key: string): boolean {
  // biome-ignore lint/suspicious/noControlCharactersInRegex: JSON escapes them.
  return key !== '__proto__' && !isDigits(key) && !/["\\\u0000-\u001f\p{Surrogate}]/u.test(key)
}
