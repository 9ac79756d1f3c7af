/**
 * A column of a sealed segment: tests the least and greatest key first, then codes, zones or the keys of groups.
 *
 * Invariants:
 * 1. Codes: code c ≥ 1 is bin c − 1, whose keys range from its least to its greatest; code 0 is a document not in the
 *    column. Bins ascend and do not overlap.
 * 2. Growing: the keys of group g range from its key to that of group g + 1, or to the column's greatest.
 * 3. Zones: the keys of zone z, which are those of the documents of group z, range from its least to its greatest.
 * 4. Sixteenths: a document's code is the sixteenth of its group's span, counted from the group's least key, that
 *    contains its key.
 */
import type { RowMemory } from '../../bloom/kernels/index.ts'
import { countWhile } from '../../model/count-while.ts'
import type { RangeType } from '../../model/pairs.ts'
import type { RowPart } from '../segment/and-groups.ts'
import { frameBytes } from '../segment/row-cache.ts'
import { NO_DOCUMENT } from '../segment/row-codec.ts'
import type { SegmentRecord } from '../segment/segment-record.ts'
import { allGroups, groupsBetween } from '../segment/upper-level.ts'
import { ColumnKeys, framesOfKeys } from './column-keys.ts'
import { type Direction, stepOf, valueOfKey } from './column-order.ts'
import type { StoredColumn } from './column-record.ts'
import { type Interval, isEmpty, type QueryRange, type Side } from './interval.ts'
import type { RangeColumn, Selection } from './range-column.ts'
import { groupPositions } from './seal-column.ts'

/** The stored rows and keys of a sealed segment, in the row cache. */
export interface ColumnFrames {
  loadRow(row: number): void | Promise<void>
  /**
   * Address of the row; if it is none or all of the documents, its part is written to `scratch`. undefined for damage.
   */
  row(row: number, scratch: number, part: RowPart): number | undefined
  loadKeys(frame: number): void | Promise<void>
  /** Address of 8 KiB of keys; undefined if damaged or not in memory. */
  keys(frame: number): number | undefined
}

export class SealedColumn implements RangeColumn {
  readonly record: StoredColumn
  rowsRead = 0
  readonly #memory: RowMemory
  readonly #frames: ColumnFrames
  readonly #documents: number
  readonly #groupDocuments: number
  /** Number of zones in a group of the segment, at least one. */
  readonly #spanZones: number
  readonly #keys: ColumnKeys
  readonly #addressOfKeys: (frame: number) => number | undefined

  /** @param segment its number of documents, and of documents per group */
  constructor(
    memory: RowMemory,
    frames: ColumnFrames,
    { documents, upper }: Pick<SegmentRecord, 'documents' | 'upper'>,
    record: StoredColumn
  ) {
    this.#memory = memory
    this.#frames = frames
    this.#documents = documents
    this.#groupDocuments = upper.groupDocuments
    this.#spanZones = Math.max(1, upper.groupDocuments / groupPositions)
    // Copied, so that the record has the same hidden class whatever made it, and queries stay monomorphic.
    const { path, type, prefix, template, kind, count, min, max, rows, outside, keys, firstKeys } = record
    this.record = { path, type, prefix, template, kind, count, min, max, rows, outside, keys, firstKeys }
    this.#keys = new ColumnKeys(memory, this.record, this.#spanZones)
    this.#addressOfKeys = (frame) => frames.keys(frame)
  }

  get type(): RangeType {
    return this.record.type
  }

  get count(): number {
    return this.record.count
  }

  first(direction: Direction): number | string | undefined {
    const { min, max, count, type } = this.record
    return count === 0 ? undefined : valueOfKey(direction === 1 ? min : max, type, this.record)
  }

  loadOrder(): void | Promise<void> {
    const pending = this.#loadKeys()
    return pending.length === 0 ? undefined : Promise.all(pending).then(() => undefined)
  }

  cut(documents: number, direction: Direction): number | string | undefined {
    if (!this.#keys.find(this.#addressOfKeys)) return undefined
    const key = this.#keyOfCut(documents, direction)
    return key === undefined ? undefined : valueOfKey(key, this.record.type, this.record)
  }

  #keyOfCut(documents: number, direction: Direction): number | undefined {
    const { kind, keys, count } = this.record
    const steps = kind === 'growing' ? keys : keys / 2
    const step = stepOf(steps, count, documents)
    if (step === undefined) return undefined
    switch (kind) {
      case 'codes':
        return direction === 1 ? this.#keys.keyAt(2 * step - 1) : this.#keys.keyAt(2 * (steps - step))
      case 'growing':
        return this.#keys.keyAt(direction === 1 ? step : steps - step)
      case 'zones': {
        // At least this many zones have a document at or before it.
        const ends = Float64Array.from({ length: steps }, (_, zone) =>
          this.#keys.keyAt(2 * zone + (direction === 1 ? 0 : 1))
        )
        ends.sort()
        return direction === 1 ? ends[step] : ends[steps - 1 - step]
      }
    }
  }

  groups(range: QueryRange): number {
    if (this.record.outside !== NO_DOCUMENT) return allGroups
    const interval = range.interval(this.record, 'upper')
    if (this.#shortcut(interval) === 'none') return 0
    switch (this.record.kind) {
      case 'codes':
        return allGroups
      case 'growing':
        return this.#keys.find(this.#addressOfKeys) ? this.#groupsOfRun(interval) : allGroups
      case 'zones':
        return this.#keys.find(this.#addressOfKeys) ? this.#groupsOfZones(interval) : allGroups
    }
  }

  /** Keys share a bin, or a group of documents. */
  isExact(): boolean {
    return false
  }

  load(range: QueryRange): void | Promise<void> {
    const pending: Promise<void>[] = []
    const add = (loading: void | Promise<void>): void => {
      if (loading !== undefined) pending.push(loading)
    }
    const { rows, outside } = this.record
    add(this.#frames.loadRow(outside))
    if (this.#shortcut(range.interval(this.record, 'upper')) === undefined) {
      for (const row of rows) add(this.#frames.loadRow(row))
      pending.push(...this.#loadKeys())
    }
    return pending.length === 0 ? undefined : Promise.all(pending).then(() => undefined)
  }

  #loadKeys(): Promise<void>[] {
    const { firstKeys, keys } = this.record
    const pending: Promise<void>[] = []
    for (let frame = 0; frame < framesOfKeys(keys); frame++) {
      const loading = this.#frames.loadKeys(firstKeys + frame)
      if (loading !== undefined) pending.push(loading)
    }
    return pending
  }

  select(range: QueryRange, side: Side, out: number, part: RowPart): Selection {
    this.rowsRead = 0
    // What upper's interval excludes has not been loaded; lower's interval is part of it.
    if (this.#shortcut(range.interval(this.record, 'upper')) === 'none') return 'none'
    const interval = range.interval(this.record, side)
    const shortcut = this.#shortcut(interval)
    if (shortcut !== undefined) return shortcut
    switch (this.record.kind) {
      case 'codes':
        return this.#selectCodes(interval, side, out, part)
      case 'growing':
        return this.#selectRun(interval, side, out, part)
      case 'zones':
        return this.#selectZones(interval, side, out, part)
    }
  }

  outsiders(out: number, part: RowPart): Selection {
    const { outside } = this.record
    if (outside === NO_DOCUMENT) return 'none'
    const row = this.#frames.row(outside, out, part)
    if (row === undefined) return 'unknown'
    if (row !== out) this.#memory.kernels.copy(row + part.from, out + part.from, part.length)
    return 'bits'
  }

  /** Decides by the column's least and greatest key, if they suffice. */
  #shortcut(interval: Interval): 'none' | 'all' | undefined {
    const { min, max, count } = this.record
    if (isEmpty(interval) || !(interval.low <= max && interval.high >= min)) return 'none'
    return interval.low <= min && interval.high >= max && count === this.#documents ? 'all' : undefined
  }

  #selectCodes({ low, high }: Interval, side: Side, out: number, part: RowPart): Selection {
    const { rows, keys, firstKeys } = this.record
    const at = this.#frames.keys(firstKeys)
    if (at === undefined) return 'unknown'
    const { f64, kernels } = this.#memory
    // upper: bins that overlap the interval. lower: bins that lie within it.
    const least = side === 'upper' ? 1 : 0
    const bin = at >>> 3
    const first = countWhile(keys / 2, (i) => f64[bin + 2 * i + least]! < low)
    const end = countWhile(keys / 2, (i) => f64[bin + 2 * i + 1 - least]! <= high)
    if (first >= end) return 'none'
    const start = this.#memory.scratch
    try {
      const slices = this.#slices(0, part.from, part)
      if (slices === undefined) return 'unknown'
      this.rowsRead = rows.length
      const isAny = kernels.codesBetween(slices, rows.length, first + 1, end, out + part.from, part.length)
      return isAny === 1 ? 'bits' : 'none'
    } finally {
      this.#memory.pop(start)
    }
  }

  /**
   * Pushes the addresses, plus `offset`, of the column's rows from `first` on to scratch and returns where they are; 0
   * when there are no rows, undefined for damage.
   */
  #slices(first: number, offset: number, part: RowPart): number | undefined {
    const { rows } = this.record
    if (rows.length === first) return 0
    const slices = this.#memory.push((rows.length - first) * 4)
    for (let i = first; i < rows.length; i++) {
      const row = this.#frames.row(rows[i]!, rows[i]! < 0 ? this.#memory.push(frameBytes) : 0, part)
      if (row === undefined) return undefined
      this.#memory.u32[(slices >>> 2) + i - first] = row + offset
    }
    return slices
  }

  #selectRun(interval: Interval, side: Side, out: number, part: RowPart): Selection {
    if (!this.#keys.find(this.#addressOfKeys)) return 'unknown'
    const { first, end } = this.#keys.within(interval)
    if (first >= end) return 'none'
    const { rows } = this.record
    const { from, length } = part
    const { u32, kernels } = this.#memory
    const start = this.#memory.scratch
    try {
      const members = this.#frames.row(rows[0]!, out, part)
      const slices = this.#slices(1, 0, part)
      if (members === undefined || slices === undefined) return 'unknown'
      this.rowsRead = rows.length
      if (members !== out) kernels.copy(members + from, out + from, length)
      kernels.fill(out + from, 0, within((first * groupPositions) / 8 - from, length))
      kernels.clearFrom(out + from, within((end * groupPositions) / 8 - from, length) * 8, length)
      const isUpper = side === 'upper' ? 1 : 0
      // All keys of the groups in between are in the interval.
      for (const group of [first, end - 1]) {
        const at = (group * groupPositions) / 8
        if (at < from || at >= from + length) continue
        const [least, greatest] = [this.#keys.at(group), this.#keys.at(group + 1)]
        u32[(out + at) >>> 2]! &= kernels.groupBetween(
          least,
          greatest,
          interval.low,
          interval.high,
          isUpper,
          slices,
          at
        )
      }
      return 'bits'
    } finally {
      this.#memory.pop(start)
    }
  }

  #selectZones(interval: Interval, side: Side, out: number, part: RowPart): Selection {
    if (!this.#keys.find(this.#addressOfKeys)) return 'unknown'
    const { rows } = this.record
    const { from, length } = part
    const { kernels } = this.#memory
    const start = this.#memory.scratch
    try {
      const members = this.#frames.row(rows[0]!, this.#memory.push(frameBytes), part)
      const slices = this.#slices(1, 0, part)
      if (members === undefined || slices === undefined) return 'unknown'
      this.rowsRead = rows.length
      kernels.fill(out + from, 0, length)
      this.#zonesWithin(interval, side, out, part, slices)
      kernels.and(out + from, members + from, out + from, length)
      return 'bits'
    } finally {
      this.#memory.pop(start)
    }
  }

  /** Tests the part's zones whose span overlaps the interval; leaves the bits of all others unchanged. */
  #zonesWithin({ low, high }: Interval, side: Side, out: number, { from, length }: RowPart, slices: number): void {
    const spans = this.#keys.spans()
    const bytesPerSpan = (this.#spanZones * groupPositions) / 8
    const end = Math.min(spans.length / 2, Math.ceil((from + length) / bytesPerSpan))
    const isUpper = side === 'upper' ? 1 : 0
    for (let span = Math.floor(from / bytesPerSpan); span < end; span++) {
      if (!reaches(spans, span, low, high)) continue
      const zone = span * this.#spanZones
      const count = Math.min(this.#spanZones, this.record.keys / 2 - zone)
      const at = (zone * groupPositions) / 8
      this.#memory.kernels.zonesBetween(this.#keys.addressOfZone(zone), count, low, high, isUpper, slices, at, out)
    }
  }

  #groupsOfRun(interval: Interval): number {
    const { first, end } = this.#keys.within(interval)
    return first < end ? groupsBetween(first * groupPositions, end * groupPositions, this.#groupDocuments) : 0
  }

  #groupsOfZones({ low, high }: Interval): number {
    const spans = this.#keys.spans()
    const positions = this.#spanZones * groupPositions
    let groups = 0
    for (let span = 0; span < spans.length / 2; span++) {
      if (!reaches(spans, span, low, high)) continue
      groups |= groupsBetween(span * positions, (span + 1) * positions, this.#groupDocuments)
    }
    return groups
  }
}

/** Whether a key of the span may be in the interval. */
function reaches(spans: Float64Array, span: number, low: number, high: number): boolean {
  return spans[2 * span]! <= high && spans[2 * span + 1]! >= low
}

function within(value: number, greatest: number): number {
  return Math.max(0, Math.min(value, greatest))
}
