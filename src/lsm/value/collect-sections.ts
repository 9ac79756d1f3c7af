/** Computes the value sections of an existing table from its entries. */
import { isTurnLong, nextTurn } from '../engine/event-loop-turn.ts'
import { aborted } from '../errors.ts'
import type { Section } from '../format/section-collector.ts'
import type { ValueWriteOptions } from '../format/table-options.ts'
import type { TableMeta } from '../version/table-meta.ts'
import type { Cancellation } from './attached.ts'
import { ValueCollector } from './section-collector.ts'
import type { ValueView } from './value-view.ts'
import type { Values } from './values.ts'

/**
 * Reads a table block by block, yielding to the event loop as needed.
 * @returns the sections that it would be written with; none if the extractor fails on an entry
 * @throws LEVEL_CORRUPTION, LEVEL_IO_ERROR, LEVEL_ABORTED
 */
export async function collectSections(
  values: Values,
  view: ValueView,
  meta: TableMeta,
  options: ValueWriteOptions,
  signal: Cancellation | undefined
): Promise<readonly Section[]> {
  const collector = new ValueCollector(values.extractor, values.expected.extractor, { ...options, placement: 'table' })
  const { blockCount } = view.tables.table(meta)
  for (let block = 0; block < blockCount; block++) {
    const cursor = view.tables.table(meta).blockCursor(block)
    for (cursor.seekToFirst(); cursor.isValid; cursor.next()) collector.add(cursor)
    cursor.close()
    collector.endBlock()
    if (isTurnLong()) await nextTurn()
    if (signal?.aborted === true) throw aborted(signal.reason)
  }
  return collector.finish()
}
