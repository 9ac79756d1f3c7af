/** Half-open key ranges: one form for gt, gte, lt and lte. */
import { compareKeys } from '../format/entry.ts'

/** As passed by abstract-level, encoded. */
export interface RangeOptions {
  readonly gt?: Uint8Array | undefined
  /** Takes precedence over gt. */
  readonly gte?: Uint8Array | undefined
  readonly lt?: Uint8Array | undefined
  /** Takes precedence over lt. */
  readonly lte?: Uint8Array | undefined
}

/** The keys k with start ≤ k < end; undefined is unbounded. */
export interface Range {
  readonly start: Uint8Array | undefined
  readonly end: Uint8Array | undefined
}

export const everything: Range = { start: undefined, end: undefined }

/** Copies the bounds, which belong to the caller. */
export function rangeOf({ gt, gte, lt, lte }: RangeOptions): Range {
  return {
    start: gte !== undefined ? Buffer.from(gte) : gt !== undefined ? successor(gt) : undefined,
    end: lte !== undefined ? successor(lte) : lt !== undefined ? Buffer.from(lt) : undefined
  }
}

export function isInRange(range: Range, key: Uint8Array): boolean {
  if (range.start !== undefined && compareKeys(key, range.start) < 0) return false
  return range.end === undefined || compareKeys(key, range.end) < 0
}

/** The smallest key greater than `key`. */
export function successor(key: Uint8Array): Buffer {
  const next = Buffer.alloc(key.length + 1)
  next.set(key)
  return next
}
