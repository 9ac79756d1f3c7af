/** Mistakes that give other documents than the first of an order. */
import { edit, mutant } from './mutant.mjs'

const walk = 'docstore/read/column-walk'
const tests = ['docstore/sorted-reads']

export const orders = [
  mutant(
    'a segment is left as soon as there are enough matches, whatever else is in it',
    edit(
      walk,
      'return compareToValue(last.key[0], valueOfEnd(value, this.#survey.type)) * this.#direction <= 0',
      'return true'
    ),
    ...tests
  ),
  mutant(
    'documents with the last value are left out, though they come before the last',
    edit(walk, 'isInclusive: !this.#hasTies || firstOrdinal < last.arrival', 'isInclusive: false'),
    ...tests
  ),
  mutant(
    'documents with several values are taken for those with one',
    edit(
      walk,
      'for (const segment of segments) if (!(yield* this.#read(segment, others, false))) return undefined',
      ''
    ),
    ...tests
  ),
  mutant(
    'documents without a value are left out of an ascending order',
    edit(walk, 'if (this.#direction === 1 && !(yield* this.#readNulls())) return undefined', ''),
    ...tests
  ),
  mutant(
    'of documents that compare equal the one that was read first comes first',
    edit(walk, 'match.characters, match.ordinal)', 'match.characters)'),
    ...tests
  ),
  mutant(
    'an array on the way to the value is overlooked',
    edit('query/sort-bounds', '[...prefixes, path].map', '[path].map'),
    ...tests
  ),
  mutant(
    'the table of _ids is asked for a sort by something else',
    edit(
      'docstore/indexes/id-index',
      "fields: [{ path: '_id', direction: 1 }]",
      "fields: [{ path: '_id', direction: -1 }]"
    ),
    'docstore/sort-by-id'
  )
]
