/**
 * Verifies filters and zone maps against their tables. Building them is deterministic, so they are rebuilt and
 * compared: a missing bit would hide an entry.
 */
import type { TableMeta } from '../version/table-meta.ts'
import type { Cancellation } from './attached.ts'
import { collectSections } from './collect-sections.ts'
import { TableValues } from './table-values.ts'
import type { ValueView } from './value-view.ts'
import type { Values } from './values.ts'

export interface FilterProblem {
  readonly table: TableMeta
  /** The affected file. */
  readonly path: string
  readonly problem: string
}

/**
 * Reads all tables of the view that have value sections. Tables without any are not a problem: they answer "maybe".
 * @throws LEVEL_CORRUPTION for a damaged table, LEVEL_IO_ERROR, LEVEL_ABORTED
 */
export async function verifyFilters(values: Values, view: ValueView, signal?: Cancellation): Promise<FilterProblem[]> {
  const problems: FilterProblem[] = []
  for (const metas of view.version.levels) {
    for (const meta of metas) problems.push(...(await verifyTable(values, view, meta, signal)))
  }
  return problems
}

async function verifyTable(
  values: Values,
  view: ValueView,
  meta: TableMeta,
  signal: Cancellation | undefined
): Promise<FilterProblem[]> {
  const found = new TableValues(meta, view.tables.table(meta), values.expected)
  const problem = (text: string): FilterProblem => ({ table: meta, path: found.path, problem: text })
  if (found.damage !== undefined) return [problem(found.damage.message)]
  const { header } = found
  if (header === undefined) return []
  const { filterBits, filterHashes, blockFilterHundredths } = header
  const options = { ...values.options, filterBits, filterHashes, blockFilterBits: blockFilterHundredths / 100 }
  const problems: FilterProblem[] = []
  for (const { name, bytes } of await collectSections(values, view, meta, options, signal)) {
    const stored = found.section(name, view.tables.table(meta))
    if (stored === undefined) problems.push(problem(`section ${name} is missing or damaged`))
    else if (Buffer.compare(stored, bytes) !== 0) problems.push(problem(`section ${name} does not match the table`))
  }
  return problems
}
