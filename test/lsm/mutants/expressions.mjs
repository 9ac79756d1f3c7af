/** Expressions and schemas decide, not the filters that they imply; $out and $merge write what they yield. */
import { edit, mutant } from './mutant.mjs'

const implied = 'aggregate/implied-filter'
const inFinds = 'docstore/expressions'
const writes = 'docstore/aggregate-write-memory'

export const expressions = [
  mutant(
    'only numbers, texts and objects count as greater than a number',
    edit(
      implied,
      "['javascriptWithScope', ...typeNames.slice(type + 1, Type.maxKey + 1)]",
      'typeNames.slice(type + 1, Type.array)'
    ),
    implied
  ),
  mutant(
    'arrays on the path to a compared value are ignored',
    edit(implied, "alternatives.push(...prefixes(path).map((prefix) => ({ [prefix]: { $type: 'array' } })))", ''),
    implied
  ),
  mutant(
    'a missing value does not count as less than a number',
    edit(implied, 'if (!isAbove) alternatives.push({ [path]: null })', ''),
    implied
  ),
  mutant(
    'an $or implies what only some of its parts imply',
    edit(
      implied,
      'implied.length > 0 && !implied.includes(undefined) ? { $or: implied } : undefined',
      'implied.some(Boolean) ? { $or: implied.filter(Boolean) } : undefined'
    ),
    implied
  ),
  mutant(
    "a variable of $lookup has the value of the call's variable with the same name",
    edit('aggregate/expression', 'for (const [name] of hidden) this.#constants.delete(name)', ''),
    implied
  ),
  mutant(
    'a $lookup by $expr reads every document of the other collection',
    edit(
      'docstore/aggregate/sources',
      'if (narrowed !== undefined) return compileRead({ ...read, compiledFilter: narrowed }, {})',
      ''
    ),
    'docstore/aggregate-correlated'
  ),
  mutant(
    'a pipeline with $sample is run once for all documents',
    edit('aggregate/foreign', 'names.length === 0 && !isNondeterministic(pipeline)', 'names.length === 0'),
    'docstore/aggregate-lookup'
  ),
  mutant(
    '$graphLookup returns a document as often as it is found',
    edit('docstore/aggregate/graph-lookup', 'if (ids.has(id)) return', ''),
    'docstore/aggregate-graph-lookup'
  ),
  mutant(
    'an optional property of a schema is taken for a required one',
    edit('query/json-schema/implied', 'known.names.has(name) && isPathKey(name)', 'isPathKey(name)'),
    'query/json-schema-random',
    'query/json-schema'
  ),
  mutant(
    "the caller's function gets the stored document instead of a copy",
    edit('aggregate/operators/operator', 'return values.map((value) => cloneValue(value))', 'return values'),
    inFinds
  ),
  mutant(
    '$where gets the stored document instead of a copy',
    edit('query/matcher', 'const copy = cloneDocument(document)', 'const copy = document'),
    inFinds
  ),
  mutant(
    'a negated condition selects the element for the positional operator',
    edit('query/update/positional', "new Set(['$ne', '$nin', '$not'])", 'new Set()'),
    inFinds
  ),
  mutant(
    '$out replaces a collection whose indexes have changed meanwhile',
    edit('docstore/collections', '      assertSameIndexes(name, entry, before)\n', ''),
    writes
  ),
  mutant(
    'a $out that is bound to fail turns away callers that use the collection',
    edit(
      'docstore/collections',
      '        // Checked before callers are turned away from the old collection.\n        assertInstallable()\n',
      ''
    ),
    writes
  ),
  mutant(
    '$merge blocks the event loop',
    edit('docstore/write/merge-documents', 'if (timeSlice.isOver()) await timeSlice.renew()', ''),
    'docstore/update-turns'
  ),
  mutant(
    '$merge continues after its time limit',
    edit('docstore/write/merge-documents', '        this.#assertWanted()\n', ''),
    'docstore/merge-documents'
  ),
  mutant(
    'a moving window takes an inexact sum for an exact one',
    edit('aggregate/windows/sliding-sum', 'this.#otherCount > 0 || !this.#doubles.isExact', 'this.#otherCount > 0'),
    'aggregate/windows-sliding'
  )
]
