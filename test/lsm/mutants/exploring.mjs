/** Counted paths are those of the documents, and files are read according to their layout. */
import { edit, mutant } from './mutant.mjs'

const paths = 'docstore/paths'
const splitter = 'cli/value-splitter'

export const exploring = [
  mutant(
    'an open segment lists all types although facts of its documents have no rows',
    edit(
      'sharded-bloom/segment/open-segment',
      'if (!this.isShapeComplete || this.alwaysCandidates.length > 0) return undefined',
      'if (this.alwaysCandidates.length > 0) return undefined'
    ),
    paths
  ),
  mutant(
    'a sealed segment lists all types although facts of its documents have no rows',
    edit(
      'sharded-bloom/segment/sealed-segment',
      'if (!this.#isShapeComplete || this.alwaysCandidates.length > 0) return undefined',
      'if (this.alwaysCandidates.length > 0) return undefined'
    ),
    paths
  ),
  mutant(
    'a segment lists all types although it has documents that are too large',
    edit(
      'sharded-bloom/segment/open-segment',
      'if (!this.isShapeComplete || this.alwaysCandidates.length > 0) return undefined',
      'if (!this.isShapeComplete) return undefined'
    ),
    paths
  ),
  mutant(
    'a path with several types is counted by the first type',
    edit('docstore/read/paths', "pairs.length === 1 ? pairs[0]! : { kind: 'exists', path }", 'pairs[0]!'),
    paths
  ),
  mutant(
    'uncertain paths of documents are not counted',
    edit('docstore/read/paths', '    yield* this.#readUncertain(matches, counts)\n', ''),
    paths
  ),
  mutant(
    'uncertain paths of documents are counted without being read',
    edit(
      'docstore/read/paths',
      'this.#documents.set(fact, found.lowerCount)',
      'this.#documents.set(fact, found.upperCount)'
    ),
    paths
  ),
  mutant(
    'types of the previous document count for this one',
    edit('docstore/read/path-counts', '      count.bits = 0\n', ''),
    paths
  ),
  mutant(
    'an empty key is left out of paths',
    edit('docstore/read/path-counts', 'place.isRoot ? key', "place.count.path === '' ? key"),
    paths
  ),
  mutant(
    'numbers separated by white space are joined',
    edit('cli/value-splitter', 'if (isWord && this.#isSpaced) out[length++] = space\n', '\n'),
    splitter
  ),
  mutant(
    'a line feed inside a value ends a line',
    edit('cli/value-splitter', 'byte === lineFeed ? carriageReturn : byte', 'byte'),
    splitter
  ),
  mutant(
    'a quote after a backslash ends a text',
    edit('cli/value-splitter', 'if (isEscaped) isEscaped = false\n        else if', 'if'),
    splitter
  ),
  mutant(
    'an escape at the end of a chunk escapes nothing',
    edit('cli/value-splitter', '    this.#isEscaped = isEscaped\n', ''),
    splitter
  ),
  mutant(
    'a truncated array is accepted',
    edit(
      'cli/value-splitter',
      "if (this.#layout === 'array' && !this.#hasEnded) this.#fail('the array is not closed', this.#offset)",
      ''
    ),
    splitter
  ),
  mutant(
    'an incomplete first line is always taken for the start of a document of several lines',
    edit('cli/layout', "return next !== '' && mayContinue(open, next) ? 'documents' : 'lines'", "return 'documents'"),
    'cli/layout'
  ),
  mutant(
    'an array in the first line makes the file count as one array',
    edit('cli/layout', "next !== '' && isArray(first) ? 'lines' : 'array'", "'array'"),
    'cli/layout'
  ),
  mutant(
    'a command that only reads opens the database for writing',
    edit(
      'cli/database',
      'const db = await open(location, { readOnly: true })',
      'const db = await open(location, { createIfMissing: false })'
    ),
    'cli/reading'
  ),
  mutant(
    '$unset counts a null element as changed',
    edit(
      'query/update/edit',
      '    if (Object.is(edited, current)) return array\n    if (position >',
      '    if (position >'
    ),
    'query/update'
  )
]
