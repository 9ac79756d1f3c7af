/** Statistics of a store's value filters. */

import type { FilterIndex } from '../../bloom/filter-index/filter-index.ts'
import type { Filled } from '../../model/filled.ts'
import type { ValueOptions } from '../options.ts'
import type { SectionCache } from './section-cache.ts'
import type { TableSlots } from './table-slots.ts'

export interface ValueStats {
  readonly index: 'linear' | 'tree' | 'sliced'
  readonly tables: number
  /** Tables whose filter is in the index, including the tree's leaves on disk. */
  readonly filtered: number
  /** Tables whose filter is read from disk for each query. */
  readonly onDisk: number
  /** Tables that will be loaded at the next lookup. */
  readonly pending: number
  /** Tables without a filter of this extractor, m and k. */
  readonly withoutFilter: number
  /** Tables with damaged filters or zones; rebuildFilters() rebuilds them. */
  readonly damaged: number
  /** Filters with more than 0.6 of their bits set: m is too small for such tables. */
  readonly overfull: number
  /** Mean share of set bits, over tables with a filter. */
  readonly meanFill: number
  readonly filterMemoryBytes: number
  /** Memory of block filters and block zones. */
  readonly sectionMemoryBytes: number
}

const overfullRatio = 0.6

export function summarize(
  options: Filled<ValueOptions>,
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
