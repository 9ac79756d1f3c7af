/** What the value side of a store holds, in numbers. */
import type { FilterIndex } from '../../bloom/filter-index/filter-index.ts'
import type { ValueOptions } from '../options.ts'
import type { SectionCache } from './section-cache.ts'
import type { TableSlots } from './table-slots.ts'

export interface ValueStats {
  readonly index: 'linear' | 'tree' | 'sliced'
  readonly tables: number
  /** Tables whose filter is in the index, leaves of the tree on disk included. */
  readonly filtered: number
  /** Tables whose filter is read from disk when it is asked. */
  readonly onDisk: number
  /** Tables that have not been looked at yet: at the next lookup. */
  readonly pending: number
  /** Tables without a filter of this extractor, m and k. */
  readonly withoutFilter: number
  /** Tables with damaged filters or zones; rebuildFilters() makes them anew. */
  readonly damaged: number
  /** Filters with more than 0.6 of their bits set: m is small for such tables. */
  readonly overfull: number
  /** Share of set bits, the mean over tables with a filter. */
  readonly meanFill: number
  readonly filterMemoryBytes: number
  /** Block filters and block zones. */
  readonly sectionMemoryBytes: number
}

const overfullRatio = 0.6

export function summarize(
  options: Required<ValueOptions>,
  index: FilterIndex,
  sections: SectionCache,
  slots: TableSlots,
  pending: number
): ValueStats {
  let tables = 0
  let onDisk = 0
  let withFilter = 0
  let withoutFilter = 0
  let damaged = 0
  let overfull = 0
  let fill = 0
  for (const { values, isOnDisk, isDamaged } of slots.all()) {
    tables++
    if (isOnDisk) onDisk++
    if (isDamaged || values?.damage !== undefined) damaged++
    if (values?.hasFilter === true) {
      const ratio = (values.header?.bitsSet ?? 0) / options.filterBits
      withFilter++
      fill += ratio
      if (ratio > overfullRatio) overfull++
    } else if (values !== undefined) {
      withoutFilter++
    }
  }
  return {
    index: options.index,
    tables,
    filtered: index.size - index.unfiltered,
    onDisk,
    pending,
    withoutFilter,
    damaged,
    overfull,
    meanFill: withFilter === 0 ? 0 : fill / withFilter,
    filterMemoryBytes: index.memoryBytes,
    sectionMemoryBytes: sections.memoryBytes
  }
}
