/**
 * Rebuilds filters and zone maps for tables that lack them or have another extractor's, without rewriting the tables:
 * reads every block, and writes a side file with the sections that the table would have been written with.
 */
import type { Cancellation } from './attached.ts'
import { collectSections } from './collect-sections.ts'
import { writeSideFile } from './side-file.ts'
import type { ValueView } from './value-view.ts'
import type { Values } from './values.ts'

export interface RebuildResult {
  /** Number of tables in the store. */
  readonly tables: number
  /** Number of tables that got new filters and zone maps. */
  readonly rebuilt: number
}

/** @throws LEVEL_CORRUPTION for a damaged table, LEVEL_IO_ERROR, LEVEL_ABORTED; side files written before stay */
export async function rebuildFilters(values: Values, view: ValueView, signal?: Cancellation): Promise<RebuildResult> {
  const { fileSystem, directory } = values.expected
  let tables = 0
  let rebuilt = 0
  values.follow(view)
  for (const [level, metas] of view.version.levels.entries()) {
    const options = values.writeOptions(view, level)
    for (const meta of metas) {
      tables++
      if (values.isComplete(meta, view, options)) continue
      const sections = await collectSections(values, view, meta, options, signal)
      // The extractor failed on an entry: the table continues to answer "maybe".
      if (sections.length === 0) continue
      await writeSideFile(fileSystem, directory, meta, sections)
      await fileSystem.syncDirectory(directory)
      values.forget(meta)
      rebuilt++
    }
  }
  return { tables, rebuilt }
}
