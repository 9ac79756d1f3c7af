/**
 * A column of the open segment: every document's key in row memory, eight bytes each.
 *
 * Invariants:
 * 1. A document that is not in the column has the key NaN, which is in no interval.
 * 2. A frame without keys is not allocated.
 * 3. `isGrowing` is true while no key was below the one before it.
 */
import type { RowMemory } from '../../bloom/kernels/index.ts'
import type { RangeType } from '../../model/pairs.ts'
import { Type } from '../../model/types.ts'
import type { RowPart } from '../segment/and-groups.ts'
import { GrowingRow } from '../segment/growing-row.ts'
import { frameBytes } from '../segment/row-cache.ts'
import { allGroups, groupDocumentsOf, groupsBetween } from '../segment/upper-level.ts'
import { type Direction, stepOf, valueOfKey } from './column-order.ts'
import type { ColumnSpec } from './column-spec.ts'
import { type Interval, isEmpty, type QueryRange, type Side } from './interval.ts'
import type { RangeColumn, Selection } from './range-column.ts'

/** Positions whose keys share a frame; fewer in shorter segments. */
const maxPositionsPerFrame = frameBytes / 8
/** Maximum number of sampled keys that a cut is chosen from. */
const maxSampledKeys = 4096
/** By how much a column grows before another sample is drawn. */
const sampleGrowth = 1 / 64

/** Consecutive keys in row memory. */
export interface KeyRun {
  readonly address: number
  readonly position: number
  readonly count: number
}

/** The keys of a range of positions, and their bounds. */
interface KeyFrame {
  readonly address: number
  min: number
  max: number
}

export class OpenColumn implements RangeColumn {
  readonly spec: ColumnSpec
  readonly rowsRead = 0
  outside: GrowingRow
  min = Number.POSITIVE_INFINITY
  max = Number.NEGATIVE_INFINITY
  /** Number of documents in the column. */
  count = 0
  isGrowing = true
  readonly #memory: RowMemory
  /** A power of two. */
  readonly #positionsPerFrame: number
  readonly #frameShift: number
  readonly #frames: (KeyFrame | undefined)[]
  readonly #groupDocuments: number
  #sampled: Float64Array = new Float64Array(0)
  /** Documents in the column when the sample was drawn. */
  #sampledCount = 0

  constructor(memory: RowMemory, segmentDocuments: number, spec: ColumnSpec) {
    this.#memory = memory
    this.spec = spec
    this.outside = new GrowingRow(segmentDocuments)
    this.#positionsPerFrame = Math.min(maxPositionsPerFrame, segmentDocuments)
    this.#frameShift = Math.log2(this.#positionsPerFrame)
    this.#groupDocuments = groupDocumentsOf(segmentDocuments)
    this.#frames = new Array(segmentDocuments / this.#positionsPerFrame).fill(undefined)
  }

  /** Sets a key. REQUIRES: positions ascend, and `key` is not NaN. */
  set(position: number, key: number): void {
    const number = position >>> this.#frameShift
    const frame = this.#frames[number] ?? this.#allocate(number)
    this.#memory.f64[(frame.address >>> 3) + (position & (this.#positionsPerFrame - 1))] = key
    if (key < frame.min) frame.min = key
    if (key > frame.max) frame.max = key
    // While keys grow, the greatest key is the previous one.
    if (key < this.max) this.isGrowing = false
    if (key < this.min) this.min = key
    if (key > this.max) this.max = key
    this.count++
  }

  /** Makes the first `documents` positions outsiders, whose keys are unknown. */
  forget(documents: number): void {
    this.free()
    this.outside = new GrowingRow(this.#frames.length * this.#positionsPerFrame)
    for (let position = 0; position < documents; position++) this.outside.add(position)
    this.min = Number.POSITIVE_INFINITY
    this.max = Number.NEGATIVE_INFINITY
    this.count = 0
    this.#sampledCount = 0
  }

  /** Returns the locations of the keys of positions [from, to), NaN for those not in the column. */
  runs(from = 0, to = this.#frames.length * this.#positionsPerFrame): KeyRun[] {
    const runs: KeyRun[] = []
    for (let position = from; position < to; position += this.#positionsPerFrame) {
      const frame = this.#frames[Math.floor(position / this.#positionsPerFrame)]
      const count = Math.min(this.#positionsPerFrame, to - position)
      if (frame !== undefined) runs.push({ address: frame.address, position, count })
    }
    return runs
  }

  /**
   * Writes, for every 32 of the `documents` positions, the first key at or after their first position to `groups`; and
   * sets a bit for each document of the column in `members`, which is zero.
   */
  firstKeys(documents: number, groups: number, members: number): void {
    const { kernels, f64 } = this.#memory
    const length = this.#positionsPerFrame
    let next = this.max
    for (let i = Math.ceil(documents / length) - 1; i >= 0; i--) {
      const position = i * length
      const count = Math.min(length, documents - position)
      const frame = this.#frames[i]
      const to = groups + position / 4
      if (frame === undefined) f64.fill(next, to >>> 3, (to >>> 3) + Math.ceil(count / 32))
      else next = kernels.firstKeys(frame.address, count, next, to, members + position / 8)
    }
  }

  /**
   * Writes, for every 32 of the `documents` positions, the least and the greatest key to `zones`; and a bit for each
   * document of the column to `members`.
   */
  zones(documents: number, zones: number, members: number): void {
    const { kernels, f64, u32 } = this.#memory
    const length = this.#positionsPerFrame
    for (let position = 0; position < documents; position += length) {
      const count = Math.min(length, documents - position)
      const frame = this.#frames[position / length]
      const zone = zones + position / 2
      const member = members + position / 8
      if (frame !== undefined) {
        kernels.zonesOfKeys(frame.address, count, zone, member)
        continue
      }
      for (let i = 0; i < Math.ceil(count / 32); i++) {
        f64[(zone >>> 3) + 2 * i] = Number.POSITIVE_INFINITY
        f64[(zone >>> 3) + 2 * i + 1] = Number.NEGATIVE_INFINITY
        u32[(member >>> 2) + i] = 0
      }
    }
  }

  get type(): RangeType {
    return this.spec.type
  }

  first(direction: Direction): number | string | undefined {
    return this.count === 0 ? undefined : valueOfKey(direction === 1 ? this.min : this.max, this.type, this.spec)
  }

  loadOrder(): void {}

  cut(documents: number, direction: Direction): number | string | undefined {
    if (this.isGrowing && documents < Math.min(this.count, maxSampledKeys)) {
      return valueOfKey(this.#keyFromEnd(documents, direction), this.type, this.spec)
    }
    const sample = this.#sample()
    const step = stepOf(sample.length, this.count, documents)
    if (step === undefined) return undefined
    return valueOfKey(sample[direction === 1 ? step : sample.length - 1 - step]!, this.type, this.spec)
  }

  /** Returns the key of a growing column that `documents` keys precede in the order. REQUIRES: more keys than these */
  #keyFromEnd(documents: number, direction: Direction): number {
    const { f64 } = this.#memory
    const runs = direction === 1 ? this.runs() : this.runs().reverse()
    let left = documents
    for (const { address, count } of runs) {
      for (let i = 0; i < count; i++) {
        const key = f64[(address >>> 3) + (direction === 1 ? i : count - 1 - i)]!
        if (!Number.isNaN(key) && --left < 0) return key
      }
    }
    return direction === 1 ? this.max : this.min
  }

  /** Returns a sorted sample of keys from all over the column, drawn again when some more documents are in it. */
  #sample(): Float64Array {
    if (this.count > this.#sampledCount * (1 + sampleGrowth)) {
      this.#sampled = this.#drawSample()
      this.#sampledCount = this.count
    }
    return this.#sampled
  }

  #drawSample(): Float64Array {
    const { f64 } = this.#memory
    const stride = Math.max(1, Math.ceil(this.count / maxSampledKeys))
    const keys: number[] = []
    for (const { address, count } of this.runs()) {
      for (let i = 0; i < count; i += stride) {
        const key = f64[(address >>> 3) + i]!
        if (!Number.isNaN(key)) keys.push(key)
      }
    }
    return Float64Array.from(keys).sort()
  }

  groups(range: QueryRange): number {
    if (this.outside.count > 0) return allGroups
    const interval = range.interval(this.spec, 'upper')
    if (this.#misses(interval)) return 0
    const length = this.#positionsPerFrame
    let groups = 0
    for (let i = 0; i < this.#frames.length; i++) {
      if (this.#reaches(i, interval)) groups |= groupsBetween(i * length, (i + 1) * length, this.#groupDocuments)
    }
    return groups
  }

  isExact({ type }: QueryRange): boolean {
    // Texts may share a key.
    return this.outside.count === 0 && type !== Type.string
  }

  load(): void {}

  select(range: QueryRange, side: Side, out: number, { from, length }: RowPart): Selection {
    const interval = range.interval(this.spec, side)
    if (this.#misses(interval)) return 'none'
    const { kernels } = this.#memory
    const bytes = this.#frameRowBytes
    const end = from + length
    kernels.fill(out + from, 0, length)
    for (let i = Math.floor(from / bytes); i < this.#frames.length && i * bytes < end; i++) {
      if (!this.#reaches(i, interval)) continue
      const { address } = this.#frames[i]!
      kernels.keysBetween(address, this.#positionsPerFrame, interval.low, interval.high, out + i * bytes)
    }
    return 'bits'
  }

  outsiders(out: number, { from, length }: RowPart): Selection {
    if (this.outside.count === 0) return 'none'
    const end = from + length
    this.#memory.kernels.fill(out, 0, end)
    this.outside.writeTo(this.#memory.u32.subarray(out >>> 2, (out + end) >>> 2))
    return 'bits'
  }

  free(): void {
    for (const frame of this.#frames) if (frame !== undefined) this.#memory.free(frame.address)
    this.#frames.fill(undefined)
  }

  #misses(interval: Interval): boolean {
    return isEmpty(interval) || interval.low > this.max || interval.high < this.min
  }

  /** Whether a frame may have a key in the interval. */
  #reaches(number: number, { low, high }: Interval): boolean {
    const frame = this.#frames[number]
    return frame !== undefined && low <= frame.max && high >= frame.min
  }

  get #frameRowBytes(): number {
    return this.#positionsPerFrame / 8
  }

  #allocate(number: number): KeyFrame {
    const address = this.#memory.allocate()
    this.#memory.f64.fill(Number.NaN, address >>> 3, (address + frameBytes) >>> 3)
    const frame = { address, min: Number.POSITIVE_INFINITY, max: Number.NEGATIVE_INFINITY }
    this.#frames[number] = frame
    return frame
  }
}
