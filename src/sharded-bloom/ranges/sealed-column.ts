/**
 * A column of a sealed segment: least and greatest key first, then codes, zones or the keys of groups.
 *
 * Invariants:
 * 1. Codes: code c ≥ 1 is bin c − 1, whose keys are from its least to its greatest one; code 0 is no document of the
 *    column. Bins ascend and do not overlap.
 * 2. Growing: the keys of group g are from its key to that of group g + 1, or to the column's greatest.
 * 3. Zones: the keys of zone z, of the documents of group z, are from its least to its greatest one.
 * 4. Sixteenths: a document is in the sixteenth of its group's span, from the group's least key on, that its key is in.
 */
import type { RowMemory } from '../../bloom/kernels/index.ts'
import type { Range } from '../../model/pairs.ts'
import { frameBytes } from '../segment/row-cache.ts'
import { NO_DOCUMENT } from '../segment/row-codec.ts'
import type { StoredColumn } from './column-record.ts'
import { countWhile } from './count-while.ts'
import { type Interval, intervalOf, isEmpty, type Side } from './interval.ts'
import type { RangeColumn, Selection } from './range-column.ts'
import { groupPositions } from './seal-column.ts'

/** Doubles of a frame. */
const keysPerFrame = frameBytes / 8

/** From the least to the greatest of some keys. */
interface Span {
  readonly least: number
  readonly greatest: number
}

/** The stored rows and keys of a sealed segment, in the row cache. */
export interface ColumnFrames {
  loadRow(row: number): void | Promise<void>
  /** Address of the row, which is written to `scratch` when it is none or all of the documents; undefined for damage. */
  row(row: number, scratch: number): number | undefined
  loadKeys(frame: number): void | Promise<void>
  /** Address of 8 KiB of keys; undefined for damage. */
  keys(frame: number): number | undefined
}

export class SealedColumn implements RangeColumn {
  readonly record: StoredColumn
  rowsRead = 0
  readonly #memory: RowMemory
  readonly #frames: ColumnFrames
  readonly #documents: number
  /** Of the zones of each frame of keys, once a range was looked for in it: most ranges reach into few of them. */
  readonly #spans: Span[] = []

  constructor(memory: RowMemory, frames: ColumnFrames, documents: number, record: StoredColumn) {
    this.#memory = memory
    this.#frames = frames
    this.#documents = documents
    this.record = record
  }

  excludes(range: Range): boolean {
    return this.record.outside === NO_DOCUMENT && this.#shortcut(this.#interval(range, 'upper')) === 'none'
  }

  /** Keys share a bin, or a group of documents. */
  isExact(): boolean {
    return false
  }

  load(range: Range): void | Promise<void> {
    const pending: Promise<void>[] = []
    const add = (loading: void | Promise<void>): void => {
      if (loading !== undefined) pending.push(loading)
    }
    const { rows, outside, firstKeys, keys } = this.record
    add(this.#frames.loadRow(outside))
    if (this.#shortcut(this.#interval(range, 'upper')) === undefined) {
      for (const row of rows) add(this.#frames.loadRow(row))
      for (let frame = 0; frame < framesOfKeys(keys); frame++) add(this.#frames.loadKeys(firstKeys + frame))
    }
    return pending.length === 0 ? undefined : Promise.all(pending).then(() => undefined)
  }

  select(range: Range, side: Side, out: number, rowBytes: number): Selection {
    this.rowsRead = 0
    // What the interval of upper excludes has not been loaded, and the one of lower is part of it.
    if (this.#shortcut(this.#interval(range, 'upper')) === 'none') return 'none'
    const interval = this.#interval(range, side)
    const shortcut = this.#shortcut(interval)
    if (shortcut !== undefined) return shortcut
    switch (this.record.kind) {
      case 'codes':
        return this.#selectCodes(interval, side, out, rowBytes)
      case 'growing':
        return this.#selectRun(interval, side, out, rowBytes)
      case 'zones':
        return this.#selectZones(interval, side, out, rowBytes)
    }
  }

  outsiders(out: number, rowBytes: number): Selection {
    const { outside } = this.record
    if (outside === NO_DOCUMENT) return 'none'
    const row = this.#frames.row(outside, out)
    if (row === undefined) return 'unknown'
    if (row !== out) this.#memory.kernels.copy(row, out, rowBytes)
    return 'bits'
  }

  #interval(range: Range, side: Side): Interval {
    return intervalOf(range, this.record, side)
  }

  /** The answer that least and greatest key give. */
  #shortcut(interval: Interval): 'none' | 'all' | undefined {
    const { min, max, count } = this.record
    if (isEmpty(interval) || !(interval.low <= max && interval.high >= min)) return 'none'
    return interval.low <= min && interval.high >= max && count === this.#documents ? 'all' : undefined
  }

  #selectCodes({ low, high }: Interval, side: Side, out: number, rowBytes: number): Selection {
    const { rows, keys, firstKeys } = this.record
    const at = this.#frames.keys(firstKeys)
    if (at === undefined) return 'unknown'
    const { f64, kernels } = this.#memory
    // upper: bins that reach into the interval. lower: bins that lie in it.
    const least = side === 'upper' ? 1 : 0
    const bin = at >>> 3
    const first = countWhile(keys / 2, (i) => f64[bin + 2 * i + least]! < low)
    const end = countWhile(keys / 2, (i) => f64[bin + 2 * i + 1 - least]! <= high)
    if (first >= end) return 'none'
    const start = this.#memory.scratch
    try {
      const slices = this.#slices(0)
      if (slices === undefined) return 'unknown'
      this.rowsRead = rows.length
      return kernels.codesBetween(slices, rows.length, first + 1, end, out, rowBytes) === 1 ? 'bits' : 'none'
    } finally {
      this.#memory.pop(start)
    }
  }

  /** Where the addresses of the column's rows from `first` on stand, on scratch; 0 for no rows, undefined for damage. */
  #slices(first: number): number | undefined {
    const { rows } = this.record
    if (rows.length === first) return 0
    const slices = this.#memory.push((rows.length - first) * 4)
    for (let i = first; i < rows.length; i++) {
      const row = this.#frames.row(rows[i]!, rows[i]! < 0 ? this.#memory.push(frameBytes) : 0)
      if (row === undefined) return undefined
      this.#memory.u32[(slices >>> 2) + i - first] = row
    }
    return slices
  }

  #selectRun({ low, high }: Interval, side: Side, out: number, rowBytes: number): Selection {
    const { rows, keys, max } = this.record
    const addresses: number[] = []
    for (let frame = 0; frame < framesOfKeys(keys); frame++) {
      const address = this.#frames.keys(this.record.firstKeys + frame)
      if (address === undefined) return 'unknown'
      addresses.push(address)
    }
    const { f64, u32, kernels } = this.#memory
    const keyOf = (group: number): number =>
      group === keys ? max : f64[(addresses[Math.floor(group / keysPerFrame)]! >>> 3) + (group % keysPerFrame)]!
    const first = countWhile(keys, (group) => keyOf(group + 1) < low)
    const end = countWhile(keys, (group) => keyOf(group) <= high)
    if (first >= end) return 'none'
    const start = this.#memory.scratch
    try {
      const members = this.#frames.row(rows[0]!, out)
      const slices = this.#slices(1)
      if (members === undefined || slices === undefined) return 'unknown'
      this.rowsRead = rows.length
      if (members !== out) kernels.copy(members, out, rowBytes)
      kernels.fill(out, 0, Math.min(rowBytes, (first * groupPositions) / 8))
      kernels.clearFrom(out, end * groupPositions, rowBytes)
      const isUpper = side === 'upper' ? 1 : 0
      // The keys of those between them are in the interval.
      for (const group of [first, end - 1]) {
        const at = (group * groupPositions) / 8
        u32[(out + at) >>> 2]! &= kernels.groupBetween(keyOf(group), keyOf(group + 1), low, high, isUpper, slices, at)
      }
      return 'bits'
    } finally {
      this.#memory.pop(start)
    }
  }

  #selectZones({ low, high }: Interval, side: Side, out: number, rowBytes: number): Selection {
    const { rows, keys, firstKeys } = this.record
    const { kernels } = this.#memory
    const isUpper = side === 'upper' ? 1 : 0
    const start = this.#memory.scratch
    try {
      const members = this.#frames.row(rows[0]!, this.#memory.push(frameBytes))
      const slices = this.#slices(1)
      if (members === undefined || slices === undefined) return 'unknown'
      this.rowsRead = rows.length
      kernels.fill(out, 0, rowBytes)
      for (let frame = 0; frame < framesOfKeys(keys); frame++) {
        const zones = this.#frames.keys(firstKeys + frame)
        if (zones === undefined) return 'unknown'
        const from = frame * keysPerFrame
        const count = Math.min(keysPerFrame, keys - from) / 2
        const span = this.#spans[frame] ?? this.#spanOf(zones, count)
        this.#spans[frame] = span
        if (span.greatest < low || span.least > high) continue
        kernels.zonesBetween(zones, count, low, high, isUpper, slices, 2 * from, out)
      }
      kernels.and(out, members, out, rowBytes)
      return 'bits'
    } finally {
      this.#memory.pop(start)
    }
  }

  /** Of `count` zones. */
  #spanOf(zones: number, count: number): Span {
    const { f64 } = this.#memory
    let least = Number.POSITIVE_INFINITY
    let greatest = Number.NEGATIVE_INFINITY
    for (let at = zones >>> 3; at < (zones >>> 3) + 2 * count; at += 2) {
      least = Math.min(least, f64[at]!)
      greatest = Math.max(greatest, f64[at + 1]!)
    }
    return { least, greatest }
  }
}

export function framesOfKeys(keys: number): number {
  return Math.ceil(keys / keysPerFrame)
}
