/** WebAssembly writes, scans and indexes like JavaScript. */
import { edit, mutant } from './mutant.mjs'

const scan = 'sharded-bloom/byte-scan/assembly'
const writer = `${scan}/json-text`
const rows = 'bloom/kernels/assembly'
const picker = 'docstore/documents/field-picker'

export const kernels = [
  mutant(
    'bytes of non-ASCII characters are taken for ASCII',
    edit(`${scan}/text`, 'i8x16.lt_s(bytes, SPACES)', 'i8x16.lt_u(bytes, SPACES)'),
    'sharded-bloom/byte-scan'
  ),
  mutant(
    'the last of three scanned units is not hashed',
    edit(
      `${scan}/text`,
      'mixB(a, b, three >>> 16)) & -<u32>(rest == 3)',
      'mixB(a, b, three >>> 16)) & -<u32>(rest > 3)'
    ),
    'sharded-bloom/byte-scan'
  ),
  mutant(
    'a number is rounded twice',
    edit(`${scan}/number`, 'const MAX_EXACT: u64 = 1 << 53', 'const MAX_EXACT: u64 = 1 << 54'),
    'sharded-bloom/byte-scan-numbers'
  ),
  mutant(
    'a number halfway between two doubles is rounded up',
    edit(`${scan}/number`, '(mantissa & 3) == 1) return 0', '(mantissa & 3) == 4) return 0'),
    'sharded-bloom/byte-scan-numbers'
  ),
  mutant(
    'the end of a long key is not compared',
    edit(`${scan}/nodes`, 'return length <= 8 || isEqual(p, load<u32>(node, KEY), length)', 'return true'),
    'sharded-bloom/byte-scan'
  ),
  mutant(
    'a key that occurs twice in an object is indexed twice',
    edit(`${scan}/scan`, 'if (load<u32>(child, OBJECT) == count) return NOT_HANDLED\n', '\n'),
    'sharded-bloom/byte-scan',
    'sharded-bloom/byte-scan-fuzz'
  ),
  mutant(
    'text after a document is ignored',
    edit(`${scan}/scan`, 'if (p != end || isOverfull())', 'if (isOverfull())'),
    'sharded-bloom/byte-scan-fuzz',
    'sharded-bloom/byte-scan'
  ),
  mutant(
    'the length of an array is taken for a number',
    edit(
      `${scan}/private-pairs`,
      '|| load<u32>(pair, TAG) != tag) continue\n      if (load<u64>(pair, VALUE)',
      ') continue\n      if (load<u64>(pair, VALUE)'
    ),
    'sharded-bloom/byte-scan'
  ),
  mutant(
    'private texts with a common beginning are taken for equal',
    edit(`${scan}/private-pairs`, 'return load<u64>(a + last) == load<u64>(b + last)', 'return true'),
    'sharded-bloom/byte-scan'
  ),
  mutant(
    'a second value for a column is taken for the only one',
    edit(`${scan}/columns`, 'load<u8>(count) + 1, 2)', 'load<u8>(count) + 1, 1)'),
    'sharded-bloom/byte-scan',
    'sharded-bloom/byte-scan-index'
  ),
  mutant(
    'the key of a text of seven bytes includes the byte after it',
    edit(`${scan}/columns`, 'if (length < KEY_BYTES) bytes', 'if (length < KEY_BYTES - 1) bytes'),
    'sharded-bloom/byte-scan',
    'sharded-bloom/byte-scan-index'
  ),
  mutant(
    'a sample counts a pair twice for a document that has it twice',
    edit(`${scan}/sample`, 'if (load<u32>(pair, SEEN_IN) == document) continue\n', '\n'),
    'sharded-bloom/sample-of-bytes'
  ),
  mutant(
    'a sample that grows loses its last pair',
    edit(`${scan}/sample`, 'number < size; number++', 'number + 1 < size; number++'),
    'sharded-bloom/sample-of-bytes'
  ),
  mutant(
    'characters from 0x8000 on are written as single bytes',
    edit(writer, 'i16x8.gt_u(units, LAST_ASCII)', 'i16x8.gt_s(units, LAST_ASCII)'),
    'sharded-bloom/json-writer'
  ),
  mutant(
    'a backslash after another character to be escaped is not escaped',
    edit(writer, 'unit != QUOTE && unit != BACKSLASH) store', 'unit != QUOTE) store'),
    'sharded-bloom/json-writer'
  ),
  mutant(
    'a surrogate at the end of a text is paired with the next text',
    edit(writer, 'unit < 0xdc00 && p < end &&', 'unit < 0xdc00 &&'),
    'sharded-bloom/json-writer'
  ),
  mutant(
    'no room is reserved for escapes',
    edit(
      `${scan}/write`,
      'if (out + 6 * <usize>length > INPUT_END) return NO_ROOM',
      'if (out + <usize>length > INPUT_END) return NO_ROOM'
    ),
    'sharded-bloom/json-writer'
  ),
  mutant(
    'an integer of 33 bits is written as one of 32 bits',
    edit(writer, 'if (value > 0xffffffff) {', 'if (value > 0x1ffffffff) {'),
    'sharded-bloom/json-writer'
  ),
  mutant(
    'the last of three written units is not hashed',
    edit(`${scan}/text`, '(three >>> 32))) & -<u32>(rest == 3)', '(three >>> 32))) & -<u32>(rest > 3)'),
    'sharded-bloom/byte-scan'
  ),
  mutant(
    'a written ASCII text with escapes is compared by its units',
    edit(`${scan}/text`, 'if (!isAscii(units, length)) addText', 'if (true) addText'),
    'sharded-bloom/byte-scan'
  ),
  mutant(
    'a fact without a place in the segment is dropped while its document is written',
    edit(`${scan}/write`, 'hasUnknownFact() ? UNKNOWN :', 'false ? UNKNOWN :'),
    'sharded-bloom/byte-scan'
  ),
  mutant(
    'the value of a key without a node is attributed to its container',
    edit(`${scan}/write`, 'child = nodeOf(piece, node)', 'child = nodeOf(piece, node) || node'),
    'sharded-bloom/byte-scan'
  ),
  mutant(
    'after an inner array, elements of the outer one are counted from zero again',
    edit(`${scan}/write`, 'elements = load<u32>(frame, FRAME_COUNT)', 'elements = 0'),
    'sharded-bloom/byte-scan'
  ),
  mutant(
    'an array within an array is not noted as irregular while it is written',
    edit(`${scan}/write`, 'if (isArray && piece == 0) addIrregular(topLevel)', ''),
    'sharded-bloom/byte-scan'
  ),
  mutant(
    'the number of pairs of a written document is not limited',
    edit(`${scan}/write`, 'isOverfull() ? NOT_HANDLED :', 'false ? NOT_HANDLED :'),
    'sharded-bloom/byte-scan'
  ),
  mutant(
    'keys lead to the nodes of forgotten paths',
    edit('sharded-bloom/byte-scan/scanner', 'this.#writer?.forgetKeys()', ''),
    'sharded-bloom/byte-scan'
  ),
  mutant(
    'a bit after the last document is not cleared',
    edit(`${rows}/rows`, '(<u32>1 << (bits & 7)) - 1', '(<u32>2 << (bits & 7)) - 1'),
    'bloom/kernels'
  ),
  mutant(
    'the counter of bits overflows a byte',
    edit(
      `${rows}/rows`,
      'lane.\n    const end = min<usize>(offset + 31 * 16, bytes)',
      'lane.\n    const end = min<usize>(offset + 32 * 16, bytes)'
    ),
    'bloom/kernels'
  ),
  mutant(
    'a gap may be longer than three bytes',
    edit(`${rows}/gaps`, 'address == end || shift > 14', 'address == end || shift > 21'),
    'bloom/gap-lists'
  ),
  mutant(
    'of a word with more than four bits, only four positions are listed',
    edit(`${rows}/positions`, 'if (word == 0) break', 'break'),
    'bloom/kernels'
  ),
  mutant(
    'lists of positions overlap',
    edit('sharded-bloom/position-lists', '  used += count\n', '  used += count - 1\n'),
    'sharded-bloom/position-lists'
  ),
  mutant(
    'the complement of a row has positions after the last document',
    edit(`${rows}/gaps`, 'if (position >= positions) return', 'if (position > positions) return'),
    'sharded-bloom/private-rows'
  ),
  mutant(
    'the first gap of a part is counted from the beginning of the row',
    edit(`${rows}/stored-rows`, 'let rest = start + gap - next', 'let rest = start + gap'),
    'sharded-bloom/private-rows'
  ),
  mutant(
    'full parts are combined into an empty row',
    edit(`${rows}/stored-rows`, 'count != 0 ? shape : shape == LIST ? NONE : ALL', 'count != 0 ? shape : NONE'),
    'sharded-bloom/private-rows'
  ),
  mutant(
    'a range excludes its last key',
    edit(`${rows}/ranges`, 'f64x2.le(pair, highs)', 'f64x2.lt(pair, highs)'),
    'sharded-bloom/range-soundness'
  ),
  mutant(
    'a key equal to an edge is put into the next bin',
    edit(`${rows}/ranges`, '(<usize>1 << shift) - 8) < key)', '(<usize>1 << shift) - 8) <= key)'),
    'sharded-bloom/range-soundness',
    'sharded-bloom/format-columns'
  ),
  mutant(
    'none of 32 groups is packed or unpacked',
    edit(`${rows}/groups`, 'groups == 32 ? ~(<u32>0) : (<u32>1 << groups) - 1', '(<u32>1 << groups) - 1'),
    'bloom/record-kernels'
  ),
  mutant(
    'unpacked bits overwrite existing ones instead of being added',
    edit(`${rows}/groups`, 'load<u32>(frame) | (((bits >>> at) & mask) << shift)', '((bits >>> at) & mask) << shift'),
    'bloom/record-kernels',
    'sharded-bloom/upper-level'
  ),
  mutant(
    'a text that goes on in the next 64 bytes has ended',
    edit(`${picker}/assembly/index`, 'carried = <u64>(<i64>within >> 63)', 'carried = 0'),
    'docstore/field-picker'
  ),
  mutant(
    'a backslash at the end of 64 bytes escapes nothing',
    edit(`${picker}/assembly/index`, 'isEscaped = place == 63 ? 1 : 0', 'isEscaped = 0'),
    'docstore/field-picker'
  ),
  mutant(
    'a backslash that is escaped escapes',
    edit(`${picker}/assembly/index`, 'left &= ~(<u64>3 << place)', 'left &= ~(<u64>1 << place)'),
    'docstore/field-picker'
  ),
  mutant(
    'of names only the first 16 bytes count',
    edit(`${picker}/assembly/index`, 'if (left <= 16) return (different', 'return (different'),
    'docstore/field-picker'
  ),
  mutant(
    'an object may end beyond its record',
    edit(`${picker}/assembly/index`, '  if (at >= limit) return 0\n', ''),
    'docstore/field-picker'
  ),
  mutant(
    'a picker finds the names of the one before',
    edit(`${picker}/picker-kernel`, 'if (names !== this.#names) {', 'if (this.#names === undefined) {'),
    'docstore/field-picker'
  )
]
