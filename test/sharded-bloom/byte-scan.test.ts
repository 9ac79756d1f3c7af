/**
 * A document is indexed from its bytes as it is from the object: the same rows, private rows, marks and counts.
 */
import { ObjectId } from 'bson'
import fc from 'fast-check'
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { type Document, Type } from '../../src/model/types.ts'
import { jsonFormOf } from '../../src/sharded-bloom/byte-scan/plain.ts'
import { Tag } from '../../src/sharded-bloom/pairs/pair-tags.ts'
import { initialParameters } from '../../src/sharded-bloom/tune/segment-parameters.ts'
import { checkTuning } from '../../src/sharded-bloom/tune/tuning-options.ts'
import { generateTweets } from '../../src/workload/index.ts'
import { adversarial, documents, plain, testSeed } from '../support/arbitraries.ts'
import { assertSameSegments, encodeJson, SegmentPair, SegmentTools, withPair } from '../support/scanned-segments.ts'
import { anyString } from '../support/values.ts'

const seed = testSeed()
const tools = new SegmentTools(seed)
const initial = initialParameters(checkTuning({ rangeCodes: 'all' }))
const fingerprints = initialParameters(checkTuning({ rangeCodes: 'all', tail: 'fingerprint' }))

function sample<T>(arbitrary: fc.Arbitrary<T>, count: number, offset = 0): T[] {
  return fc.sample(arbitrary, { numRuns: count, seed: seed + offset })
}

/** Texts that are difficult in JSON. */
const texts = fc.oneof(
  anyString,
  fc.string({ unit: 'binary', maxLength: 40 }),
  fc.string({
    unit: fc.constantFrom('a', 'b', '\\', '"', '/', '\n', '\u2028', 'ü', '\ud800', '\u{10ffff}'),
    maxLength: 70
  }),
  fc.constantFrom('', '\u0000', '\u007f', '\u0080', '\u07ff', '\u0800', '\uffff', '\u{10000}', '\udbff\udfff')
)
const numbers = fc.oneof(
  fc.integer(),
  fc.integer({ min: 0, max: 3 }),
  fc.maxSafeInteger(),
  fc.double(),
  fc.double({ min: -1000, max: 1000, noNaN: true }).map((value) => Math.round(value * 1e5) / 1e5),
  fc
    .tuple(fc.integer({ min: 0, max: 999_999 }), fc.integer({ min: -30, max: 30 }))
    .map(([c, e]) => Number(`${c}e${e}`)),
  fc.constantFrom(0, -0, 1e21, 1e22, 1e23, 5e-324, 2 ** 53, 2 ** 53 + 2, 2 ** 63, 0.1 + 0.2, 123456789012345680)
)
const scalars = fc.oneof(texts, numbers, fc.boolean(), fc.constant(null))
const keys = fc.oneof(
  fc.constantFrom('a', 'b', 'c', 'longer than eight bytes', 'longer than eight Bytes', 'schlüssel', '_id', '😀'),
  fc.constantFrom('', '0', 'a.b', '$x', 'a"b', 'a\\b', 'a\nb', '\ud800', '\ufffd', 'constructor')
)
const trees: fc.Arbitrary<Document> = fc.letrec<{ object: Document; value: unknown }>((tie) => ({
  object: fc.array(fc.tuple(keys, tie('value')), { maxLength: 5 }).map((entries) => Object.fromEntries(entries)),
  value: fc.oneof(
    { maxDepth: 4, withCrossShrink: true },
    scalars,
    tie('object'),
    fc.array(fc.oneof({ weight: 4, arbitrary: scalars }, { weight: 1, arbitrary: tie('value') }), { maxLength: 5 })
  )
})).object

test('documents of every kind have the same rows from bytes as from objects', () => {
  withPair(tools, initial, (pair) => {
    for (const document of sample(documents(adversarial), 3000)) pair.add(document)
  })
})

test('documents that JSON can hold are scanned, and have the same rows', () => {
  const parameters = tools.parametersFor(sample(trees, 500))
  withPair(tools, parameters, (pair) => {
    for (const document of sample(trees, 4000)) pair.add(document)
    for (const document of sample(documents(plain), 1000)) pair.add(document)
    assert.ok(pair.handled > 1000, `${pair.handled} were scanned`)
    assert.ok(pair.written >= pair.handled, `${pair.written} were scanned while they were written`)
  })
})

test('nearly every tweet is scanned', () => {
  const tweets = [...generateTweets({ count: 12_000, seed })]
  withPair(tools, tools.parametersFor(tweets.slice(0, 4096)), (pair) => {
    let handled = 0
    tweets.forEach((tweet, i) => {
      if (pair.add(tweet) && i >= 2000) handled++
    })
    console.log(`scanned: ${handled} of 10000`)
    assert.ok(handled > 9900)
    assert.ok(pair.written >= pair.handled)
  })
})

test('documents that are staged together have the rows that they have when scanned alone', () => {
  const tweets = [...generateTweets({ count: 2000, seed: seed + 2 })]
  const list = [...tweets, ...sample(trees, 3000, 3), ...sample(documents(plain), 500, 4)].filter(
    (document) => jsonFormOf(document) === 'json'
  )
  const parameters = tools.parametersFor(list.slice(0, 3000))
  const [alone, together] = [tools.ingest(), tools.ingest()]
  const [expected, segment] = [tools.open(parameters), tools.open(parameters)]
  const addFlat = (document: Document, to: typeof segment, ingest: typeof alone): void => {
    const flat = tools.flattener.flatten(document)
    to.add(flat)
    ingest.learn(flat)
  }
  let staged = 0
  for (let from = 0, count = 1; from < list.length; from += count, count = 1 + ((from * 7) % 64)) {
    const run = list.slice(from, from + count)
    const texts = run.map(encodeJson)
    const bytes = Buffer.concat(texts.flatMap((text) => [text, Buffer.from('\n')]))
    let isStaged = together.stage(bytes)
    let at = 0
    for (const [i, document] of run.entries()) {
      const { length } = texts[i]!
      if (!alone.add(expected, texts[i]!, 0, length, 'json')) addFlat(document, expected, alone)
      if (!isStaged) isStaged = together.stage(bytes)
      if (isStaged && together.addStaged(segment, at, length, 'json')) staged++
      else {
        // As callers do: scan this one alone, and stage the rest again.
        if (!together.add(segment, texts[i]!, 0, length, 'json')) addFlat(document, segment, together)
        isStaged = false
      }
      at += length + 1
    }
  }
  console.log(`staged: ${staged} of ${list.length}`)
  assert.ok(staged > 2000)
  assertSameSegments(segment, expected)
  assert.not.ok(together.stage(new Uint8Array(2 ** 20)), 'more than there is room for')
  for (const each of [segment, expected]) each.free()
  for (const each of [alone, together]) each.close()
})

test('a scanner can switch between segments', () => {
  const ingest = tools.ingest()
  const tweets = [...generateTweets({ count: 1500, seed: seed + 1 })]
  const others = sample(documents(plain), 1500, 1)
  const writing = tools.ingest()
  const first = new SegmentPair(tools, ingest, tools.parametersFor(tweets), writing)
  const second = new SegmentPair(tools, ingest, tools.parametersFor(others, 128, 3), writing)
  // Fewer rows than each pair needs.
  const third = new SegmentPair(
    tools,
    ingest,
    {
      shards: 64,
      rowsPerPair: 80,
      privatePairs: [],
      columns: [],
      upperFrames: 0
    },
    writing
  )
  tweets.forEach((tweet, i) => {
    const pairs = [first, second, third]
    const turn = Math.floor(i / 100)
    pairs[turn % 3]!.add(tweet)
    pairs[(turn + 1) % 3]!.add(others[i]!)
  })
  for (const pair of [first, second, third]) {
    pair.assertEqual()
    assert.ok(pair.handled > 0)
    assert.ok(pair.written > 0)
    pair.free()
  }
  ingest.close()
  writing.close()
})

for (const [tail, parameters] of Object.entries({ bloom: initial, fingerprint: fingerprints })) {
  test(`facts for which no private row is left are hashed: ${tail}`, () => {
    // Thousands of paths, while each segment has room for 2,048 facts.
    const wide = Array.from(
      { length: 6000 },
      (_, i): Document => ({ [`k${i % 1500}`]: { x: i, y: [i % 2 === 0 ? 'a' : 1] } })
    )
    withPair(tools, parameters, (pair) => {
      for (const document of wide) pair.add(document)
      assert.not.ok(pair.scanned.isShapeComplete)
      assert.ok(pair.handled > 0, `${pair.handled} were scanned`)
    })
  })
}

test('a crowded document is scanned, unless it has facts for which no private row is left', () => {
  const values = (from: number): Document => ({ v: Array.from({ length: 300 }, (_, i) => from + i), w: from })
  withPair(tools, initial, (pair) => {
    pair.add(values(0))
    assert.ok(pair.add(values(100)))
    const paths = Array.from({ length: 1200 }, (_, i): Document => ({ [`k${i}`]: 0 }))
    for (const document of [...paths, ...paths]) pair.add(document)
    assert.not.ok(pair.scanned.isShapeComplete)
    assert.ok(pair.add(values(200)), 'its facts have rows')
    const wide = { ...values(300), k1190: 0, k1191: 0 }
    assert.not.ok(pair.add(wide) || pair.add(wide))
    assert.is(pair.scanned.crowdedDocuments, 5)
  })
})

test('fingerprints taken from bytes are those taken from objects', () => {
  const tweets = [...generateTweets({ count: 1500, seed })]
  const mixed = [...tweets, ...sample(documents(adversarial), 1500, 7)]
  const { fingerprintBits } = fingerprints
  for (const parameters of [fingerprints, { ...tools.parametersFor(tweets), fingerprintBits }]) {
    withPair(tools, parameters, (pair) => {
      for (const document of mixed) pair.add(document)
      assert.ok(pair.handled > 1200, `${pair.handled} were scanned`)
    })
  }
})

test('a document with more hashes than there is room for is indexed as an object', () => {
  // As many values as are indexed at most, and facts for which no private row is left.
  const paths = Array.from({ length: 2100 }, (_, i): Document => ({ [`k${i}`]: 0 }))
  const large = (values: number): Document => ({
    v: Array.from({ length: values }, (_, i) => i),
    ...Object.fromEntries(paths.slice(0, 600).map((_, i) => [`k${2000 - i}`, {}]))
  })
  withPair(tools, fingerprints, (pair) => {
    for (const document of paths) pair.add(document)
    for (const document of paths) pair.add(document)
    assert.not.ok(pair.scanned.isShapeComplete)
    pair.add(large(1000))
    assert.ok(pair.add(large(1000)), 'there is room, and its paths are known')
    assert.not.ok(pair.add(large(19_990)))
  })
})

test('an ObjectId as _id is indexed as an ObjectId', () => {
  const ids = sample(fc.uint8Array({ minLength: 12, maxLength: 12 }), 400)
  withPair(tools, initial, (pair) => {
    ids.forEach((id, i) => {
      const _id = new ObjectId(id)
      // Unlike its digits as a text, and ObjectIds elsewhere.
      pair.add(i % 5 === 0 ? { _id: _id.toHexString(), n: i } : { _id, n: i, nested: { _id: _id.toHexString() } })
      pair.add({ _id: i, n: [_id] })
    })
    assert.ok(pair.handled > 300, `${pair.handled} were scanned`)
    assert.ok(pair.written >= pair.handled)
  })
})

test('white space between tokens changes nothing', () => {
  withPair(tools, initial, (pair) => {
    sample(trees, 1500, 2).forEach((document, i) => {
      if (Object.values(document).some((value) => value === undefined)) return
      // Through JSON, so that both ways get the same values.
      const text = i % 2 === 0 ? JSON.stringify(document, null, '\t') : ` \r\n${JSON.stringify(document)}\n `
      const parsed = JSON.parse(text) as Document
      if (!hasProtoKey(text)) pair.addText(parsed, new TextEncoder().encode(text))
    })
    assert.ok(pair.handled > 200, `${pair.handled} were scanned`)
  })
})

test('refused documents leave no trace, and those just accepted have the same rows', () => {
  const deep = (levels: number): string => `${'{"b":'.repeat(levels)}1${'}'.repeat(levels)}`
  const list = (values: number): string => `{"a":[${'7,'.repeat(values - 1)}7]}`
  const near: readonly (readonly [accepted: string, refused: string])[] = [
    ['{"a":1,"c":2}', '{"a":1,"a":2}'],
    ['{"b":{"c":1},"c":{}}', '{"b":{"c":1,"c":2}}'],
    ['{"a":0}', '{"a":-0}'],
    ['{"a":1e60}', '{"a":1e400}'],
    ['{"a":0.1234567890123456789}', '{"a":0.12345678901234567891}'],
    ['{"a":1}', '{"0":1}'],
    ['{"a":1}', '{"a.b":1}'],
    ['{"a":1}', '{"__proto__":1}'],
    ['{"a":1}', '{"\\u0061":1}'],
    [deep(100), deep(101)],
    // The length of the array is a pair, too.
    [list(19_999), list(20_000)]
  ]
  withPair(tools, initial, (pair) => {
    for (const [text] of near) {
      const document = JSON.parse(text) as Document
      const bytes = new TextEncoder().encode(text)
      // The first call teaches the scanner the facts, and may be refused because of them.
      pair.addText(document, bytes)
      assert.ok(pair.addText(document, bytes), text.slice(0, 40))
    }
    for (const [, text] of near) {
      const bytes = new TextEncoder().encode(text)
      assert.not.ok(pair.ingest.add(pair.scanned, bytes, 0, bytes.length, 'json'), text.slice(0, 40))
    }
    // The same limits for objects that are scanned while they are written, where there is no room for more numbers.
    const truths = (values: number): string => `{"a":[${'true,'.repeat(values - 1)}true]}`
    for (const text of [
      deep(100),
      list(16_000),
      truths(19_999),
      truths(20_000),
      '{"a":0.12345678901234567891}',
      '{"0":1}',
      '{"a.b":1}'
    ]) {
      for (let i = 0; i < 2; i++) pair.add(JSON.parse(text) as Document)
    }
  })
})

test('keys that were forgotten to make room may stand for other paths later', () => {
  const ingest = tools.ingest()
  const writing = tools.ingest()
  // Three times as many keys as there is room for; each stands for another path in every round.
  for (let round = 0; round < 12; round++) {
    const pair = new SegmentPair(tools, ingest, initial, writing)
    for (let i = 0; i < 2000; i++) {
      const fields = [
        [`k${round}`, { [`l${i % 1000}`]: i }],
        [`l${i % 7}`, { [`k${round}`]: 'x' }]
      ] as const
      // In alternating order, so that another key comes first.
      pair.add(Object.fromEntries(round % 2 === 0 ? fields : fields.toReversed()))
    }
    pair.assertEqual()
    assert.ok(pair.written > 500, `${pair.written} were scanned while they were written`)
    pair.free()
  }
  ingest.close()
  writing.close()
})

test('private texts are found in every spelling', () => {
  const values = [
    '',
    'x',
    'eight by',
    'nine byte',
    'with "quotes" and \\',
    'tab\t',
    'ü',
    '😀 and more of it',
    '\ud800',
    'a/b'
  ]
  const frequent = values.flatMap((text) =>
    Array.from({ length: 40 }, (): Document => ({ text, list: [text, 'rare'] }))
  )
  const escapeAll = (text: string): string =>
    text.replace(/[\s\S]/g, (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`)
  withPair(tools, tools.parametersFor(frequent), (pair) => {
    assert.is(pair.scanned.privatePairs().filter(({ key }) => key !== 'rare' && typeof key === 'string').length, 20)
    for (const document of frequent) pair.add(document)
    for (const text of values) {
      for (const spelled of [
        JSON.stringify(text),
        `"${escapeAll(text)}"`,
        `"${escapeAll(text).toUpperCase().replaceAll('U', 'u')}"`
      ]) {
        const bytes = new TextEncoder().encode(`{"text":${spelled}}`)
        assert.ok(pair.addText({ text }, bytes), spelled)
      }
      // Nearly the same texts.
      for (const other of [`${text}x`, text.slice(1), text.toUpperCase()]) pair.add({ text: other })
    }
  })
})

test('thousands of private values are all found', () => {
  const values = Array.from({ length: 2048 }, (_, i): Document => ({ n: i, s: `value ${i}` }))
  const privatePairs = values.flatMap(({ n, s }) => [
    tools.pairHash.hash({ path: 'n', tag: Type.number, key: Number(n) }),
    tools.pairHash.hash({ path: 's', tag: Type.string, key: String(s) })
  ])
  withPair(tools, { ...initial, privatePairs }, (pair) => {
    for (const document of values) pair.add(document)
    assert.ok(pair.handled > 2000)
  })
})

test('private texts are distinguished from others of the same length by every byte', () => {
  // Seven bits of the hash are compared before the bytes, so some of a thousand other texts pass that first test.
  const textOf = (i: number): string => `text${String(i).padStart(4, '0')}`
  const privatePairs = Array.from({ length: 64 }, (_, i) =>
    tools.pairHash.hash({ path: 's', tag: Type.string, key: textOf(i) })
  )
  withPair(tools, { ...initial, privatePairs }, (pair) => {
    for (let i = 0; i < 1000; i++) pair.add({ s: textOf(i) })
    assert.ok(pair.handled > 900)
  })
})

test('a number is not taken for an array length, even if their hashes are similar', () => {
  // Within a bucket, seven bits of the hash are compared first, and then the pairs themselves.
  for (let i = 0; i < 500; i++) {
    const path = `k${i}`
    withPair(tools, { ...initial, privatePairs: [tools.pairHash.hash({ path, tag: Tag.size, key: 3 })] }, (pair) => {
      for (const value of [[1, 2, 3], 3, 3, [3], [3]]) pair.add({ [path]: value })
    })
  }
})

test('keys that may be Extended JSON are refused where the text is Extended JSON', () => {
  withPair(tools, initial, (pair) => {
    const document = { a: { $date: 1 } }
    pair.add(document)
    assert.ok(pair.add(document), 'a key like any other')
    const bytes = new TextEncoder().encode(JSON.stringify(document))
    assert.not.ok(pair.addText(document, bytes, 'extended'))
  })
})

test('bytes that were scanned while they were written are not read again, any others are', () => {
  const ingest = tools.ingest()
  const [first, second] = [tools.open(initial), tools.open(initial)]
  const document = { a: 12, b: 'x' }
  const flat = tools.flattener.flatten(document)
  const write = (): Uint8Array => {
    const bytes = ingest.write(first, document, false)
    if (bytes instanceof Uint8Array) return bytes
    return assert.unreachable(`not written: ${bytes}`) as never
  }
  const add = (segment: typeof first, bytes: Uint8Array): boolean =>
    ingest.add(segment, bytes, 0, bytes.length, 'json') !== false
  for (const segment of [first, second]) {
    add(segment, encodeJson(document))
    segment.add(flat)
    ingest.learn(flat)
  }
  assert.ok(add(first, write().fill(0x20)), 'the bytes are gone, the pairs are known')
  assert.not.ok(add(first, write().fill(0x20).slice()), 'a copy is another text')
  const bytes = write()
  assert.ok(add(first, bytes))
  assert.not.ok(add(first, bytes.fill(0x20)), 'once')
  assert.not.ok(add(second, write().fill(0x20)), 'another segment has other rows')
  for (const segment of [first, second]) segment.free()
  ingest.close()
})

test('bytes around the document are not read', () => {
  withPair(tools, initial, (pair) => {
    const document = { a: 12, b: 'x' }
    const bytes = new TextEncoder().encode(`9${JSON.stringify(document)}9`)
    pair.add(document)
    assert.ok(pair.addPart(bytes, 1, bytes.length - 2))
  })
})

function hasProtoKey(text: string): boolean {
  return text.includes('__proto__')
}

test.run()
