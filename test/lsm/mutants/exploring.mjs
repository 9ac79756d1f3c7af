/** Paths that are counted are those of documents, and a file is read as it is laid out. */
import { edit, mutant } from './mutant.mjs'

const paths = 'docstore/paths'
const splitter = 'cli/value-splitter'

export const exploring = [
  mutant(
    'a segment whose documents have facts without rows tells all types',
    edit(
      'sharded-bloom/segment/open-segment',
      'if (!this.isShapeComplete || this.alwaysCandidates.length > 0) return undefined',
      'if (this.alwaysCandidates.length > 0) return undefined'
    ),
    paths
  ),
  mutant(
    'a sealed segment whose documents have facts without rows tells all types',
    edit(
      'sharded-bloom/segment/sealed-segment',
      'if (!this.#isShapeComplete || this.alwaysCandidates.length > 0) return undefined',
      'if (this.alwaysCandidates.length > 0) return undefined'
    ),
    paths
  ),
  mutant(
    'a segment with documents that are too large tells all types',
    edit(
      'sharded-bloom/segment/open-segment',
      'if (!this.isShapeComplete || this.alwaysCandidates.length > 0) return undefined',
      'if (!this.isShapeComplete) return undefined'
    ),
    paths
  ),
  mutant(
    'of a path with several types the first one tells how many have it',
    edit('docstore/read/paths', "pairs.length === 1 ? pairs[0]! : { kind: 'exists', path }", 'pairs[0]!'),
    paths
  ),
  mutant(
    'what is uncertain of a document is not there',
    edit('docstore/read/paths', '    yield* this.#readUncertain(matches, counts)\n', ''),
    paths
  ),
  mutant(
    'what is uncertain of a document is there',
    edit(
      'docstore/read/paths',
      'this.#documents.set(fact, found.lowerCount)',
      'this.#documents.set(fact, found.upperCount)'
    ),
    paths
  ),
  mutant(
    'types of the document before are those of this one',
    edit('docstore/read/path-counts', '      count.bits = 0\n', ''),
    paths
  ),
  mutant(
    'a key of nothing is no key',
    edit('docstore/read/path-counts', 'place.isRoot ? key', "place.count.path === '' ? key"),
    paths
  ),
  mutant(
    'numbers that white space divides become one',
    edit('cli/value-splitter', 'if (isWord && this.#isSpaced) out[length++] = space\n', '\n'),
    splitter
  ),
  mutant(
    'a line feed in a text ends a line',
    edit('cli/value-splitter', 'byte === lineFeed ? carriageReturn : byte', 'byte'),
    splitter
  ),
  mutant(
    'a quote behind a backslash ends a text',
    edit('cli/value-splitter', 'if (isEscaped) isEscaped = false\n        else if', 'if'),
    splitter
  ),
  mutant(
    'an escape at the end of a chunk escapes nothing',
    edit('cli/value-splitter', '    this.#isEscaped = isEscaped\n', ''),
    splitter
  ),
  mutant(
    'an array that is cut off is an array',
    edit(
      'cli/value-splitter',
      "if (this.#layout === 'array' && !this.#hasEnded) this.#fail('the array is not closed', this.#offset)",
      ''
    ),
    splitter
  ),
  mutant(
    'a first line that is cut off begins a document that is spread',
    edit('cli/layout', "return next !== '' && mayGoOn(open, next) ? 'documents' : 'lines'", "return 'documents'"),
    'cli/layout'
  ),
  mutant(
    'a first line that is an array makes an array of all lines',
    edit('cli/layout', "next !== '' && isArray(first) ? 'lines' : 'array'", "'array'"),
    'cli/layout'
  ),
  mutant(
    'an element that is null is changed by $unset',
    edit(
      'query/update/edit',
      '    if (Object.is(edited, current)) return array\n    if (position >',
      '    if (position >'
    ),
    'query/update'
  )
]
