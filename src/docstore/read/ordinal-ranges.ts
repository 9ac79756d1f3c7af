/** Sets of ordinals as ranges: ascending, disjoint and non-empty. */
import type { OrdinalRange } from '../../sharded-bloom/document-index.ts'

export type OrdinalRanges = readonly OrdinalRange[]

export const everyOrdinal: OrdinalRanges = [{ from: 0, to: Number.POSITIVE_INFINITY }]

/** Converts ranges in any order, overlapping or not, to a set. */
export function unite(ranges: OrdinalRanges): OrdinalRanges {
  const united: OrdinalRange[] = []
  for (const range of [...ranges].sort((a, b) => a.from - b.from)) {
    const last = united.at(-1)
    if (range.from >= range.to) continue
    if (last === undefined || range.from > last.to) united.push(range)
    else if (range.to > last.to) united[united.length - 1] = { from: last.from, to: range.to }
  }
  return united
}

export function intersect(a: OrdinalRanges, b: OrdinalRanges): OrdinalRanges {
  const common: OrdinalRange[] = []
  for (let i = 0, j = 0; i < a.length && j < b.length; ) {
    const from = Math.max(a[i]!.from, b[j]!.from)
    const to = Math.min(a[i]!.to, b[j]!.to)
    if (from < to) common.push({ from, to })
    if (a[i]!.to < b[j]!.to) i++
    else j++
  }
  return common
}

export function isEveryOrdinal(ranges: OrdinalRanges): boolean {
  return ranges.length === 1 && ranges[0]!.from === 0 && ranges[0]!.to === Number.POSITIVE_INFINITY
}
