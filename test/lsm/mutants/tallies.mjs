/** Values and groups that the index knows are those of all documents. */
import { edit, mutant } from './mutant.mjs'

export const tallies = [
  mutant(
    'a document with several values is counted for each',
    edit('query/value-bounds', 'and([filter, pairOf(value), not(this.#several)])', 'and([filter, pairOf(value)])'),
    'docstore/aggregate-tally'
  ),
  mutant(
    'an array on the way is nothing on the path',
    edit('query/value-bounds', 'not(this.#exists), not(this.#several)])', 'not(this.#exists)])'),
    'docstore/aggregate-tally'
  ),
  mutant(
    'a document with several values is not read',
    edit('query/value-bounds', 'or([this.#several, isNothingKnown', 'or([isNothingKnown'),
    'docstore/aggregate-tally'
  ),
  mutant(
    'documents with nothing on the path are counted, and read',
    edit('query/value-bounds', 'isNothingKnown ? and([this.#exists, noneOf])', 'isNothingKnown ? and([noneOf])'),
    'docstore/aggregate-tally'
  ),
  mutant(
    'other values of arrays are not looked for',
    edit('query/value-bounds', 'or([not(or(values.map(pairOf))), this.#several])', 'or([not(or(values.map(pairOf)))])'),
    'docstore/distinct'
  ),
  mutant(
    'a segment that is not certain of its matches counts those it is certain of, and reads no other',
    edit(
      'docstore/aggregate/tally-groups',
      'const isCertain = matches.lowerCount === matches.upperCount',
      'const isCertain = matches.lowerCount > 0'
    ),
    'docstore/aggregate-tally'
  ),
  mutant(
    'a group comes where it is first counted, not where its first document is',
    edit('aggregate/tally', '.sort((a, b) => a.first - b.first)', ''),
    'docstore/aggregate-tally'
  ),
  mutant(
    'what was met is told by keys that several values share',
    edit('docstore/read/distinct-values', 'if (scalar?.exact === true)', 'if (scalar !== undefined)'),
    'docstore/distinct'
  ),
  mutant(
    'what is passed over counts for nothing',
    edit('docstore/read/confirmer', '    this.#remaining -= count\n', ''),
    'docstore/skip'
  ),
  mutant(
    'more is passed over than is skipped',
    edit('docstore/read/executor', 'unwanted - confirmer.found)', 'unwanted)'),
    'docstore/skip'
  ),
  mutant(
    'uncertain matches are passed over',
    edit(
      'docstore/read/candidates',
      'while (count < end && candidates.isCertain(count)) count++',
      'count = Math.max(0, end)'
    ),
    'docstore/skip'
  ),
  mutant(
    'rows are not read where few groups are left',
    edit(
      'sharded-bloom/segment/tail/bloom-sealed',
      'if (isSparse && this.narrowed(pair, groups) === 0) break',
      'if (isSparse) break'
    ),
    'sharded-bloom/rows-read'
  )
]
