/** A cursor over a sorted run of tables that keeps its current table, and no other, pinned in the cache of tables. */
import { ReadSpace } from '../format/block-source.ts'
import type { Cursor } from '../format/cursor.ts'
import type { TableCache } from '../version/table-cache.ts'
import type { TableMeta } from '../version/table-meta.ts'
import { LevelCursor } from './level-cursor.ts'
import type { CursorOptions } from './read-view.ts'

/** @param end keys from here on are not needed: moving forwards, the cursor may end before them */
export function pinningCursor(
  run: readonly TableMeta[],
  tables: TableCache,
  { fillCache, reusesMemory }: CursorOptions,
  end: Uint8Array | undefined
): Cursor {
  let space: ReadSpace | undefined
  let pinned: number | undefined
  const open = (table: TableMeta): Cursor => {
    const opened = tables.pin(table)
    pinned = table.number
    if (reusesMemory) space = ReadSpace.acquire()
    return opened.cursor({ fillCache, readahead: true, space }, end)
  }
  const unpin = (): void => {
    if (pinned !== undefined) tables.unpin(pinned)
    pinned = undefined
    space?.release()
    space = undefined
  }
  return new LevelCursor(run, open, unpin)
}
