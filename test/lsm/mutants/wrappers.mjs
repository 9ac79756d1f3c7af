import { edit, mutant } from './mutant.mjs'

const scan = 'sharded-bloom/byte-scan/assembly'
const wrapped = 'sharded-bloom/wrapped-scan'

export const wrappers = [
  mutant(
    'every month has 31 days',
    edit(`${scan}/wrappers`, 'if (day - 1 >= daysOfMonth(year, month)) return 0', 'if (day - 1 >= 31) return 0'),
    wrapped
  ),
  mutant(
    'a time before 1970 is one after',
    edit(`${scan}/wrappers`, '<f64>(isNegative ? -time : time)', '<f64>time'),
    wrapped
  ),
  mutant(
    'an ObjectId may have something behind its digits',
    edit(`${scan}/wrappers`, 'return load<u8>(end) == 0x7d ? end + 1 : 0', 'return end + 1'),
    wrapped
  ),
  mutant('dates are no keys of columns', edit(`${scan}/values`, '  noteDate(node, time)\n', ''), wrapped),
  mutant(
    'a date has the type that null has',
    edit(`${scan}/pairs`, 'types, load<u64>(dateFacts(node)))', 'types, load<u64>(node + 8, FACTS))'),
    wrapped
  ),
  mutant(
    'the slots of dates are those of the segment before',
    edit(`${scan}/nodes`, '  memory.fill(DATE_FACTS, 0xff, <usize>nodeCount * DATE_FACT_BYTES)\n', ''),
    wrapped
  ),
  mutant(
    'a key of a wrapper is written where there are wrappers',
    edit(`${scan}/write`, 'if (isWrapped && load<u8>(piece, PIECE_BYTES + 1) == DOLLAR) return NOT_PLAIN\n', '\n'),
    'sharded-bloom/json-writer'
  ),
  mutant(
    'an ObjectId below others is written as its digits',
    edit(
      'sharded-bloom/byte-scan/json-writer',
      'if (isId && piece !== 0) this.#hasObjectId = true',
      'if (piece !== 0) this.#hasObjectId = true'
    ),
    'sharded-bloom/json-writer'
  ),
  mutant(
    'a line with wrappers is taken for JSON',
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
    'what a unit stores behind a line with wrappers is stored from it on',
    edit('docstore/bulk/unit-builder', '      put = i + 1\n', '      put = i\n'),
    'docstore/bulk-load'
  ),
  mutant(
    'a line with escapes in a key is stored as it was spelled',
    edit('docstore/documents/line-form', 'if (hasEscapedKey(text)) return undefined\n', '\n'),
    'docstore/import-lines'
  ),
  mutant(
    'the digits of a leading ObjectId may be anything',
    edit(
      'docstore/documents/leading-id',
      'for (let at = digits; at < to; at++) if (!isDigit(bytes[at]!)) return -1\n',
      '\n'
    ),
    'docstore/leading-id'
  ),
  mutant(
    'white space before a colon hides a key',
    edit('query/raw-key', 'const end = behindSpace(text, at + needle.length)', 'const end = at + needle.length'),
    'query/prefilter',
    'docstore/import-lines'
  ),
  mutant(
    'a key with another $ in front is looked for without it',
    edit('query/prefilter', '(hasDollar && hasWrappers) || ', ''),
    'query/prefilter'
  ),
  mutant(
    'a number in a wrapper passes no test',
    edit('query/raw-value', 'return hasWrappers && mayBeOfNumber(text, start)', 'return false'),
    'query/prefilter'
  )
]
