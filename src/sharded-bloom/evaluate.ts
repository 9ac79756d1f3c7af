/**
 * Evaluates a prepared expression over one segment to the bits of upper and lower.
 *
 * Invariants:
 * 1. Negation swaps the bounds: upper(¬x) = ¬lower(x) and lower(¬x) = ¬upper(x). Nothing else negates, so a hashed
 *    row's "maybe" is never read as "no". Which rows feed which bound: leaf-bounds.ts.
 * 2. Documents whose pairs the segment does not fully know are in upper and not in lower, whatever the expression.
 * 3. While every leaf evaluated is exact, lower equals upper: the leaves left out could not have changed an AND that is
 *    already nothing or an OR that is already everything.
 * 4. Everything runs synchronously between load and result: no row can be evicted or changed meanwhile.
 * 5. The row memory that an evaluation holds depends on how deep the expression nests, not on its number of terms: AND
 *    and OR take their own frame first, and give back their children's frames whenever they fold these into it.
 */
import { enumerateSlack, type RowMemory } from '../bloom/kernels/index.ts'
import type { BoundsNode, LeafLocation, PreparedBounds } from './bounds.ts'
import { type Evaluation, evaluationOf } from './evaluation.ts'
import { FrameStack } from './frame-stack.ts'
import { type Bits, EVERYTHING, LeafBounds, NOTHING } from './leaf-bounds.ts'
import type { Side } from './ranges/interval.ts'
import { partOf, type RowPart } from './segment/and-groups.ts'
import type { Segment } from './segment/segment.ts'

/** Rows of an AND that one kernel call takes. */
const maxAndRows = 32
/** Up to this many documents are looked up in the live bitmap one by one: copying it to row memory takes as long. */
const fewDocuments = 64

/**
 * @param live bit set = live; undefined when all are
 * @param documents positions below it are visible
 * @param groups at least one; no document outside them is in upper: see segment/groups.ts
 * @param listed maximum number of upper's positions to list when all are certain
 */
export function evaluateSegment(
  memory: RowMemory,
  segment: Segment,
  { root, locations }: PreparedBounds,
  live: Uint32Array | undefined,
  documents: number,
  groups: number,
  listed = Number.POSITIVE_INFINITY
): Evaluation {
  return new SegmentEvaluation(memory, segment, locations, groups, listed).run(root, live, documents)
}

class SegmentEvaluation {
  readonly #memory: RowMemory
  readonly #segment: Segment
  readonly #locations: readonly LeafLocation[]
  /** The part of a row that upper lies in; bits beyond it are unspecified. */
  readonly #part: RowPart
  readonly #from: number
  readonly #length: number
  readonly #listed: number
  readonly #frames: FrameStack
  readonly #leaves: LeafBounds
  /** False once a 'bounds' node, or an AND cut short, makes upper and lower differ. */
  #isExact = true

  constructor(memory: RowMemory, segment: Segment, locations: readonly LeafLocation[], groups: number, listed: number) {
    this.#listed = listed
    this.#memory = memory
    this.#segment = segment
    this.#locations = locations
    this.#part = partOf(segment, groups)
    this.#from = this.#part.from
    this.#length = this.#part.length
    this.#frames = new FrameStack(memory)
    this.#leaves = new LeafBounds(memory, segment, locations, this.#part, this.#frames)
  }

  run(root: BoundsNode, live: Uint32Array | undefined, documents: number): Evaluation {
    try {
      const upperBits = this.#bound(root, 'upper')
      // Lower is a subset of upper.
      if (upperBits === NOTHING && this.#segment.alwaysCandidates.length === 0) return this.#result(0, 0)
      const upper = this.#settleUpper(upperBits, live, documents)
      const isExact = this.#isExact && this.#leaves.isExact && this.#segment.alwaysCandidates.length === 0
      if (isExact) return this.#result(upper, upper)
      const lowerBits = this.#bound(root, 'lower')
      if (lowerBits === NOTHING) return this.#result(upper, 0)
      return this.#result(upper, this.#settleLower(lowerBits, upper))
    } finally {
      this.#frames.close()
    }
  }

  /** @param lower address of its bits, as is `upper`; 0 for no document */
  #result(upper: number, lower: number): Evaluation {
    return evaluationOf(this.#memory, this.#part, upper, lower, this.#leaves.rowsRead, this.#listed)
  }

  /** Holds frames only when the result is neither nothing nor everything. */
  #bound(node: BoundsNode, side: Side): Bits {
    const { height } = this.#frames
    const bits = this.#boundOf(node, side)
    if (bits === NOTHING || bits === EVERYTHING) this.#frames.releaseTo(height)
    return bits
  }

  #boundOf(node: BoundsNode, side: Side): Bits {
    switch (node.kind) {
      case 'all':
        return EVERYTHING
      case 'none':
        return NOTHING
      case 'pair':
        return side === 'upper' ? this.#leaves.upperOfPair(node) : this.#leaves.lowerOfPair(node)
      case 'range':
        return this.#leaves.ofRange(node, side)
      case 'and':
        return this.#and(node.children, side)
      case 'or':
        return this.#or(node.children, side)
      case 'not':
        return this.#complement(node.child, side === 'upper' ? 'lower' : 'upper')
      case 'bounds':
        this.#isExact = false
        return this.#bound(node[side], side)
    }
  }

  #and(children: readonly BoundsNode[], side: Side): Bits {
    if (this.#isKnownEmpty(children, side)) return NOTHING
    const rows: number[] = []
    const out = this.#frames.take()
    const { height } = this.#frames
    for (const child of children) {
      const bits = this.#bound(child, side)
      if (bits === NOTHING) return NOTHING
      if (bits === EVERYTHING) continue
      rows.push(bits)
      if (rows.length < maxAndRows) continue
      if (!this.#andTo(rows, out)) return NOTHING
      this.#frames.releaseTo(height)
      rows.length = 0
      rows.push(out)
    }
    if (rows.length < 2) return rows[0] ?? EVERYTHING
    const isAnySet = this.#andTo(rows, out)
    this.#frames.releaseTo(height)
    return isAnySet ? out : NOTHING
  }

  /** Whether a pair makes the AND empty, which is known before any row is decoded. */
  #isKnownEmpty(children: readonly BoundsNode[], side: Side): boolean {
    let isUncertain = false
    for (const child of children) {
      if (child.kind !== 'pair') continue
      const { kind } = this.#locations[child.index]!.pair
      if (kind === 'absent') return true
      if (kind !== 'private') isUncertain = true
    }
    if (!isUncertain || side === 'upper') return false
    this.#isExact = false
    return true
  }

  #or(children: readonly BoundsNode[], side: Side): Bits {
    let sum: Bits = NOTHING
    const out = this.#frames.take()
    const { height } = this.#frames
    for (const child of children) {
      const bits = this.#bound(child, side)
      if (bits === EVERYTHING) return EVERYTHING
      if (bits === NOTHING) continue
      if (sum === NOTHING) {
        sum = bits
        continue
      }
      this.#orTo(sum, bits, out)
      this.#frames.releaseTo(height)
      sum = out
    }
    return sum
  }

  /** ANDs rows into `out`, which may be one of them. @returns whether any bit is set */
  #andTo(rows: readonly number[], out: number): boolean {
    const { kernels, u32 } = this.#memory
    const pointers = this.#memory.push(rows.length * 4)
    const first = pointers >>> 2
    for (let i = 0; i < rows.length; i++) u32[first + i] = rows[i]! + this.#from
    const isAnySet = kernels.andRows(pointers, rows.length, out + this.#from, this.#length)
    this.#memory.pop(pointers)
    return isAnySet === 1
  }

  #orTo(a: number, b: number, out: number): void {
    const from = this.#from
    this.#memory.kernels.or(a + from, b + from, out + from, this.#length)
  }

  #complement(child: BoundsNode, side: Side): Bits {
    const out = this.#frames.take()
    const { height } = this.#frames
    const bits = this.#bound(child, side)
    if (bits === NOTHING) return EVERYTHING
    if (bits === EVERYTHING) return NOTHING
    this.#memory.kernels.not(bits + this.#from, out + this.#from, this.#length)
    this.#frames.releaseTo(height)
    return out
  }

  /** Adds the documents whose pairs are not all known to the bound, and drops dead and invisible ones. */
  #settleUpper(bits: Bits, live: Uint32Array | undefined, documents: number): number {
    const { kernels, u8 } = this.#memory
    const from = this.#from
    const out = this.#own(bits)
    for (const position of this.#segment.alwaysCandidates) u8[out + (position >>> 3)]! |= 1 << (position & 7)
    if (live !== undefined && !this.#clearFewDead(out, live)) {
      kernels.and(out + from, this.#liveRow(live) + from, out + from, this.#length)
    }
    const visible = Math.min(documents, this.#segment.documents) - from * 8
    kernels.clearFrom(out + from, Math.max(0, visible), this.#length)
    return out
  }

  /** Narrows the bound to upper, which is live and visible, and drops the documents whose pairs are not all known. */
  #settleLower(bits: Bits, upper: number): number {
    const { kernels, u8 } = this.#memory
    const from = this.#from
    const out = this.#own(bits)
    kernels.and(out + from, upper + from, out + from, this.#length)
    for (const position of this.#segment.alwaysCandidates) u8[out + (position >>> 3)]! &= ~(1 << (position & 7))
    return out
  }

  /** Returns a frame with these bits, to be changed. */
  #own(bits: Bits): number {
    if (this.#frames.holds(bits)) return bits
    const { kernels } = this.#memory
    const out = this.#frames.take()
    const from = this.#from
    if (bits === NOTHING) kernels.fill(out + from, 0, this.#length)
    else if (bits === EVERYTHING) kernels.fill(out + from, 0xff, this.#length)
    else kernels.copy(bits + from, out + from, this.#length)
    return out
  }

  /** Clears the dead among few documents; returns false for more. Positions beyond the bitmap's words are live. */
  #clearFewDead(out: number, live: Uint32Array): boolean {
    const { kernels, u8, u16 } = this.#memory
    const list = this.#memory.push(2 * (fewDocuments + 1 + enumerateSlack))
    const count = kernels.enumerate(out + this.#from, this.#length, list, fewDocuments + 1, this.#from * 8)
    for (let i = 0; i < count && count <= fewDocuments; i++) {
      const position = u16[(list >>> 1) + i]!
      const isDead = position < live.length * 32 && (live[position >>> 5]! & (1 << (position & 31))) === 0
      if (isDead) u8[out + (position >>> 3)]! &= ~(1 << (position & 7))
    }
    this.#memory.pop(list)
    return count <= fewDocuments
  }

  /** Copies the live bitmap to a frame. Positions beyond its words are live. */
  #liveRow(live: Uint32Array): number {
    const { kernels, u32 } = this.#memory
    const out = this.#frames.take()
    const from = this.#from
    const end = from + this.#length
    const known = Math.max(from, Math.min(end, live.length * 4))
    u32.set(live.subarray(from / 4, known / 4), (out + from) >>> 2)
    kernels.fill(out + known, 0xff, end - known)
    return out
  }
}
