/** Bounds are sound. */
import { edit, mutant } from './mutant.mjs'

export const bounds = [
  mutant(
    'NOT complements the same bound instead of the opposite one',
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
    'the live bitmap is ignored when few documents are left',
    edit('sharded-bloom/evaluate', 'if (isDead) u8[out', 'if (isDead && count === 0) u8[out'),
    'sharded-bloom/random-life',
    'docstore/random-writes'
  ),
  mutant(
    'the last of a few documents is not looked up in the live bitmap',
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
    'a segment counts as exact in spite of a hashed row, so that lower is upper',
    edit('sharded-bloom/leaf-bounds', "case 'hashed': {\n        this.#isExact = false\n", "case 'hashed': {\n"),
    'sharded-bloom/soundness',
    'docstore/answers'
  ),
  mutant(
    'a segment counts as exact in spite of irregular documents, so that lower is upper',
    edit('sharded-bloom/leaf-bounds', "        if (irregular.kind !== 'absent') this.#isExact = false\n", ''),
    'sharded-bloom/soundness',
    'docstore/answers'
  ),
  mutant(
    'an irregular document is taken for a certain match',
    edit('sharded-bloom/leaf-bounds', "if (irregular.kind === 'absent') return row", 'return row'),
    'sharded-bloom/soundness',
    'docstore/answers'
  ),
  mutant(
    'a document whose pairs are not all known is not a candidate',
    edit(
      'sharded-bloom/evaluate',
      'u8[out + (position >>> 3)]! |= 1 << (position & 7)',
      'u8[out + (position >>> 3)]! |= 0 << (position & 7)'
    ),
    'docstore/overfull'
  ),
  mutant(
    'a document whose pairs are not all known is taken for a certain match',
    edit(
      'sharded-bloom/evaluate',
      '    for (const position of this.#segment.alwaysCandidates) u8[out + (position >>> 3)]! &= ~(1 << (position & 7))\n',
      ''
    ),
    'docstore/overfull',
    'sharded-bloom/soundness'
  ),
  mutant(
    'the open segment counts as exact in spite of a range over texts',
    edit(
      'sharded-bloom/ranges/open-column',
      'this.outside.count === 0 && type !== Type.string',
      'this.outside.count === 0 && type !== undefined'
    ),
    'sharded-bloom/range-soundness',
    'sharded-bloom/soundness'
  ),
  mutant(
    'a segment counts as exact in spite of documents outside the column',
    edit(
      'sharded-bloom/ranges/open-column',
      'return this.outside.count === 0 && type !== Type.string',
      'return type !== Type.string'
    ),
    'sharded-bloom/range-soundness',
    'sharded-bloom/soundness'
  ),
  mutant(
    'a zone that overlaps a range is taken for one within it',
    edit(
      'sharded-bloom/ranges/sealed-column',
      "const isUpper = side === 'upper' ? 1 : 0\n    for (let span",
      'const isUpper = 1\n    for (let span'
    ),
    'sharded-bloom/zones'
  ),
  mutant(
    'all documents of a zone are taken for documents of the column',
    edit('sharded-bloom/ranges/sealed-column', 'kernels.and(out + from, members + from, out + from, length)\n', '{}\n'),
    'sharded-bloom/range-soundness'
  ),
  mutant(
    'the last 32 positions of a growing column have no greatest key',
    edit('sharded-bloom/ranges/seal-column', '    f64[(groupsAt >>> 3) + groups * keysPerGroup] = column.max\n', ''),
    'sharded-bloom/format-columns',
    'sharded-bloom/range-soundness'
  ),
  mutant(
    'all 32 positions around the end of a range are taken to be within it',
    edit('sharded-bloom/ranges/sealed-column', 'of [first, end - 1]', 'of []'),
    'sharded-bloom/range-soundness'
  ),
  mutant(
    'every span of zones begins at the first zone',
    edit('sharded-bloom/ranges/column-keys', 'let zone = span * this.#spanZones', 'let zone = 0'),
    'sharded-bloom/zones',
    'sharded-bloom/range-groups'
  ),
  mutant(
    'documents outside a column are in no group',
    edit('sharded-bloom/ranges/sealed-column', 'if (this.record.outside !== NO_DOCUMENT) return allGroups\n', ''),
    'sharded-bloom/range-groups'
  ),
  mutant(
    'the last group that a range overlaps is left out',
    edit('sharded-bloom/ranges/sealed-column', 'end * groupPositions, this', '(end - 1) * groupPositions, this'),
    'sharded-bloom/range-groups'
  ),
  mutant(
    'the intersection of ANDed ranges begins at the lowest of their lower ends',
    edit('sharded-bloom/ranges/interval', 'Math.max(...intervals', 'Math.min(...intervals'),
    'sharded-bloom/range-groups',
    'sharded-bloom/range-keys'
  ),
  mutant(
    'the interval of a range is not recomputed when the template of texts changes',
    edit('sharded-bloom/ranges/interval', 'known.template === template', 'known !== undefined'),
    'sharded-bloom/range-keys'
  ),
  mutant(
    'a letter that varies between texts is taken for a separator',
    edit('sharded-bloom/ranges/choose-text-form', ' || hasCountingLetter(pattern, longest, common.length)', ''),
    'sharded-bloom/choose-columns'
  ),
  mutant(
    'zones are used whatever the order of the keys',
    edit('sharded-bloom/ranges/seal-column', 'return held <= limit * sample.length', 'return true'),
    'sharded-bloom/zones'
  ),
  mutant(
    'texts lose their column when they no longer ascend',
    edit('sharded-bloom/ranges/choose-columns', ' || this.#earlierTexts.has(path)', ''),
    'sharded-bloom/choose-columns',
    'sharded-bloom/zones'
  ),
  mutant(
    'a segment is skipped although one of the alternatives may be in it',
    edit(
      'sharded-bloom/segment/groups',
      'groups |= groupsOf(segment, child, locations)',
      'groups = groupsOf(segment, child, locations)'
    ),
    'sharded-bloom/upper-level'
  ),
  mutant(
    'an evaluation with rows missing from memory is taken for complete',
    edit(
      'sharded-bloom/view',
      'return cache.misses === misses || evaluation.upperCount === 0 ? evaluation : undefined',
      'return evaluation'
    ),
    'sharded-bloom/upper-level'
  ),
  mutant(
    'the evaluation kept from skipping segments is used for other segments',
    edit(
      'sharded-bloom/view',
      'if (stoppedAt?.captured === captured && stoppedAt',
      'if (stoppedAt !== undefined && stoppedAt'
    ),
    'sharded-bloom/upper-level'
  ),
  mutant(
    'the first of the groups left by the rows is dropped',
    edit(
      'sharded-bloom/view',
      'groups = segment.narrowGroups(pair, groups)',
      'groups = segment.narrowGroups(pair, groups) & (groups - 1)'
    ),
    'sharded-bloom/upper-level'
  ),
  mutant(
    'a row of the cache is narrowed in place',
    edit(
      'sharded-bloom/frame-stack',
      'const isInScratch = address >= this.#bottom && address < this.#memory.scratchEnd',
      'const isInScratch = address >= this.#bottom'
    ),
    'sharded-bloom/views'
  ),
  mutant(
    'pairs are where another segment keeps them',
    edit(
      'sharded-bloom/leaf-loading',
      'if (bounds.located === segment) return',
      'if (bounds.located !== undefined) return'
    ),
    'sharded-bloom/upper-level'
  ),
  mutant(
    'groups after the first have no bits',
    edit(
      'bloom/kernels/instantiate',
      'return new webAssembly.Instance(module, { env: { memory } }).exports as Kernels',
      'const all = new webAssembly.Instance(module, { env: { memory } }).exports as Kernels; return { ...all, groupsWithBits: (p, n, g, b, l) => all.groupsWithBits(p, n, g, b, Math.min(b, l)) }'
    ),
    'bloom/kernels'
  ),
  mutant(
    'the part of a row that is read ends one group too early',
    edit('sharded-bloom/segment/and-groups', '(32 - beyond) * groupBytes', '(31 - beyond) * groupBytes'),
    'sharded-bloom/upper-level'
  ),
  mutant(
    'the lowest digit of a template gets the same rank as lower characters',
    edit('sharded-bloom/ranges/range-key', 'unit - digitsBefore, 0', 'unit - digitsBefore - 1, 0'),
    'sharded-bloom/range-keys'
  ),
  mutant(
    'the carry between the halves of a stored key is lost',
    edit('sharded-bloom/ranges/column-chunk', 'sum > 0xffff_ffff ? 1 : 0', '0'),
    'sharded-bloom/range-keys'
  ),
  mutant(
    'an escaped quote ends the path of a pair stored in an earlier format',
    edit('sharded-bloom/segment/earlier-pair-table', 'if ((at - unescaped) % 2 === 0) return', 'return'),
    'sharded-bloom/pair-table'
  ),
  mutant(
    'a pair table may name paths that it does not list',
    edit('sharded-bloom/segment/pair-table', ' || pathOf[i]! >= paths', ''),
    'sharded-bloom/pair-table'
  ),
  mutant(
    'the rest of a text that left its template is still compared',
    edit('sharded-bloom/ranges/range-key', 'isOver ||= rank === 0 || rank === radix - 1', 'isOver ||= rank === 0'),
    'sharded-bloom/range-keys'
  ),
  mutant(
    'a template may be longer than fits into a key',
    edit('sharded-bloom/ranges/range-key', 'const maxTemplateBits = 62', 'const maxTemplateBits = 65'),
    'sharded-bloom/choose-columns'
  ),
  mutant(
    'a segment loses its first documents when it stops being young',
    edit(
      'sharded-bloom/segment/hashed-rows',
      'for (let from = 0; from < this.#documents; from += blockDocuments)',
      'for (let from = blockDocuments; from < this.#documents; from += blockDocuments)'
    ),
    'sharded-bloom/hashed-rows'
  ),
  mutant(
    'a young segment loses the last document before its checkpoint',
    edit(
      'sharded-bloom/segment/young-rows',
      'if (position >= documents) break',
      'if (position >= documents - 1) break'
    ),
    'sharded-bloom/hashed-rows'
  ),
  mutant(
    'patterns given as strings match UTF-16 units',
    edit('query/pattern', "escapeByCode), flags.includes('u') ?", 'escapeByCode), flags.length >= 0 ?'),
    'query/filter-evaluation',
    'docstore/patterns'
  ),
  mutant(
    'documents in a chunk of rows that was not read match nothing',
    edit(
      'sharded-bloom/segment/hashed-rows',
      'kernels.fill(to, 0xff, chunkRowBytes)',
      'kernels.fill(to, 0, chunkRowBytes)'
    ),
    'sharded-bloom/hashed-rows'
  ),
  mutant(
    'documents in a chunk of rows that cannot be read match nothing',
    edit(
      'sharded-bloom/segment/hashed-rows',
      'kernels.fill(address, 0xff, frameBytes)',
      'kernels.fill(address, 0, frameBytes)'
    ),
    'sharded-bloom/stored-chunks'
  ),
  mutant(
    'what is left without a chunk of rows counts as found',
    edit('sharded-bloom/segment/tail/bloom-open', '    this.#stored?.noteUse(groups)\n', ''),
    'sharded-bloom/stored-chunks'
  ),
  mutant(
    'a segment is sealed without the chunks that no query has read',
    edit('sharded-bloom/segment/seal', '  await segment.tail.loadAll()\n', ''),
    'sharded-bloom/stored-chunks'
  )
]
