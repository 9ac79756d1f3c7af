/** What the leading stages of a pipeline become means the same, and all that is read is of one moment. */
import { edit, mutant } from './mutant.mjs'

export const pipelines = [
  mutant(
    'a filter behind a limit joins the read',
    edit(
      'aggregate/leading',
      'if (isWhole) draft.filters.push(spec)\n      return isWhole',
      'draft.filters.push(spec)\n      return true'
    ),
    'aggregate/leading'
  ),
  mutant(
    'a skip behind a limit leaves as many documents as before',
    edit('aggregate/leading', 'draft.limit -= skip\n', '\n'),
    'aggregate/leading'
  ),
  mutant(
    'a set field changes the document it was copied from',
    edit('aggregate/set-path', 'return { ...before, [key]: after }', 'return Object.assign(before, { [key]: after })'),
    'aggregate/values'
  ),
  mutant(
    'missing is null in expressions',
    edit(
      'aggregate/expression-values',
      'return typeOf(b) === Type.minKey ? 1 : -1',
      'return typeOf(b) === Type.minKey ? 1 : b === null ? 0 : -1'
    ),
    'aggregate/values',
    'docstore/aggregate-memory'
  ),
  mutant(
    'a sum forgets the rounding errors of its additions',
    edit('aggregate/exact-sum', 'this.#high + this.#low + this.#special', 'this.#high + this.#special'),
    'aggregate/values'
  ),
  mutant(
    'runs are merged out of the order of equal documents',
    edit('query/sorter', 'this.#sort.compareKeys(a.key, b.key) <= 0)\n', 'this.#sort.compareKeys(a.key, b.key) < 0)\n'),
    'aggregate/values'
  )
]
