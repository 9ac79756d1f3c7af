import { edit, mutant } from './mutant.mjs'

const scan = 'sharded-bloom/byte-scan/assembly'
const wrapped = 'sharded-bloom/wrapped-scan'

export const wrappers = [
  mutant(
    'dates with up to 31 days in any month are accepted',
    edit(`${scan}/wrappers`, 'if (day - 1 >= daysOfMonth(year, month)) return 0', 'if (day - 1 >= 31) return 0'),
    wrapped
  ),
  mutant(
    'a time before 1970 is read as one after it',
    edit(`${scan}/wrappers`, '<f64>(isNegative ? -time : time)', '<f64>time'),
    wrapped
  ),
  mutant(
    'an ObjectId may be followed by something else than its closing brace',
    edit(`${scan}/wrappers`, 'return load<u8>(end) == 0x7d ? end + 1 : 0', 'return end + 1'),
    wrapped
  ),
  mutant('dates are not added to columns', edit(`${scan}/values`, '  noteDate(node, time)\n', ''), wrapped),
  mutant(
    'a date gets the type fact of null',
    edit(`${scan}/pairs`, 'types, load<u64>(dateFacts(node)))', 'types, load<u64>(node + 8, FACTS))'),
    wrapped
  ),
  mutant(
    'dates use the slots of the previous segment',
    edit(`${scan}/nodes`, '  memory.fill(DATE_FACTS, 0xff, <usize>nodeCount * DATE_FACT_BYTES)\n', ''),
    wrapped
  ),
  mutant(
    'a key that begins with $ is written into a record with wrappers',
    edit(`${scan}/write`, 'if (isWrapped && load<u8>(piece, PIECE_BYTES + 1) == DOLLAR) return NOT_PLAIN\n', '\n'),
    'sharded-bloom/json-writer'
  ),
  mutant(
    'a nested ObjectId does not mark the record as one with wrappers',
    edit(
      'sharded-bloom/byte-scan/json-writer',
      'if (isId && piece !== 0) this.#hasObjectId = true',
      'if (piece !== 0) this.#hasObjectId = true'
    ),
    'sharded-bloom/json-writer'
  ),
  mutant(
    'a line with wrappers is taken for plain JSON',
    edit('sharded-bloom/byte-scan/json-form', "return hasWrappers ? 'wrapped' : 'json'", "return 'json'"),
    wrapped,
    'docstore/import-lines'
  ),
  mutant(
    'a line with wrappers is stored without its mark',
    edit('docstore/documents/json-record', "form === 'wrapped' && this.form !== 'wrapped' ?", 'false ?'),
    'docstore/leading-id',
    'docstore/import-lines'
  ),
  mutant(
    'a unit stores a line with wrappers once more with the lines after it',
    edit('docstore/bulk/unit-builder', '      put = i + 1\n', '      put = i\n'),
    'docstore/bulk-load'
  ),
  mutant(
    'a line with escapes in a key is stored as spelled',
    edit('docstore/documents/line-form', 'if (hasEscapedKey(text)) return undefined\n', '\n'),
    'docstore/import-lines'
  ),
  mutant(
    'a leading ObjectId may have invalid digits',
    edit(
      'docstore/documents/leading-id',
      'for (let at = digits; at < to; at++) if (!isDigit(bytes[at]!)) return -1\n',
      '\n'
    ),
    'docstore/leading-id'
  ),
  mutant(
    'a key followed by white space is not found',
    edit('query/raw-key', 'const end = skipSpace(text, at + needle.length)', 'const end = at + needle.length'),
    'query/prefilter',
    'docstore/import-lines'
  ),
  mutant(
    'the prefilter ignores wrappers when it looks for a key with $',
    edit('query/prefilter', '(hasDollar && hasWrappers) || ', ''),
    'query/prefilter'
  ),
  mutant(
    'a number in a wrapper fails every test',
    edit('query/raw-value', 'return hasWrappers && mayBeNumberWrapper(text, start)', 'return false'),
    'query/prefilter'
  )
]
