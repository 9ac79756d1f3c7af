/** The read made from the leading stages of a pipeline means the same, and expressions and accumulators are right. */
import { edit, mutant } from './mutant.mjs'

const picker = 'docstore/documents/field-picker'

export const pipelines = [
  mutant(
    'a filter after a limit becomes part of the read',
    edit(
      'aggregate/leading',
      'if (isWhole) draft.filters.push(spec)\n      return isWhole',
      'draft.filters.push(spec)\n      return true'
    ),
    'aggregate/leading'
  ),
  mutant(
    'a skip after a limit does not reduce the limit',
    edit('aggregate/leading', 'draft.limit -= skip\n', '\n'),
    'aggregate/leading'
  ),
  mutant(
    'a set field changes the document it was copied from',
    edit('aggregate/set-path', ': { ...before, [key]: after }', ': Object.assign(before, { [key]: after })'),
    'aggregate/values'
  ),
  mutant(
    'missing values equal null in expressions',
    edit(
      'aggregate/expression-values',
      'return typeOf(b) === Type.minKey ? 1 : -1',
      'return typeOf(b) === Type.minKey ? 1 : b === null ? 0 : -1'
    ),
    'aggregate/values',
    'docstore/aggregate-memory'
  ),
  mutant(
    'a sum loses the rounding errors of its additions',
    edit('aggregate/exact-sum', 'isPlain ? this.#high + this.#low', 'isPlain ? this.#high'),
    'aggregate/values'
  ),
  mutant(
    'a sum loses the rounding errors of rounding errors',
    edit('aggregate/exact-sum', 'if (lost !== 0) addExact(this.#rest, lost)', ''),
    'aggregate/values'
  ),
  mutant(
    'merging runs does not keep the order of equal documents',
    edit('query/sorter', 'compare(a, b) <= 0)\n', 'compare(a, b) < 0)\n'),
    'aggregate/values'
  ),
  mutant(
    'a candidate is drawn twice for a sample',
    edit('docstore/aggregate/sample-matches', '    if (drawn.has(number)) continue\n', ''),
    'docstore/aggregate-sample'
  ),
  mutant(
    'of the candidates drawn for a sample, the oldest matches are taken',
    edit('docstore/aggregate/sample-matches', 'of draws) {', 'of draws.toSorted((a, b) => a - b)) {'),
    'docstore/aggregate-sample'
  ),
  mutant(
    'fields within a field that a stage sets are not read',
    edit('aggregate/used-paths', '        for (const path of Object.keys(spec)) used.add(topLevelKey(path))\n', ''),
    'aggregate/used-paths'
  ),
  mutant(
    'an operator that reads a field by its name is overlooked',
    edit('aggregate/used-paths', "'$getField', ", ''),
    'docstore/aggregate-pushdown'
  ),
  mutant(
    'the fields of a filter are not read for its matcher',
    edit('docstore/read/fields-read', '...returned, ...tested, ', '...returned, '),
    'docstore/field-picker'
  ),
  mutant(
    'what a filter looks at is returned as the document',
    edit('docstore/read/confirmer', '(picker === undefined && !isFalse)', '(isCertain && !isFalse)'),
    'docstore/field-picker'
  ),
  mutant(
    'of a date the fields within are picked',
    edit(
      `${picker}/assembly/index`,
      'load<u8>(first) == QUOTE && load<u8>(first, 1) != DOLLAR',
      'load<u8>(first) == QUOTE'
    ),
    'docstore/field-picker'
  ),
  mutant(
    'a limit that few candidates satisfy is reached by reading one after another',
    edit('docstore/read/confirmer', ' * Math.max(1, this.examined / Math.max(1, this.#matched))', ''),
    'docstore/scan-bytes'
  ),
  mutant(
    'the first documents of an order have only the fields that it looks at',
    edit('docstore/read/sorted', 'const match = completed(matches[i]!)', 'const match = matches[i]!'),
    'docstore/field-picker'
  )
]
