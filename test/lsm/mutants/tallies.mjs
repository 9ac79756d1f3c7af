/** Values and groups from the index are those of all documents. */
import { edit, mutant } from './mutant.mjs'

export const tallies = [
  mutant(
    'a document with several values is counted for each of them',
    edit('query/value-bounds', 'and([filter, pairOf(value), not(this.#several)])', 'and([filter, pairOf(value)])'),
    'docstore/aggregate-tally'
  ),
  mutant(
    'a document with an array on the path counts as having no value',
    edit('query/value-bounds', 'not(this.#exists), not(this.#several)])', 'not(this.#exists)])'),
    'docstore/aggregate-tally'
  ),
  mutant(
    'a document with several values is not read',
    edit('query/value-bounds', 'or([this.#several, isNothingKnown', 'or([isNothingKnown'),
    'docstore/aggregate-tally'
  ),
  mutant(
    'documents without a value on the path are counted and also read',
    edit('query/value-bounds', 'isNothingKnown ? and([this.#exists, noneOf])', 'isNothingKnown ? and([noneOf])'),
    'docstore/aggregate-tally'
  ),
  mutant(
    'distinct() does not look for further values of arrays',
    edit('query/value-bounds', 'or([not(or(values.map(pairOf))), this.#several])', 'or([not(or(values.map(pairOf)))])'),
    'docstore/distinct'
  ),
  mutant(
    'a segment with uncertain matches counts only its certain ones',
    edit(
      'docstore/aggregate/tally-groups',
      'const isCertain = matches.lowerCount === matches.upperCount',
      'const isCertain = matches.lowerCount > 0'
    ),
    'docstore/aggregate-tally'
  ),
  mutant(
    'groups come in the order of counting instead of that of their first documents',
    edit('aggregate/tally', '.sort((a, b) => a.first - b.first)', ''),
    'docstore/aggregate-tally'
  ),
  mutant(
    'distinct() takes values with the same inexact key for equal',
    edit('docstore/read/distinct-values', 'if (scalar?.exact === true)', 'if (scalar !== undefined)'),
    'docstore/distinct'
  ),
  mutant(
    'skipped documents do not count towards the number of matches to find',
    edit('docstore/read/confirmer', '    this.#remaining -= matches\n', ''),
    'docstore/skip'
  ),
  mutant(
    'more documents are passed over than are to be skipped',
    edit('docstore/read/parallel/confirm-part', 'execution.unwanted - confirmer.found', 'execution.unwanted'),
    'docstore/skip'
  ),
  mutant(
    'uncertain matches count as skipped',
    edit(
      'docstore/read/candidates',
      'while (count < end && candidates.isCertain(count)) count++',
      'count = Math.max(0, end)'
    ),
    'docstore/skip'
  ),
  mutant(
    'rows are not read when few groups are left',
    edit(
      'sharded-bloom/segment/tail/bloom-sealed',
      'if (isSparse && this.narrowGroups(pair, groups) === 0) break',
      'if (isSparse) break'
    ),
    'sharded-bloom/rows-read'
  )
]
