/** With a collation, strings compare by its language, and indexes are not used for comparisons they cannot make. */
import { edit, mutant } from './mutant.mjs'

const bounds = 'query/bounds'

export const collations = [
  mutant(
    'the type of a value is taken for proof that it passes a collated test',
    edit(
      bounds,
      'return upperOnly(anyType(path, [...new Set(predicate.values.map(typeOf))]))',
      'return anyType(path, [...new Set(predicate.values.map(typeOf))])'
    ),
    'query/collation'
  ),
  mutant(
    'strings in arrays and objects compare by code point',
    edit(
      'query/comparisons',
      'if (Array.isArray(value)) return value.some(holdsString)',
      'if (Array.isArray(value)) return false'
    ),
    'query/collation'
  ),
  mutant(
    'a collated sort uses the order of a declared index',
    edit('docstore/indexes/plan-read', 'find.sort.isCollated ? [] : find.sort.keys', 'find.sort.keys'),
    'docstore/collation'
  ),
  mutant(
    'a collated sort uses the order of a column',
    edit('docstore/read/column-walk', '(sort.isCollated && surveyed.type === Type.string)', 'false'),
    'docstore/collation'
  ),
  mutant(
    'distinct() with a collation uses the values that segments know',
    edit(
      'docstore/read/distinct',
      'find.order === undefined ? boundsOfValues(execution, find, components) : undefined',
      'boundsOfValues(execution, find, components)'
    ),
    'docstore/collation'
  ),
  mutant(
    'array filters ignore the collation',
    edit('query/update/positional', 'compileFilter(filter, { order: this.#order })', 'compileFilter(filter)'),
    'query/collation'
  ),
  mutant(
    'grouping stages are accepted together with a collation',
    edit(
      'aggregate/compile',
      'if (expressions.order !== undefined) assertStagesSupportCollation(parsed)\n  const write',
      'const write'
    ),
    'docstore/collation'
  )
]
