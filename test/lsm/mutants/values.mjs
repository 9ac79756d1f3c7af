/** Lookups find what full scans find. */
import { edit, mutant } from './mutant.mjs'

export const values = [
  mutant(
    'lookups skip the shadow check',
    edit(
      'lsm/value/hits',
      'return this.#view.find(key, this.#found) && this.#found.sequence === sequence',
      'return this.#view.find(key, this.#found) || sequence > 0'
    ),
    'lsm/value-lookup',
    'lsm/model-values'
  ),
  mutant(
    'value filters hide the tables with newer versions',
    [
      edit(
        'lsm/value/lookup',
        'const hits = new Hits(view, { limit',
        `const shown = condition.kind === 'pair' ? values.candidates(view, condition.positions) : values.allTables(view)
  const numbers = new Set(shown.map(({ meta }) => meta.number))
  const levels = view.version.levels.map((tables) => tables.filter(({ number }) => numbers.has(number)))
  const places = { buffers: view.buffers, tables: view.tables, version: new Version(levels) } as unknown as Places
  const find = (key: Uint8Array, into: Found) => findVersion(places, key, view.sequence, into)
  const hits = new Hits({ sequence: view.sequence, find } as unknown as ValueView, { limit`
      ),
      edit(
        'lsm/value/lookup',
        "import { Hits } from './hits.ts'\n",
        `import { findVersion, type Places } from '../engine/point-reads.ts'
import type { Found } from '../format/found.ts'
import { Version } from '../version/version.ts'
import { Hits } from './hits.ts'
`
      )
    ],
    'lsm/value-level',
    'lsm/model-values'
  ),
  mutant(
    'lookups end as soon as the limit is reached, whatever may be newer',
    edit(
      'lsm/value/lookup',
      'if (bound <= hits.threshold) break',
      'if (hits.threshold > Number.NEGATIVE_INFINITY) break'
    ),
    'lsm/value-lookup',
    'lsm/model-values'
  ),
  mutant(
    'a filter of another extractor is used',
    edit('lsm/value/table-values', ' && isSameExtractor(header.extractor, extractor)', ' && extractor !== undefined'),
    'lsm/value-filters',
    'lsm/model-filters'
  ),
  mutant(
    'zone maps do not update the greatest value',
    edit(
      'lsm/value/zone-maps',
      'if (largest === undefined || compareZoneValues(value, largest) > 0)',
      'if (largest === undefined)'
    ),
    'lsm/value-zones',
    'lsm/model-values'
  ),
  mutant(
    'a filter is added to its parent in the tree but to no node above',
    edit(
      'bloom/filter-index/tree',
      'for (let node: Inner | undefined = parent; node !== undefined; node = node.parent) node.bits.or(filter)',
      'parent.bits.or(filter)'
    ),
    'bloom/filter-index-tree',
    'lsm/model-values'
  ),
  mutant(
    'a saturated node of the tree excludes all values',
    edit(
      'bloom/filter-index/tree-node',
      'return this.#filter === undefined || hasAll(',
      'return this.#filter !== undefined && hasAll('
    ),
    'bloom/filter-index-tree',
    'lsm/model-values'
  )
]
