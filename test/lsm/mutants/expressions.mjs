/** Expressions and schemas decide, whatever they imply; and what writes by them writes what they give. */
import { edit, mutant } from './mutant.mjs'

const implied = 'aggregate/implied-filter'
const inFinds = 'docstore/expressions'
const writes = 'docstore/aggregate-write-memory'

export const expressions = [
  mutant(
    'what is above a number is a number, text or an object',
    edit(
      implied,
      "['javascriptWithScope', ...typeNames.slice(type + 1, Type.maxKey + 1)]",
      'typeNames.slice(type + 1, Type.array)'
    ),
    implied
  ),
  mutant(
    'an array on the way to what is compared is none',
    edit(implied, "alternatives.push(...prefixes(path).map((prefix) => ({ [prefix]: { $type: 'array' } })))", ''),
    implied
  ),
  mutant(
    'what is missing is not below a number',
    edit(implied, 'if (!isAbove) alternatives.push({ [path]: null })', ''),
    implied
  ),
  mutant(
    'an $or implies what one of its parts implies',
    edit(
      implied,
      'implied.length > 0 && !implied.includes(undefined) ? { $or: implied } : undefined',
      'implied.some(Boolean) ? { $or: implied.filter(Boolean) } : undefined'
    ),
    implied
  ),
  mutant(
    'a variable of $lookup has the value of the call that is named as it is',
    edit('aggregate/expression', 'for (const [name] of hidden) this.#constants.delete(name)', ''),
    implied
  ),
  mutant(
    'a $lookup by $expr looks at every document of the other collection',
    edit(
      'docstore/aggregate/sources',
      'if (narrowed !== undefined) return compileRead({ ...read, compiledFilter: narrowed }, {})',
      ''
    ),
    'docstore/aggregate-correlated'
  ),
  mutant(
    'a pipeline with $sample is run once for all documents',
    edit('aggregate/foreign', 'names.length === 0 && !mayDiffer(pipeline)', 'names.length === 0'),
    'docstore/aggregate-lookup'
  ),
  mutant(
    'a document is reached as often as it is found',
    edit('docstore/aggregate/graph-lookup', 'if (ids.has(id)) return', ''),
    'docstore/aggregate-graph-lookup'
  ),
  mutant(
    'a property that may be missing is there',
    edit('query/json-schema/implied', 'known.names.has(name) && isPathKey(name)', 'isPathKey(name)'),
    'query/json-schema-random',
    'query/json-schema'
  ),
  mutant(
    'a function of the caller is given what is stored',
    edit('aggregate/operators/operator', 'return values.map((value) => cloneValue(value))', 'return values'),
    inFinds
  ),
  mutant(
    '$where is given what is stored',
    edit('query/matcher', 'const copy = cloneDocument(document)', 'const copy = document'),
    inFinds
  ),
  mutant(
    'what is not there tells which element is meant',
    edit('query/update/positional', "new Set(['$ne', '$nin', '$not'])", 'new Set()'),
    inFinds
  ),
  mutant(
    '$out takes the place of a collection whose indexes are others by now',
    edit('docstore/collections', '      assertSameIndexes(name, entry, before)\n', ''),
    writes
  ),
  mutant(
    'whoever is at work in a collection is sent away by an $out that fails',
    edit(
      'docstore/collections',
      '      // Checked before callers are turned away from the old collection.\n      assertInstallable()\n',
      ''
    ),
    writes
  ),
  mutant(
    'a merge gives nobody a turn',
    edit('docstore/write/merge-documents', 'const turn = breathe(sliceStart)', 'const turn = sliceStart'),
    'docstore/update-turns'
  ),
  mutant(
    'a merge goes on when its time is over',
    edit('docstore/write/merge-documents', '        this.#control.check()\n', ''),
    'docstore/update-turns'
  ),
  mutant(
    'a window that moves is sure of a sum that it is not sure of',
    edit('aggregate/windows/sliding-sum', 'this.#otherCount > 0 || !this.#doubles.isExact', 'this.#otherCount > 0'),
    'aggregate/windows-sliding'
  )
]
