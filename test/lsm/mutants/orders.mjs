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
  ),
  mutant(
    'what may come before a page is counted without a look at its keys',
    edit('docstore/read/pass-over', 'if (isBefore(document)) count++', 'count += document === undefined ? 0 : 1'),
    ...tests
  ),
  mutant(
    'what was counted before a page is on it, too',
    edit(walk, 'if (start?.isBefore?.(match.document)) return', ''),
    ...tests
  ),
  mutant(
    'an order is entered at its beginning, whatever range the filter has on it',
    edit(
      'docstore/read/enter-order',
      'if (start === undefined) return surveyed',
      'if (start !== undefined) return surveyed'
    ),
    ...tests
  ),
  mutant(
    'nulls do not count among what comes before a page',
    edit(
      'docstore/read/pass-over',
      'or([bounds.nulls, bounds.between(type, undefined, end)])',
      'or([bounds.between(type, undefined, end)])'
    ),
    ...tests
  ),
  mutant(
    'what comes before a page is counted whatever the types of its keys',
    edit(
      'docstore/read/pass-over',
      '(yield* countCandidates(execution, segments, others)) > 0',
      '(yield* countCandidates(execution, segments, others)) < 0'
    ),
    ...tests
  ),
  mutant(
    'what an abandoned walk has given is given again',
    edit('docstore/indexes/read-by-index', 'step.value.filter(({ ordinal }) => !given.has(ordinal))', 'step.value'),
    'docstore/indexes-walk'
  ),
  mutant(
    'a walk that meets too few matches goes on',
    edit('docstore/indexes/read-by-index', 'return least + perWanted * wanted + share * documents', 'return documents'),
    'docstore/indexes-walk'
  ),
  mutant(
    'entries of an index that may not match are passed over like matches',
    edit('docstore/indexes/read-by-index', 'const passed = access.isExact ? ', 'const passed = access.isOrdered ? '),
    'docstore/indexes-plan'
  ),
  mutant(
    'a range of an order is read as a whole however many candidates it has',
    edit('docstore/read/column-walk', 'found.upperCount > this.#many', 'found.upperCount < 0'),
    'docstore/sorted-reads'
  )
]
