/**
 * The bounds of one leaf, a pair or a range, in one segment: the bits of upper and lower from its rows and columns.
 *
 * Invariant: only private rows and columns feed lower. Rows do so without the irregular documents of their top-level
 * key; columns hold none. A hashed row feeds upper alone.
 */
import type { RowMemory } from '../bloom/kernels/index.ts'
import type { BoundsLeaf, LeafLocation, RangeLeaf } from './bounds.ts'
import type { FrameStack } from './frame-stack.ts'
import type { Side } from './ranges/interval.ts'
import type { Selection } from './ranges/range-column.ts'
import type { RowPart } from './segment/and-groups.ts'
import type { Segment } from './segment/segment.ts'

/** Bits of a bound: nothing, everything, or an address in row memory. */
export type Bits = typeof NOTHING | typeof EVERYTHING | number
export const NOTHING = 0
export const EVERYTHING = -1

export class LeafBounds {
  readonly #memory: RowMemory
  readonly #segment: Segment
  readonly #locations: readonly LeafLocation[]
  readonly #part: RowPart
  readonly #from: number
  readonly #length: number
  readonly #frames: FrameStack
  #rowsRead = 0
  #isExact = true

  /** @param frames hold bits that no row has as they are */
  constructor(
    memory: RowMemory,
    segment: Segment,
    locations: readonly LeafLocation[],
    part: RowPart,
    frames: FrameStack
  ) {
    this.#memory = memory
    this.#segment = segment
    this.#locations = locations
    this.#part = part
    this.#from = part.from
    this.#length = part.length
    this.#frames = frames
  }

  get rowsRead(): number {
    return this.#rowsRead
  }

  /** Whether upper equals lower for every leaf evaluated so far. */
  get isExact(): boolean {
    return this.#isExact
  }

  upperOfPair(leaf: BoundsLeaf): Bits {
    const { pair: location, irregular } = this.#locations[leaf.index]!
    switch (location.kind) {
      case 'absent':
        return NOTHING
      case 'unknown':
        this.#isExact = false
        return EVERYTHING
      case 'private':
        if (irregular.kind !== 'absent') this.#isExact = false
        return this.#privateRow(location.slot) ?? EVERYTHING
      case 'hashed': {
        this.#isExact = false
        const out = this.#frames.take()
        this.#rowsRead += this.#segment.rowsPerPair
        const isAnySet = this.#segment.andHashed(location, out, this.#part)
        if (isAnySet === undefined) return EVERYTHING
        return isAnySet ? out : NOTHING
      }
    }
  }

  lowerOfPair(leaf: BoundsLeaf): Bits {
    const { pair, irregular } = this.#locations[leaf.index]!
    if (pair.kind === 'absent') return NOTHING
    if (pair.kind !== 'private') {
      this.#isExact = false
      return NOTHING
    }
    const row = this.#privateRow(pair.slot)
    if (row === undefined) return NOTHING
    if (irregular.kind === 'absent') return row
    this.#isExact = false
    const exceptions = irregular.kind === 'private' ? this.#privateRow(irregular.slot) : undefined
    if (exceptions === undefined) return NOTHING
    const out = this.#frames.take()
    const from = this.#from
    this.#memory.kernels.andNot(row + from, exceptions + from, out + from, this.#length)
    return out
  }

  ofRange({ range, type }: RangeLeaf, side: Side): Bits {
    const column = this.#segment.rangeColumn(range.path, range.type)
    if (column?.isExact(range) !== true) this.#isExact = false
    if (column === undefined) return side === 'upper' ? this.upperOfPair(type) : NOTHING
    const inside = this.#selected(side, (out) => column.select(range, side, out, this.#part))
    this.#rowsRead += column.rowsRead
    if (side === 'lower' || inside === EVERYTHING) return inside
    const outside = this.#selected(side, (out) => column.outsiders(out, this.#part))
    if (outside === NOTHING || outside === EVERYTHING) return outside === NOTHING ? inside : outside
    this.#rowsRead++
    if (inside === NOTHING) return outside
    const from = this.#from
    this.#memory.kernels.or(inside + from, outside + from, outside + from, this.#length)
    return outside
  }

  #selected(side: Side, select: (out: number) => Selection): Bits {
    const out = this.#frames.take()
    const selection = select(out)
    if (selection === 'bits') return out
    this.#frames.release(out)
    if (selection === 'unknown') return side === 'upper' ? EVERYTHING : NOTHING
    return selection === 'all' ? EVERYTHING : NOTHING
  }

  #privateRow(slot: number): number | undefined {
    this.#rowsRead++
    const scratch = this.#frames.take()
    const row = this.#segment.privateRow(slot, scratch, this.#part)
    if (row === undefined) this.#isExact = false
    if (row !== scratch) this.#frames.release(scratch)
    return row
  }
}
