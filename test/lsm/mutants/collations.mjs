/** By a collation strings compare as its language has it, and no index is asked for what it does not know. */
import { edit, mutant } from './mutant.mjs'

const bounds = 'query/bounds'

export const collations = [
  mutant(
    'what passes a collated test is proven by its type',
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
    'a collated sort takes the order of a declared index',
    edit('docstore/indexes/plan-read', 'find.sort.isCollated ? [] : find.sort.keys', 'find.sort.keys'),
    'docstore/collation'
  ),
  mutant(
    'a collated sort takes the order of a column',
    edit('docstore/read/column-walk', '(sort.isCollated && surveyed.type === Type.string)', 'false'),
    'docstore/collation'
  ),
  mutant(
    'distinct values of a collation are those that segments know',
    edit(
      'docstore/read/distinct',
      'find.order === undefined ? boundsOfValues(execution, find, components) : undefined',
      'boundsOfValues(execution, find, components)'
    ),
    'docstore/collation'
  ),
  mutant(
    'array filters have no collation',
    edit('query/update/positional', 'compileFilter(filter, { order: this.#order })', 'compileFilter(filter)'),
    'query/collation'
  ),
  mutant(
    'stages that group stand beside a collation',
    edit(
      'aggregate/compile',
      'if (expressions.order !== undefined) assertStagesCollated(parsed)\n  const write',
      'const write'
    ),
    'docstore/collation'
  )
]
