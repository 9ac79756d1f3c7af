/** Bounds are sound. */
import { edit, mutant } from './mutant.mjs'

export const bounds = [
  mutant(
    'NOT is taken of the same bound',
    edit('sharded-bloom/evaluate', "side === 'upper' ? 'lower' : 'upper'", 'side'),
    'sharded-bloom/soundness',
    'docstore/answers'
  ),
  mutant(
    'the live bitmap is ignored',
    edit(
      'sharded-bloom/evaluate',
      'if (live !== undefined && !this.#clearFewDead(out, live)) {',
      'if (live !== undefined && documents < 0) {'
    ),
    'sharded-bloom/random-life',
    'docstore/random-writes'
  ),
  mutant(
    'the live bitmap is ignored where few documents are left',
    edit('sharded-bloom/evaluate', 'if (isDead) u8[out', 'if (isDead && count === 0) u8[out'),
    'sharded-bloom/random-life',
    'docstore/random-writes'
  ),
  mutant(
    'of a few documents the last one is not looked up in the live bitmap',
    edit('sharded-bloom/evaluate', 'i < count && count <= fewDocuments', 'i < count - 1 && count <= fewDocuments'),
    'sharded-bloom/random-life',
    'docstore/random-writes'
  ),
  mutant(
    'a hashed row is taken for a proof',
    edit(
      'sharded-bloom/leaf-bounds',
      "if (pair.kind !== 'private') {\n      this.#isExact = false\n      return NOTHING",
      "if (pair.kind !== 'private') {\n      return this.upperOfPair(leaf)"
    ),
    'sharded-bloom/soundness',
    'docstore/answers'
  ),
  mutant(
    'a hashed row makes a segment exact, in which lower is upper',
    edit('sharded-bloom/leaf-bounds', "case 'hashed': {\n        this.#isExact = false\n", "case 'hashed': {\n"),
    'sharded-bloom/soundness',
    'docstore/answers'
  ),
  mutant(
    'irregular documents leave a segment exact, in which lower is upper',
    edit('sharded-bloom/leaf-bounds', "        if (irregular.kind !== 'absent') this.#isExact = false\n", ''),
    'sharded-bloom/soundness',
    'docstore/answers'
  ),
  mutant(
    'an irregular document is taken for proved',
    edit('sharded-bloom/leaf-bounds', "if (irregular.kind === 'absent') return row", 'return row'),
    'sharded-bloom/soundness',
    'docstore/answers'
  ),
  mutant(
    'a document whose pairs are not all known is left out',
    edit(
      'sharded-bloom/evaluate',
      'u8[out + (position >>> 3)]! |= 1 << (position & 7)',
      'u8[out + (position >>> 3)]! |= 0 << (position & 7)'
    ),
    'docstore/overfull'
  ),
  mutant(
    'a document whose pairs are not all known is taken for proved',
    edit(
      'sharded-bloom/evaluate',
      '    for (const position of this.#segment.alwaysCandidates) u8[out + (position >>> 3)]! &= ~(1 << (position & 7))\n',
      ''
    ),
    'docstore/overfull',
    'sharded-bloom/soundness'
  ),
  mutant(
    'a range over texts in the open segment makes it exact',
    edit(
      'sharded-bloom/ranges/open-column',
      'this.outside.count === 0 && type !== Type.string',
      'this.outside.count === 0 && type !== undefined'
    ),
    'sharded-bloom/range-soundness',
    'sharded-bloom/soundness'
  ),
  mutant(
    'documents outside of a column leave the segment exact',
    edit(
      'sharded-bloom/ranges/open-column',
      'return this.outside.count === 0 && type !== Type.string',
      'return type !== Type.string'
    ),
    'sharded-bloom/range-soundness',
    'sharded-bloom/soundness'
  ),
  mutant(
    'a zone that reaches into a range is taken for one within it',
    edit(
      'sharded-bloom/ranges/sealed-column',
      "const isUpper = side === 'upper' ? 1 : 0\n    for (let span",
      'const isUpper = 1\n    for (let span'
    ),
    'sharded-bloom/zones'
  ),
  mutant(
    'documents of a zone are taken for documents of the column',
    edit('sharded-bloom/ranges/sealed-column', 'kernels.and(out + from, members + from, out + from, length)\n', '{}\n'),
    'sharded-bloom/range-soundness'
  ),
  mutant(
    'the last 32 positions of a growing column end anywhere',
    edit('sharded-bloom/ranges/seal-column', '    f64[(groupsAt >>> 3) + groups * keysPerGroup] = column.max\n', ''),
    'sharded-bloom/format-columns',
    'sharded-bloom/range-soundness'
  ),
  mutant(
    'all of the 32 positions in which a range ends are within it',
    edit('sharded-bloom/ranges/sealed-column', 'of [first, end - 1]', 'of []'),
    'sharded-bloom/range-soundness'
  ),
  mutant(
    'a span of zones begins where the one before it does',
    edit('sharded-bloom/ranges/column-keys', 'let zone = span * this.#spanZones', 'let zone = 0'),
    'sharded-bloom/zones',
    'sharded-bloom/range-groups'
  ),
  mutant(
    'documents outside of a column are in no group',
    edit('sharded-bloom/ranges/sealed-column', 'if (this.record.outside !== NO_DOCUMENT) return allGroups\n', ''),
    'sharded-bloom/range-groups'
  ),
  mutant(
    'the last group that a range reaches is left out',
    edit('sharded-bloom/ranges/sealed-column', 'end * groupPositions, this', '(end - 1) * groupPositions, this'),
    'sharded-bloom/range-groups'
  ),
  mutant(
    'of ranges that are ANDed the one that reaches farther counts',
    edit('sharded-bloom/ranges/interval', 'Math.max(...intervals', 'Math.min(...intervals'),
    'sharded-bloom/range-groups',
    'sharded-bloom/range-keys'
  ),
  mutant(
    'the interval of a range stays when the template of texts is another',
    edit('sharded-bloom/ranges/interval', 'known.template === template', 'known !== undefined'),
    'sharded-bloom/range-keys'
  ),
  mutant(
    'a letter that counts is taken for a separator',
    edit('sharded-bloom/ranges/choose-text-form', ' || hasCountingLetter(pattern, longest, common.length)', ''),
    'sharded-bloom/choose-columns'
  ),
  mutant(
    'zones are taken whatever the order of keys',
    edit('sharded-bloom/ranges/seal-column', 'return held <= limit * sample.length', 'return true'),
    'sharded-bloom/zones'
  ),
  mutant(
    'texts lose their column when they no longer grow',
    edit('sharded-bloom/ranges/choose-columns', ' || this.#earlierTexts.has(path)', ''),
    'sharded-bloom/choose-columns',
    'sharded-bloom/zones'
  ),
  mutant(
    'a segment is passed over where one of the alternatives is not',
    edit(
      'sharded-bloom/segment/groups',
      'groups |= groupsOf(segment, child, locations)',
      'groups = groupsOf(segment, child, locations)'
    ),
    'sharded-bloom/upper-level'
  ),
  mutant(
    'what rows say that are not in memory is taken for what the segment says',
    edit(
      'sharded-bloom/view',
      'return cache.misses === misses || evaluation.upperCount === 0 ? evaluation : undefined',
      'return evaluation'
    ),
    'sharded-bloom/upper-level'
  ),
  mutant(
    'where passing over has stopped is taken for every segment',
    edit('sharded-bloom/view', 'if (left?.captured === captured && left', 'if (left !== undefined && left'),
    'sharded-bloom/upper-level'
  ),
  mutant(
    'of the groups that rows leave the first one is forgotten',
    edit(
      'sharded-bloom/view',
      'groups = segment.narrowed(pair, groups)',
      'groups = segment.narrowed(pair, groups) & (groups - 1)'
    ),
    'sharded-bloom/upper-level'
  ),
  mutant(
    'groups beyond the first have no bits',
    edit(
      'bloom/kernels/kernels',
      'return instance.exports as Kernels',
      'const all = instance.exports as Kernels; return { ...all, groupsWithBits: (p, n, g, b, l) => all.groupsWithBits(p, n, g, b, Math.min(b, l)) }'
    ),
    'bloom/kernels'
  ),
  mutant(
    'the part of rows that is looked at ends a group too early',
    edit('sharded-bloom/segment/and-groups', '(32 - beyond) * groupBytes', '(31 - beyond) * groupBytes'),
    'sharded-bloom/upper-level'
  ),
  mutant(
    'a digit of a template is as good as a lower character',
    edit('sharded-bloom/ranges/range-key', 'unit - digitsBefore, 0', 'unit - digitsBefore - 1, 0'),
    'sharded-bloom/range-keys'
  ),
  mutant(
    'a text that left its template goes on being compared',
    edit('sharded-bloom/ranges/range-key', 'isOver ||= rank === 0 || rank === radix - 1', 'isOver ||= rank === 0'),
    'sharded-bloom/range-keys'
  ),
  mutant(
    'a template is longer than a key has room for',
    edit('sharded-bloom/ranges/range-key', 'const maxTemplateBits = 62', 'const maxTemplateBits = 65'),
    'sharded-bloom/choose-columns'
  ),
  mutant(
    'a segment that is no longer young forgets its first documents',
    edit(
      'sharded-bloom/segment/hashed-rows',
      'for (let from = 0; from < this.#documents; from += blockDocuments)',
      'for (let from = blockDocuments; from < this.#documents; from += blockDocuments)'
    ),
    'sharded-bloom/hashed-rows'
  ),
  mutant(
    'a young segment knows the documents after its checkpoint, and not the last before',
    edit(
      'sharded-bloom/segment/young-rows',
      'if (position >= documents) break',
      'if (position >= documents - 1) break'
    ),
    'sharded-bloom/hashed-rows'
  ),
  mutant(
    'patterns that are strings go by UTF-16 units',
    edit('query/pattern', "byCode), flags.includes('u') ?", 'byCode), flags.length >= 0 ?'),
    'query/filter-evaluation',
    'docstore/patterns'
  )
]
