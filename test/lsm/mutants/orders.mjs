/** Mistakes by which other documents than the first of an order are returned. */
import { edit, mutant } from './mutant.mjs'

const walk = 'docstore/read/column-walk'
const tests = ['docstore/sorted-reads']

export const orders = [
  mutant(
    'a segment is left as soon as there are enough matches, whatever else it contains',
    edit(
      walk,
      'return compareToValue(last.key[0], valueOfEnd(value, this.#survey.type)) * this.#direction <= 0',
      'return true'
    ),
    ...tests
  ),
  mutant(
    'documents with the value of the last match are left out although they come before it',
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
    'documents that compare equal come in the order in which they were read',
    edit(walk, 'match.characters, match.ordinal)', 'match.characters)'),
    ...tests
  ),
  mutant(
    'an array on the path to the value is overlooked',
    edit('query/sort-bounds', '[...prefixes, path].map', '[path].map'),
    ...tests
  ),
  mutant(
    'the table of ids is used for a sort in the other direction',
    edit(
      'docstore/indexes/id-index',
      "fields: [{ path: '_id', direction: 1 }]",
      "fields: [{ path: '_id', direction: -1 }]"
    ),
    'docstore/sort-by-id'
  )
]
