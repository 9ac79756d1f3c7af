/**
 * Makes the value side anew for tables that lack it, or have another extractor's, without rewriting them: every block is
 * read, and what the table would have been written with is written beside it.
 */
import type { Cancellation } from './attached.ts'
import { collectSections } from './collect-sections.ts'
import { writeSideFile } from './side-file.ts'
import type { ValueView } from './value-view.ts'
import type { Values } from './values.ts'

export interface RebuildResult {
  /** Tables of the store. */
  readonly tables: number
  /** Those of them that got filters and zone maps. */
  readonly rebuilt: number
}

/**
 * @throws LEVEL_CORRUPTION for a damaged table, LEVEL_IO_ERROR, LEVEL_ABORTED; what was rebuilt until then stays
 */
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
      // Nothing when the extractor fails on an entry: the table goes on saying "maybe".
      if (sections.length === 0) continue
      await writeSideFile(fileSystem, directory, meta, sections)
      await fileSystem.syncDirectory(directory)
      values.forget(meta)
      rebuilt++
    }
  }
  return { tables, rebuilt }
}
