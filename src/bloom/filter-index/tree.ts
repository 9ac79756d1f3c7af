/**
 * A hierarchy of filters: a node is the bitwise OR of its children, so a value that is not in a node is in no filter
 * below it.
 *
 * Invariants:
 * 1. All leaves are at the same depth; every node has d to 2d children, the root 1 to 2d.
 * 2. A node's bits include those of every leaf below it. A node fuller than `saturatedFill`, or with such a node below
 *    it, has no bits: it stands for all ones.
 * 3. Leaves may stay on disk: beyond `leafMemory` bytes they are read by `loadLeaf` when a query reaches them. An
 *    unreadable leaf is a candidate.
 *
 * A filter is placed next to the most similar one. That one is not found by descending, as in a search tree: the upper
 * nodes are saturated unless all filters are very similar, and give no direction. Instead, a sample of every leaf's
 * bits is compared, 128 bytes each.
 *
 * @see Crainiceanu and Lemire, Bloofi: Multidimensional Bloom filters, 2015
 */
import { popcount32 } from '../bit-set.ts'
import { hasAll, SlottedIndex, setBit } from './slotted-index.ts'
import { type Inner, type Leaf, memoryOf, NodeBits, recompute } from './tree-node.ts'

export interface TreeOptions {
  /** d: a node has d to 2d children. Default 8. */
  readonly order: number
  /** Bytes of leaves kept in memory. Default: all of them. */
  readonly leafMemory: number
  /** Reads a leaf that is not in memory; undefined if it is unreadable. Required for `leafMemory`. */
  readonly loadLeaf: (slot: number) => Uint8Array | undefined
}

/** Words in a leaf's sample. Hashes are uniform, so the first words are as good as any. */
const sampleWords = 32

export class TreeFilterIndex extends SlottedIndex {
  readonly order: number
  readonly #leafMemory: number
  readonly #loadLeaf: (slot: number) => Uint8Array | undefined
  readonly #leaves: (Leaf | undefined)[] = []
  #samples = new Uint32Array(0)
  #root: Inner | undefined
  #leafBytes = 0

  constructor(bits: number, options: Partial<TreeOptions> = {}) {
    super(bits)
    this.order = Math.max(2, Math.floor(options.order ?? 8))
    this.#loadLeaf = options.loadLeaf ?? (() => undefined)
    this.#leafMemory = options.loadLeaf === undefined ? Number.POSITIVE_INFINITY : (options.leafMemory ?? Infinity)
  }

  get memoryBytes(): number {
    return this.#leafBytes + this.#samples.byteLength + memoryOf(this.#root)
  }

  override growthOf(_slot: number): number {
    const leaf = this.#leafBytes + this.filterBytes <= this.#leafMemory ? this.filterBytes : 0
    return leaf + sampleWords * 4
  }

  /** The root, for tests of the invariants. */
  get root(): Inner | undefined {
    return this.#root
  }

  protected add(slot: number, filter: Uint8Array): void {
    const nearest = this.#nearest(slot, filter)
    const leaf: Leaf = { slot, filter: undefined, parent: undefined }
    if (this.#leafBytes + this.filterBytes <= this.#leafMemory) {
      leaf.filter = filter.slice()
      this.#leafBytes += this.filterBytes
    }
    while (this.#leaves.length <= slot) this.#leaves.push(undefined)
    this.#leaves[slot] = leaf

    if (nearest?.parent === undefined) {
      this.#root = { children: [], bits: new NodeBits(this.bits), parent: undefined }
    }
    const parent = nearest?.parent ?? (this.#root as Inner)
    const place = nearest === undefined ? 0 : parent.children.indexOf(nearest) + 1
    parent.children.splice(place, 0, leaf)
    leaf.parent = parent
    for (let node: Inner | undefined = parent; node !== undefined; node = node.parent) node.bits.or(filter)
    this.#splitUpwards(parent)
  }

  protected drop(slot: number): void {
    const leaf = this.#leaves[slot] as Leaf
    this.#leaves[slot] = undefined
    if (leaf.filter !== undefined) this.#leafBytes -= this.filterBytes
    const parent = leaf.parent as Inner
    parent.children.splice(parent.children.indexOf(leaf), 1)
    this.#mergeUpwards(parent)
  }

  protected match(positions: Int32Array, found: Uint32Array): void {
    if (this.#root?.bits.mayHaveAll(positions)) this.#matchBelow(this.#root, positions, found)
  }

  #matchBelow(node: Inner, positions: Int32Array, found: Uint32Array): void {
    for (const child of node.children) {
      if ('slot' in child) {
        const filter = child.filter ?? this.#loadLeaf(child.slot)
        if (filter === undefined || hasAll(filter, positions)) setBit(found, child.slot)
      } else if (child.bits.mayHaveAll(positions)) {
        this.#matchBelow(child, positions, found)
      }
    }
  }

  #splitUpwards(from: Inner): void {
    for (let node: Inner | undefined = from; node !== undefined && node.children.length > 2 * this.order; ) {
      const right: Inner = {
        // Adjacent leaves are similar, so splitting in the middle keeps most similar ones together.
        children: node.children.splice(this.order),
        bits: new NodeBits(this.bits),
        parent: node.parent
      }
      for (const child of right.children) child.parent = right
      this.#recompute(node)
      this.#recompute(right)
      if (node.parent === undefined) {
        this.#root = { children: [node, right], bits: new NodeBits(this.bits), parent: undefined }
        node.parent = this.#root
        right.parent = this.#root
        this.#recompute(this.#root)
        return
      }
      node.parent.children.splice(node.parent.children.indexOf(node) + 1, 0, right)
      node = node.parent
    }
  }

  #mergeUpwards(from: Inner): void {
    for (let node: Inner | undefined = from; node !== undefined; node = node.parent) {
      if (node.parent !== undefined && node.children.length < this.order) {
        this.#mergeWithSibling(node, node.parent)
      } else {
        this.#recompute(node)
      }
    }
    const root = this.#root as Inner
    const [only] = root.children
    if (only === undefined) {
      this.#root = undefined
    } else if (root.children.length === 1 && !('slot' in only)) {
      only.parent = undefined
      this.#root = only
    }
  }

  /** Brings a node and a sibling within bounds: merges them, or distributes their children evenly. */
  #mergeWithSibling(node: Inner, parent: Inner): void {
    const place = parent.children.indexOf(node)
    const left = parent.children[Math.max(0, place - 1)] as Inner
    const right = parent.children[Math.max(1, place)] as Inner
    const all = [...left.children, ...right.children]
    if (all.length <= 2 * this.order) {
      left.children = all
      parent.children.splice(parent.children.indexOf(right), 1)
    } else {
      left.children = all.splice(0, all.length >>> 1)
      right.children = all
      for (const child of right.children) child.parent = right
      this.#recompute(right)
    }
    for (const child of left.children) child.parent = left
    this.#recompute(left)
  }

  #recompute(node: Inner): void {
    recompute(node, (leaf) => leaf.filter ?? this.#loadLeaf(leaf.slot))
  }

  /** The leaf whose sample differs in the fewest bits; stores the new leaf's sample. */
  #nearest(slot: number, filter: Uint8Array): Leaf | undefined {
    if (this.#samples.length < (slot + 1) * sampleWords) {
      const wider = new Uint32Array(Math.max((slot + 1) * sampleWords, this.#samples.length * 2))
      wider.set(this.#samples)
      this.#samples = wider
    }
    const samples = this.#samples
    const own = slot * sampleWords
    const bytes = Math.min(sampleWords * 4, filter.length)
    samples.fill(0, own, own + sampleWords)
    new Uint8Array(samples.buffer, own * 4, bytes).set(filter.subarray(0, bytes))

    let nearest: Leaf | undefined
    let least = Number.POSITIVE_INFINITY
    for (const leaf of this.#leaves) {
      if (leaf === undefined) continue
      const other = leaf.slot * sampleWords
      let distance = 0
      for (let i = 0; i < sampleWords; i++) distance += popcount32(samples[own + i]! ^ samples[other + i]!)
      if (distance < least) {
        least = distance
        nearest = leaf
      }
    }
    return nearest
  }
}
