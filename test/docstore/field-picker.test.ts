/** Fields picked from stored bytes are those of the whole document, and damage is not taken for a document. */
import { Double, ObjectId } from 'bson'
import fc from 'fast-check'
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { FieldPicker } from '../../src/docstore/documents/field-picker/field-picker.ts'
import { decodeRecord, encodeRecord } from '../../src/docstore/documents/record.ts'
import { type Document, open, PetalError } from '../../src/index.ts'
import { stringifyCanonical } from '../../src/model/extended-json.ts'
import { adversarial, documents, testSeed } from '../support/arbitraries.ts'
import { scratchPath } from './scratch.ts'

const seed = testSeed()

/** Keys of every length, with everything that JSON escapes, and that need several bytes. */
const keys = fc.oneof(
  fc.constantFrom('a', 'aa', 'ab', '_id', 'é', 'ü€', '😀', '__proto__', '$a', '"', '\\', ''),
  fc.string()
)
const paths = fc.array(keys, { minLength: 1, maxLength: 3 })
const nested: fc.Arbitrary<unknown> = fc.letrec((tie) => ({
  value: fc.oneof(
    { depthSize: 'medium', withCrossShrink: true },
    fc.jsonValue({ maxDepth: 1 }),
    fc.dictionary(keys, tie('value'), { maxKeys: 5 }),
    fc.array(tie('value'), { maxLength: 3 })
  )
})).value
const objects = fc.dictionary(keys, nested, { maxKeys: 8 }).map((object) => ({ ...object }))

/** What is on the way to one of the paths, or beyond. */
function pickedFrom(document: Document, paths: readonly (readonly string[])[]): Document {
  const wanted = Object.entries(document).filter(([key]) => paths.some(([first]) => first === key))
  return Object.fromEntries(
    wanted.map(([key, value]) => {
      const rests = paths.filter(([first]) => first === key).map(([, ...rest]) => rest)
      const isWhole = rests.some(({ length }) => length === 0) || !isObject(value) || isWrapper(value as Document)
      return [key, isWhole ? value : pickedFrom(value as Document, rests)]
    })
  )
}

function isWrapper(object: Document): boolean {
  return Object.keys(object)[0]?.startsWith('$') === true
}

function isObject(value: unknown): boolean {
  return Object.prototype.toString.call(value) === '[object Object]'
}

/** Has keys that are left to the parser, at any depth. */
function hasUnusualKeys(value: unknown): boolean {
  if (typeof value !== 'object' || value === null) return false
  const parts: unknown[] = Object.values(value)
  const keys = Array.isArray(value) ? [] : Object.keys(value)
  return keys.some((key) => key.startsWith('$') || JSON.stringify(key).includes('\\')) || parts.some(hasUnusualKeys)
}

/** Within other bytes. */
function placed(text: string): { bytes: Buffer; start: number; end: number } {
  const bytes = Buffer.from(`"x":{${text},"a":1}`)
  return { bytes, start: 5, end: 5 + Buffer.byteLength(text) }
}

test('the picked fields are those of the document, in its order, whatever its values and white space', () => {
  let picks = 0
  fc.assert(
    fc.property(
      objects,
      fc.array(paths, { maxLength: 4 }),
      fc.nat(8),
      fc.constantFrom(0, 1, '\t'),
      (object, more, n, indent) => {
        const text = JSON.stringify(object, null, indent)
        const document = JSON.parse(text) as Document
        const wanted = [
          ...Object.keys(object)
            .slice(0, n)
            .map((key) => [key]),
          ...more
        ].filter((path) => path.every((key) => !key.includes('.')))
        const { bytes, start, end } = placed(text)
        const picked = new FieldPicker(new Set(wanted.map((path) => path.join('.')))).decode(bytes, start, end)
        if (picked === undefined) {
          assert.ok(hasUnusualKeys(document), text)
        } else {
          picks++
          assert.equal(JSON.stringify(picked), JSON.stringify(pickedFrom(document, wanted)))
        }
      }
    ),
    { seed, numRuns: 3000 }
  )
  assert.ok(picks > 1000)
})

/** Everything that ends or nests values, in texts longer than what is read at a time, at every offset. */
const marks = fc
  .array(fc.constantFrom('"', '\\', '\\\\', '{', '}', '[', ']', ',', ':', 'x', 'é', 'x'.repeat(15), 'x'.repeat(61)), {
    maxLength: 40
  })
  .map((parts) => parts.join(''))
const marked: fc.Arbitrary<unknown> = fc.letrec((tie) => ({
  value: fc.oneof(
    { depthSize: 'small' },
    marks,
    fc.double({ noDefaultInfinity: true, noNaN: true }),
    fc.array(tie('value'), { maxLength: 4 }),
    fc.dictionary(fc.constantFrom('k', 'key'), tie('value'))
  )
})).value

test('quotes, brackets and escapes within texts are told from others, wherever they are', () => {
  fc.assert(
    fc.property(fc.array(marked, { minLength: 1, maxLength: 6 }), fc.nat(5), (values, n) => {
      const document = Object.fromEntries(values.map((value, i) => [`f${i}`, value]))
      const { bytes, start, end } = placed(JSON.stringify(document))
      const name = `f${n % values.length}`
      assert.equal(
        new FieldPicker(new Set([name, 'none'])).decode(bytes, start, end),
        JSON.parse(JSON.stringify({ [name]: document[name] }))
      )
    }),
    { seed, numRuns: 5000 }
  )
})

test('names are told apart by every byte and by their length', () => {
  const names = [1, 15, 16, 17, 31, 32, 33, 47, 48, 49, 64, 65].flatMap((length) => {
    const places = [...new Set([0, 14, 15, 16, 17, 31, 32, length - 1])].filter((place) => place < length)
    return places.map((place) => `${'n'.repeat(place)}m${'n'.repeat(length - place - 1)}`)
  })
  const document = Object.fromEntries(names.map((name, i) => [name, i]))
  const record = Buffer.from(JSON.stringify(document))
  for (const name of names) {
    assert.equal(new FieldPicker(new Set([name])).decode(record, 0, record.length), { [name]: document[name] })
  }
  assert.equal(new FieldPicker(new Set(names)).decode(record, 0, record.length), document)
})

test('pickers take turns, records of every size come between, and too long ones are left to the parser', () => {
  const [a, b] = [new FieldPicker(new Set(['a', 'x.y'])), new FieldPicker(new Set(['b']))]
  for (const length of [0, 70_000, 10, 1 << 20, 5, 5 << 20, 300_000, 0]) {
    const record = Buffer.from(JSON.stringify({ b: 1, x: { y: 2, z: 'z'.repeat(length) }, a: [length] }))
    const isLong = length === 5 << 20
    assert.equal(a.decode(record, 0, record.length), isLong ? undefined : { x: { y: 2 }, a: [length] })
    assert.equal(b.decode(record, 0, record.length), isLong ? undefined : { b: 1 })
  }
})

test('more names than there is room for, and paths of any depth', () => {
  const many = new FieldPicker(new Set(Array.from({ length: 5000 }, (_, i) => `name${i}`)))
  const record = Buffer.from('{"name7":1,"b":2}')
  assert.equal([many.isWorthIt, many.decode(record, 0, record.length)], [false, undefined])
  const depth = 20_000
  const path = Array.from({ length: depth }, () => 'a').join('.')
  const deep = Buffer.from(`${'{"b":0,"a":'.repeat(depth)}1${'}'.repeat(depth)}`)
  const picker = new FieldPicker(new Set([path]))
  assert.ok(picker.isWorthIt)
  assert.equal(Object.keys(picker.decode(deep, 0, 2000) ?? {}), [], 'it is not all there')
  let found: unknown = picker.decode(Buffer.from('{"b":0,"a":{"b":0,"a":{"b":0}}}'), 0, 31)
  assert.equal(found, { a: { a: {} } })
  found = picker.decode(deep, 0, deep.length)
  for (let i = 0; i < 99; i++) {
    assert.equal(Object.keys(found as Document), ['a'])
    found = (found as Document).a
  }
  assert.equal(Object.keys(found as Document), ['a'])
})

test('of a key that occurs twice the last value counts', () => {
  const { bytes, start, end } = placed('{"a":1,"b":{"a":2},"a":[3],"c":4}')
  assert.equal(new FieldPicker(new Set(['a'])).decode(bytes, start, end), { a: [3] })
  const twice = placed('{"a":{"b":1},"a":{"c":2}}')
  assert.equal(new FieldPicker(new Set(['a.b'])).decode(twice.bytes, twice.start, twice.end), { a: {} })
})

test('records of every form are picked as they are decoded', () => {
  const id = new ObjectId()
  for (const [document, isPlain] of [
    [{ _id: 1, a: { b: 'ü' }, c: [1] }, true],
    [{ _id: id, a: 5, c: null }, true],
    [{ _id: id, a: new Date(5), b: { $numberLong: '7' }, c: 10n ** 15n, d: -0 }, false],
    [{ _id: 'x', a: new Double(1.5), b: /x/g }, false]
  ] as const) {
    const record = encodeRecord(document, isPlain)
    const bytes = Buffer.from(record)
    for (const fields of [['a'], ['_id'], ['a', '_id', 'c'], ['b', 'd'], []]) {
      const picked = new FieldPicker(new Set(fields)).decode(bytes, 0, bytes.length)
      assert.equal(
        picked,
        pickedFrom(
          decodeRecord(record),
          fields.map((field) => [field])
        )
      )
    }
  }
  const dated = Buffer.from(encodeRecord({ _id: 1, a: { at: new Date(5), b: 1 }, c: new Date(6) }, false))
  const parts = new FieldPicker(new Set(['a.at.x', 'c.x'])).decode(dated, 0, dated.length)
  assert.equal(parts, { a: { at: new Date(5) }, c: new Date(6) }, 'values of Extended JSON are whole')
  const wrapper = Buffer.from(encodeRecord({ _id: 1, a: { $date: 5 } }, false))
  assert.equal(new FieldPicker(new Set(['a'])).decode(wrapper, 0, wrapper.length), { a: { $date: 5 } })
})

test('a record that was cut off or changed is no document, or one that its bytes hold', () => {
  const decoded = (bytes: Uint8Array, end: number): Document | undefined => {
    try {
      return new FieldPicker(new Set(['a', 'c'])).decode(bytes, 0, end)
    } catch (error) {
      assert.ok(error instanceof PetalError && error.codeName === 'DataCorruption', String(error))
      return undefined
    }
  }
  fc.assert(
    fc.property(objects, fc.nat(), fc.nat(255), (object, at, byte) => {
      const text = JSON.stringify({ ...object, a: [1, { b: '\\"}' }], c: 'x' })
      const bytes = Buffer.from(text)
      assert.is(decoded(bytes, at % bytes.length), undefined, 'a prefix')
      bytes[at % bytes.length] = byte
      const picked = decoded(bytes, bytes.length)
      assert.ok(picked === undefined || Object.keys(picked).every((key) => key === 'a' || key === 'c'))
    }),
    { seed, numRuns: 2000 }
  )
  for (const text of [
    '',
    '{',
    '{}x',
    '[]',
    '{"a"}',
    '{"a":',
    '{"a":}',
    '{"a":1,}',
    '{"a":1 "c":2}',
    '{"a":"',
    '{"a":[1}'
  ]) {
    const picked = decoded(Buffer.from(text), text.length)
    assert.ok(picked === undefined || text === '{}x', text)
  }
})

test('picking ends if most of each document is wanted', () => {
  const [few, most] = [new FieldPicker(new Set(['a'])), new FieldPicker(new Set(['a', 'text']))]
  const record = Buffer.from(JSON.stringify({ a: 1, text: 'x'.repeat(50) }))
  for (let i = 0; i < 64; i++) for (const picker of [few, most]) picker.decode(record, 0, record.length)
  assert.equal([few.isWorthIt, most.isWorthIt], [true, false])
})

/** Keeps a projection out of the read. */
const barrier = { $replaceRoot: { newRoot: '$$ROOT' } }

function texts(found: readonly Document[]): string[] {
  return found.map((document) => stringifyCanonical(document))
}

test('projections, counts and distinct values are the same from picked fields', async () => {
  await using db = await open(scratchPath(), { index: { segmentBits: 512 }, documentCacheBytes: 0 })
  const many = fc.sample(documents(adversarial, 2), { numRuns: 400, seed })
  await db.insertMany(
    many.map((document, i) => ({
      ...Object.fromEntries(Object.entries(document).filter(([key]) => !key.startsWith('$') && key !== '')),
      _id: i
    }))
  )
  const whole = await db.find().toArray()
  for (const projection of [
    { a: 1 },
    { 'a.b': true, _id: 0 },
    { b: 1, 'c.d': 1, _id: 1 },
    { none: 1, _id: false }
  ] as const) {
    for (const filter of [
      {},
      { b: { $exists: true } },
      { a: { $mod: [2, 0] } },
      { $nor: [{ 'c.d': 5 }] },
      { $expr: { $lt: ['$a', '$b'] } }
    ]) {
      for (const sort of [{}, { b: 1, _id: -1 }, { $natural: -1 }] as const) {
        const order = '$natural' in sort ? { _id: -1 } : '_id' in sort ? sort : { _id: 1 }
        const stages = [{ $match: filter }, { $sort: order }, barrier, { $project: projection }]
        const found = texts(await db.find(filter, { projection, sort }).toArray())
        assert.equal(found, texts(await db.aggregate(stages).toArray()), JSON.stringify({ projection, filter, sort }))
      }
      for (const [path, skip] of [
        ['a', 3],
        ['b.a', 150],
        ['c', 1]
      ] as const) {
        // Whole documents, of which all but the first ones are read in part.
        const sort = { [path]: 1, _id: -1 } as const
        const first = texts(await db.find(filter, { sort, skip, limit: 20 }).toArray())
        const stages = [{ $match: filter }, barrier, { $sort: sort }, { $skip: skip }, { $limit: 20 }]
        assert.equal(first, texts(await db.aggregate(stages).toArray()), JSON.stringify({ filter, sort }))
      }
      // A function may look at anything.
      const matches = texts(await db.find({ $and: [filter, { $where: () => true }] }).toArray())
      assert.equal(
        texts(await db.find(filter).toArray()),
        matches,
        'whole documents, tested by the fields of the filter'
      )
      assert.is(await db.countDocuments(filter), matches.length)
    }
  }
  for (const filter of [{ a: { $mod: [2, 0] } }, { b: { $not: { $mod: [2, 0] } } }]) {
    assert.is(await db.countDocuments(filter), (await db.find(filter).toArray()).length)
    const values = async (where: Document): Promise<string[]> =>
      (await db.distinct('c', where)).map((value) => stringifyCanonical({ value })).sort()
    assert.equal(await values(filter), await values({ $and: [filter, { $where: () => true }] }))
  }
  assert.is(whole.length, 400)
})

test('a projection that the caller changes while its cursor is read still has all of its fields', async () => {
  await using db = await open(scratchPath(), { index: { segmentBits: 512 }, documentCacheBytes: 0 })
  // Few matches in the first segment, which are read by key before anything is scanned.
  const isMatch = (i: number): boolean => i >= 512 || i % 10 === 0
  const text = 'x'.repeat(200)
  await db.insertMany(Array.from({ length: 1500 }, (_, i) => ({ _id: i, a: i, isMatch: isMatch(i), text })))
  const projection: Record<string, 1> = { a: 1, _id: 1 }
  const cursor = db.find({ isMatch: true }, { projection })
  const found = [await cursor.next()]
  delete projection.a
  found.push(...(await cursor.toArray()))
  const all = Array.from({ length: 1500 }, (_, i) => ({ _id: i, a: i }))
  assert.equal(
    found,
    all.filter(({ a }) => isMatch(a))
  )
})

test('the projection of findOneAndUpdate() takes nothing from the document', async () => {
  await using db = await open(scratchPath(), { documentCacheBytes: 0 })
  await db.insertMany(Array.from({ length: 2000 }, (_, _id) => ({ _id, n: _id, rest: { is: 'there' } })))
  for (const sort of [undefined, { n: -1 }, { 'rest.is': 1 }] as const) {
    const filter = { n: { $mod: [1000, 7] }, $expr: { $lt: ['$n', 5000] } }
    const options = { projection: { _id: 1 }, ...(sort && { sort }) } as const
    const found = await db.findOneAndUpdate(filter, { $set: { is: 'new' } }, options)
    assert.equal(Object.keys(found ?? {}), ['_id'])
    const _id = (found as { _id: number })._id
    assert.equal(await db.findOne({ _id }), { _id, n: _id, rest: { is: 'there' }, is: 'new' })
  }
})

test.run()
