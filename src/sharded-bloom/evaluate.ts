/**
 * Bounds over one segment: a prepared expression → the bits of upper and lower.
 *
 * Invariants:
 * 1. Negation swaps the bounds: upper(¬x) = ¬lower(x) and lower(¬x) = ¬upper(x). Nothing else negates, so a hashed
 *    row's "maybe" is never read as "no".
 * 2. Only private rows feed lower, less the irregular documents of their top-level key.
 * 3. Documents of which the segment does not know every pair are in upper and not in lower, whatever the expression.
 * 4. Everything runs synchronously between load and result: no row can be evicted or changed meanwhile.
 */
import type { RowMemory } from '../bloom/kernels/index.ts'
import type { BoundsLeaf, BoundsNode, PreparedBounds } from './bounds.ts'
import { frameBytes } from './row-cache.ts'
import type { Location, Segment } from './segment.ts'

/** Bits of a bound: nothing, everything, or an address in row memory. */
type Bits = typeof NOTHING | typeof EVERYTHING | number
const NOTHING = 0
const EVERYTHING = -1

type Side = 'upper' | 'lower'

export interface Evaluation {
  /** Positions in upper, live and below the limit, ascending. */
  readonly upper: Uint16Array
  readonly lowerCount: number
  /** Bits of upper and lower as a view of their own; lower is undefined when it is empty, or equal to upper. */
  readonly upperBits: Uint32Array
  readonly lowerBits: Uint32Array | undefined
  readonly isLowerUpper: boolean
  readonly rowsRead: number
  readonly bytesTouched: number
}

/**
 * @param live bit set = live; undefined when all are
 * @param documents positions below it are visible
 */
export function evaluateSegment(
  memory: RowMemory,
  segment: Segment,
  bounds: PreparedBounds,
  locations: ReadonlyMap<BoundsLeaf, LeafLocation>,
  live: Uint32Array | undefined,
  documents: number
): Evaluation {
  return new SegmentEvaluation(memory, segment, locations).run(bounds.root, live, documents)
}

export interface LeafLocation {
  readonly pair: Location
  readonly irregular: Location
}

class SegmentEvaluation {
  readonly #memory: RowMemory
  readonly #segment: Segment
  readonly #locations: ReadonlyMap<BoundsLeaf, LeafLocation>
  readonly #bytes: number
  readonly #scratch: number
  /** Frames taken from the pool when an expression nests deeper than scratch is large. */
  readonly #borrowed: number[] = []
  readonly #vacant: number[] = []
  #rowsRead = 0

  constructor(memory: RowMemory, segment: Segment, locations: ReadonlyMap<BoundsLeaf, LeafLocation>) {
    this.#memory = memory
    this.#segment = segment
    this.#locations = locations
    this.#bytes = segment.rowBytes
    this.#scratch = memory.scratch
  }

  run(root: BoundsNode, live: Uint32Array | undefined, documents: number): Evaluation {
    try {
      const upper = this.#settle(this.#bound(root, 'upper'), 'upper', live, documents)
      const lower = this.#settle(this.#bound(root, 'lower'), 'lower', live, documents)
      return this.#result(upper, lower)
    } finally {
      this.#memory.pop(this.#scratch)
      for (const address of this.#borrowed) this.#memory.free(address)
    }
  }

  #bound(node: BoundsNode, side: Side): Bits {
    switch (node.kind) {
      case 'all':
        return EVERYTHING
      case 'none':
        return NOTHING
      case 'pair':
        return side === 'upper' ? this.#upperOfPair(node) : this.#lowerOfPair(node)
      case 'and':
        return this.#and(node.children, side)
      case 'or':
        return this.#or(node.children, side)
      case 'not':
        return this.#complement(this.#bound(node.child, side === 'upper' ? 'lower' : 'upper'))
      case 'bounds':
        return this.#bound(node[side], side)
    }
  }

  #upperOfPair(leaf: BoundsLeaf): Bits {
    const location = this.#locations.get(leaf)!.pair
    switch (location.kind) {
      case 'absent':
        return NOTHING
      case 'unknown':
        return EVERYTHING
      case 'private':
        return this.#privateRow(location.slot) ?? EVERYTHING
      case 'hashed': {
        const out = this.#frame()
        this.#rowsRead += location.rows.length
        const isAnySet = this.#segment.andHashed(location.rows, out)
        if (isAnySet === undefined) return EVERYTHING
        return isAnySet ? out : NOTHING
      }
    }
  }

  #lowerOfPair(leaf: BoundsLeaf): Bits {
    const { pair, irregular } = this.#locations.get(leaf)!
    if (pair.kind !== 'private') return NOTHING
    const row = this.#privateRow(pair.slot)
    if (row === undefined) return NOTHING
    if (irregular.kind === 'absent') return row
    const exceptions = irregular.kind === 'private' ? this.#privateRow(irregular.slot) : undefined
    if (exceptions === undefined) return NOTHING
    const out = this.#frame()
    this.#memory.kernels.andNot(row, exceptions, out, this.#bytes)
    return out
  }

  #privateRow(slot: number): number | undefined {
    this.#rowsRead++
    const scratch = this.#frame()
    const row = this.#segment.privateRow(slot, scratch)
    if (row !== scratch) this.#giveBack(scratch)
    return row
  }

  #and(children: readonly BoundsNode[], side: Side): Bits {
    const rows: number[] = []
    for (const child of children) {
      const bits = this.#bound(child, side)
      if (bits === NOTHING) return NOTHING
      if (bits !== EVERYTHING) rows.push(bits)
    }
    if (rows.length < 2) return rows[0] ?? EVERYTHING
    return this.#fold(rows, (pointers, out) => this.#memory.kernels.andRows(pointers, rows.length, out, this.#bytes))
  }

  #or(children: readonly BoundsNode[], side: Side): Bits {
    const { kernels } = this.#memory
    let sum: Bits = NOTHING
    let isOurs = false
    for (const child of children) {
      const mark = this.#memory.scratch
      const bits = this.#bound(child, side)
      if (bits === EVERYTHING) return EVERYTHING
      if (bits === NOTHING) {
        this.#memory.pop(mark)
        continue
      }
      if (sum === NOTHING) {
        sum = bits
        continue
      }
      const out: number = isOurs ? sum : this.#frame()
      kernels.or(sum, bits, out, this.#bytes)
      // A branch's frames are free once it is in the sum: an $in of thousands needs a handful.
      if (isOurs) this.#memory.pop(mark)
      isOurs = true
      sum = out
    }
    return sum
  }

  #fold(rows: readonly number[], kernel: (pointers: number, out: number) => 0 | 1): Bits {
    const out = this.#frame()
    const pointers = this.#memory.push(rows.length * 4)
    this.#memory.u32.set(rows, pointers >>> 2)
    const isAnySet = kernel(pointers, out)
    this.#memory.pop(pointers)
    return isAnySet === 1 ? out : NOTHING
  }

  #complement(bits: Bits): Bits {
    if (bits === NOTHING) return EVERYTHING
    if (bits === EVERYTHING) return NOTHING
    const out = this.#frame()
    this.#memory.kernels.not(bits, out, this.#bytes)
    return out
  }

  /** The bound as bits of its own, with the documents of which not everything is known, alive and visible. */
  #settle(bits: Bits, side: Side, live: Uint32Array | undefined, documents: number): number {
    const { kernels, u32, u8 } = this.#memory
    const out = this.#frame()
    if (bits === NOTHING) kernels.fill(out, 0, this.#bytes)
    else if (bits === EVERYTHING) kernels.fill(out, 0xff, this.#bytes)
    else kernels.copy(bits, out, this.#bytes)
    for (const position of this.#segment.alwaysCandidates) {
      if (side === 'upper') u8[out + (position >>> 3)]! |= 1 << (position & 7)
      else u8[out + (position >>> 3)]! &= ~(1 << (position & 7))
    }
    if (live !== undefined) {
      const words = Math.min(live.length, this.#bytes / 4)
      for (let w = 0; w < words; w++) u32[(out >>> 2) + w]! &= live[w]!
    }
    kernels.clearFrom(out, Math.min(documents, this.#segment.documents), this.#bytes)
    return out
  }

  #result(upper: number, lower: number): Evaluation {
    const { kernels, u32 } = this.#memory
    const words = this.#bytes / 4
    const count = kernels.popcount(upper, this.#bytes)
    const lowerCount = kernels.popcount(lower, this.#bytes)
    const list = this.#memory.push(count * 4)
    kernels.enumerate(upper, this.#bytes, list, count)
    const isLowerUpper = lowerCount === count
    return {
      upper: new Uint16Array(u32.subarray(list >>> 2, (list >>> 2) + count)),
      lowerCount,
      upperBits: u32.slice(upper >>> 2, (upper >>> 2) + words),
      lowerBits: lowerCount === 0 || isLowerUpper ? undefined : u32.slice(lower >>> 2, (lower >>> 2) + words),
      isLowerUpper,
      rowsRead: this.#rowsRead,
      bytesTouched: this.#rowsRead * this.#bytes
    }
  }

  /** 8 KiB that belong to this evaluation. */
  #frame(): number {
    const { scratch, scratchEnd } = this.#memory
    // The last 320 KiB stay free for lists: positions of a whole segment, pointers, a decoded row.
    if (scratch + frameBytes <= scratchEnd - 320 * 1024) return this.#memory.push(frameBytes)
    const vacant = this.#vacant.pop()
    if (vacant !== undefined) return vacant
    const address = this.#memory.allocate()
    this.#borrowed.push(address)
    return address
  }

  /** Returns the frame taken last. */
  #giveBack(address: number): void {
    if (address < this.#memory.scratchEnd) this.#memory.pop(address)
    else this.#vacant.push(address)
  }
}
