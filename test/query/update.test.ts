import { Decimal128, Double, Int32, ObjectId } from 'bson'
import fc from 'fast-check'
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { PetalError } from '../../src/model/errors.ts'
import { parseJson, stringifyCanonical } from '../../src/model/extended-json.ts'
import type { Document } from '../../src/model/types.ts'
import { compileReplacement, compileUpdate } from '../../src/query/update/update.ts'
import { documentFromFilter, identityFromFilter } from '../../src/query/update/upsert.ts'
import { cpuMilliseconds } from '../support/cpu-time.ts'
import { describe } from '../support/describe.ts'
import { apply, deepFreeze, now } from '../support/updates.ts'
import { anyValue, number, seedOfRun } from '../support/values.ts'

const seed = seedOfRun()
const dec = (text: string) => Decimal128.fromString(text)

test('an update that changes nothing returns the same object', () => {
  const document = deepFreeze({
    _id: new ObjectId(),
    a: 1,
    b: { c: [1, 2] },
    d: new Date(5),
    e: dec('1.0'),
    f: Uint8Array.of(1),
    g: Number.NaN,
    h: [null, { i: [null] }]
  })
  const updates: Document[] = [
    { $set: { a: 1, 'b.c': [1, 2], d: new Date(5), e: dec('1.0'), f: Uint8Array.of(1) } },
    { $unset: { z: 1 }, $inc: { a: 0 }, $max: { 'b.c.1': 2 } },
    { $unset: { 'h.0': 1, 'h.1.i.$[]': 1, 'h.7': 1 } },
    { $addToSet: { 'b.c': { $each: [1, 2] } } },
    { $pull: { 'b.c': 9 }, $pop: { z: 1 } },
    { $setOnInsert: { z: 1 } },
    { $inc: { g: 1 }, $min: { a: 5 } },
    { $set: { a: new Int32(1), 'b.c.0': new Double(1) } },
    { $set: {} }
  ]
  for (const update of updates) assert.is(apply(document, update), document, describe(update))
})

test('the result shares unchanged values with the document', () => {
  const document = { a: { b: 1 }, c: { d: 2 } }
  const result = apply(document, { $set: { 'a.b': 2 } })
  assert.is(result.c, document.c)
  assert.is.not(result.a, document.a)
})

test('$setOnInsert applies to inserts only, and may set _id', () => {
  const update = { $setOnInsert: { _id: 7, a: 1 }, $set: { b: 2 } }
  assert.equal(apply({}, update, { isInsert: true }), { _id: 7, a: 1, b: 2 })
  assert.equal(apply({ _id: 1 }, { $setOnInsert: { a: 1 }, $set: { b: 2 } }), { _id: 1, b: 2 })
})

test('changing the update object later has no effect', () => {
  const list = [1]
  const update = compileUpdate({ $set: { a: list }, $push: { b: { $each: [list] } } })
  list.push(2)
  assert.equal(update({}, { isInsert: false, now }), { a: [1], b: [[1]] })
})

test('a replacement keeps _id and its place', () => {
  const context = { isInsert: false, now }
  const replace = compileReplacement({ b: 2, gone: undefined })
  const result = replace({ a: 1, _id: 5 }, context)
  assert.is(describe(result), describe({ _id: 5, b: 2 }))
  assert.is(describe(compileReplacement({ b: 2, _id: 5n })({ _id: 5 }, context)), describe({ b: 2, _id: 5 }))
  assert.equal(replace({}, context), { b: 2 })
})

test('a replacement that changes nothing returns the same object', () => {
  const document = { _id: 5, a: { b: [1] } }
  assert.is(compileReplacement({ a: { b: [1] } })(document, { isInsert: false, now }), document)
})

test('a replacement with operators or another _id, or that is not an object, is refused', () => {
  const codes = [
    () => compileReplacement({ $set: { a: 1 } }),
    () => compileReplacement({ _id: 2 })({ _id: 1 }, { isInsert: false, now }),
    () => compileReplacement([1])
  ].map((run) => {
    try {
      run()
    } catch (error) {
      return (error as PetalError).codeName
    }
    return 'nothing'
  })
  assert.equal(codes, ['BadValue', 'ImmutableField', 'TypeMismatch'])
})

test('an upsert starts from the equalities of its filter, _id first', () => {
  const filter = {
    a: 1,
    'b.c': { $eq: 2 },
    d: { $gt: 3 },
    e: /x/,
    $and: [{ _id: 9 }, { f: { $in: [4] } }, { g: { $in: [1, 2] } }],
    $or: [{ h: 5 }],
    i: { $all: [6] }
  }
  assert.is(describe(documentFromFilter(filter)), describe({ _id: 9, a: 1, b: { c: 2 }, f: 4, h: 5, i: 6 }))
  for (const [documentFrom, refused, code] of [
    [documentFromFilter, { a: 1, $and: [{ 'a.b': 2 }] }, 'NotSingleValueField'],
    [documentFromFilter, { a: 1, $and: [{ a: 1 }] }, 'NotSingleValueField'],
    [documentFromFilter, { a: { $all: [1, /x/, 2] } }, 'NotSingleValueField'],
    [documentFromFilter, { _id: { x: 1 }, '_id.x': 1 }, 'NotSingleValueField'],
    [identityFromFilter, { _id: { $all: [1, 2] }, a: 1 }, 'NotSingleValueField'],
    [identityFromFilter, { '_id.x': 1 }, 'NotExactValueField'],
    [identityFromFilter, { $or: [{ '_id.x': { $eq: 1 } }] }, 'NotExactValueField']
  ] as const) {
    assert.throws(
      () => documentFrom(refused),
      (error: unknown) => (error as PetalError).codeName === code
    )
  }
  assert.is(describe(identityFromFilter({ b: 1, 'a.c': 1, a: 2, _id: 3 })), describe({ _id: 3 }))
  assert.throws(() => documentFromFilter({ 'a.__proto__': 1 }), /__proto__/)
  assert.throws(() => documentFromFilter({ 'a.$': 1 }), /positional/)
})

test('the fields of a DBRef can be changed', () => {
  const before = { a: { $ref: 'c', $id: 1 }, b: [{ $ref: 'c', $id: 2 }] }
  const update = { $set: { 'a.$id': 3 }, $unset: { 'b.$[].$db': 1 }, $inc: { 'b.0.$id': 1 } }
  assert.throws(() => apply(before, update), /conflict/)
  const { $unset: _, ...others } = update
  assert.equal(apply(before, others), { a: { $ref: 'c', $id: 3 }, b: [{ $ref: 'c', $id: 3 }] })
  assert.equal(documentFromFilter({ 'a.$id': 4, 'a.$ref': 'd' }), { a: { $id: 4, $ref: 'd' } })
})

test('the fields that an upsert takes from its filter are in the order of their paths', () => {
  const filter = { z: 1, 'b.y': 2, 'b.x': 3, '_id.b': 4, '_id.a': 5, a: { $all: [/x/, 6] }, Z: 7 }
  assert.is(
    describe(documentFromFilter(filter)),
    describe({ _id: { a: 5, b: 4 }, Z: 7, a: 6, b: { x: 3, y: 2 }, z: 1 })
  )
})

const key = fc.constantFrom('a', 'b', '0', '1')
const path = fc.oneof(
  { arbitrary: key, weight: 6 },
  fc.array(key, { minLength: 1, maxLength: 3 }).map((keys) => keys.join('.')),
  fc.tuple(key, fc.constantFrom('$[]', '$[x]', '$'), key).map(([first, step, last]) => `${first}.${step}.${last}`),
  fc.tuple(key, fc.constantFrom('$[]', '$[x]', '$')).map((steps) => steps.join('.'))
)
const small = fc.integer({ min: -3, max: 3 })
const operands: Readonly<Record<string, fc.Arbitrary<unknown>>> = {
  $set: fc.oneof(anyValue, small),
  $unset: fc.constant(''),
  $rename: path,
  $inc: fc.oneof(small, number),
  $mul: fc.oneof(small, number),
  $min: anyValue,
  $max: anyValue,
  $push: fc.oneof(small, fc.record({ $each: fc.array(anyValue, { maxLength: 3 }), $slice: small })),
  $addToSet: fc.oneof(small, fc.record({ $each: fc.array(anyValue, { maxLength: 3 }) })),
  $pop: fc.constantFrom(1, -1),
  $pull: fc.oneof(small, fc.record({ $gt: small }), anyValue),
  $pullAll: fc.array(small, { maxLength: 3 }),
  $bit: fc.record({ xor: small })
}
const anyOperator = fc.oneof(
  ...Object.entries(operands).map(([name, operand]) =>
    fc
      .dictionary(path, operand, { minKeys: 1, maxKeys: 2, noNullPrototype: true })
      .map((paths): Document => ({ [name]: paths }))
  )
)
const anyUpdate = fc
  .array(anyOperator, { minLength: 1, maxLength: 2 })
  .map((parts): Document => Object.assign({}, ...parts))
const field = fc.oneof(anyValue, fc.integer({ min: -3, max: 3 }), fc.array(small, { maxLength: 3 }))
const documentOfFields = fc.letrec((tie) => ({
  object: fc.dictionary(key, fc.oneof({ maxDepth: 3 }, field, tie('object')), { maxKeys: 4, noNullPrototype: true })
})).object as fc.Arbitrary<Document>

test('thousands of changes in one object, and an upsert of as many fields, take time in proportion', () => {
  const names = Array.from({ length: 10_000 }, (_, i) => `f${i}`)
  const eachField = (value: unknown, path: (name: string) => string) =>
    Object.fromEntries(names.map((name) => [path(name), value]))
  const document = deepFreeze({ _id: 1, ...eachField(1, String), g: eachField(1, String), list: names })
  const inG = (name: string) => `g.${name}`
  const start = cpuMilliseconds()
  assert.equal(apply(document, { $inc: eachField(1, inG) }).g, eachField(2, String))
  assert.equal(apply(document, { $set: eachField('new', inG), $unset: eachField('', String) }), {
    _id: 1,
    g: eachField('new', String),
    list: names
  })
  assert.equal(apply(document, { $set: Object.fromEntries(names.map((_, i) => [`list.${i}`, i])) }).list, [
    ...names.keys()
  ])
  const renames = Object.fromEntries(names.map((name) => [inG(name), `h.${name}`]))
  assert.equal(apply(document, { $rename: renames }).h, document.g)
  assert.equal(documentFromFilter(eachField(3, inG)), { g: eachField(3, String) })
  // Copying for each change, it was a minute.
  const elapsed = cpuMilliseconds() - start
  assert.ok(elapsed < 10_000, `${elapsed} ms`)
})

test('many operands of $addToSet and $pullAll leave what they leave one by one', () => {
  const value = fc.oneof(anyValue, number, fc.constantFrom('a', null, [1], { a: 1 }))
  const some = fc.array(value, { maxLength: 20 })
  fc.assert(
    fc.property(some, some, (a, operands) => {
      const document = deepFreeze({ _id: 1, a: [...a, ...operands.filter((_, i) => i % 3 === 0)] })
      for (const operator of ['$addToSet', '$pullAll']) {
        const together = apply(document, {
          [operator]: { a: operator === '$pullAll' ? operands : { $each: operands } }
        })
        const oneByOne = operands.reduce<Document>(
          (left, each) => apply(left, { [operator]: { a: operator === '$pullAll' ? [each] : { $each: [each] } } }),
          document
        )
        assert.is(stringifyCanonical(together), stringifyCanonical(oneByOne), describe(operands))
      }
    }),
    { seed, numRuns: 3000 }
  )
  const numbers = Array.from({ length: 100_000 }, (_, i) => i)
  const start = cpuMilliseconds()
  const half = apply({ _id: 1, a: numbers }, { $pullAll: { a: numbers.slice(50_000) } })
  assert.is((apply(half, { $addToSet: { a: { $each: numbers } } }).a as unknown[]).length, 100_000)
  // Comparing each with each, it was minutes.
  const elapsed = cpuMilliseconds() - start
  assert.ok(elapsed < 10_000, `${elapsed} ms`)
})

test('changes of one update leave what they leave one by one', () => {
  const path = fc.constantFrom(
    'a.b',
    'a.c',
    'a.l.0',
    'a.l.1',
    'a.l.$[].x',
    'a.l.2.y',
    'd.e.f',
    'd.e.g',
    'd.h',
    'i',
    'j'
  )
  const change = fc.tuple(fc.constantFrom('$set', '$unset', '$min'), path, fc.oneof(anyValue, fc.constant({ x: {} })))
  const inner = fc.record({ x: fc.nat(3), y: fc.nat(3) }, { requiredKeys: [] })
  const documents = fc.record(
    {
      a: fc.record({ b: fc.nat(3), c: inner, l: fc.array(inner, { minLength: 2, maxLength: 3 }) }),
      d: fc.record({ e: fc.record({ f: fc.nat(3), g: inner }, { requiredKeys: [] }) }, { requiredKeys: [] }),
      i: inner
    },
    { requiredKeys: [] }
  )
  fc.assert(
    fc.property(documents, fc.array(change, { minLength: 2, maxLength: 6 }), (document, changes) => {
      const update: Record<string, Record<string, unknown>> = {}
      for (const [operator, at, operand] of changes) update[operator] = { ...update[operator], [at]: operand }
      deepFreeze(document)
      deepFreeze(update)
      let together: Document
      try {
        together = apply(document, update)
      } catch (error) {
        assert.instance(error, PetalError)
        return
      }
      // By path, as an update does.
      const each = Object.entries(update).flatMap(([name, by]) =>
        Object.entries(by).map(([at, of]) => ({ name, at, of }))
      )
      const ordered = each.sort((one, other) => (one.at < other.at ? -1 : 1))
      const oneByOne = ordered.reduce<Document>(
        (left, { name, at, of }) => apply(left, { [name]: { [at]: of } }),
        document
      )
      assert.is(stringifyCanonical(together), stringifyCanonical(oneByOne), describe(update))
    }),
    { seed, numRuns: 5000 }
  )
})

test('any update keeps _id, leaves the document intact, and returns it exactly if nothing changes', () => {
  let applied = 0
  fc.assert(
    fc.property(documentOfFields, anyUpdate, (fields, update) => {
      // As read from the store: without Int32, Double and Long.
      const document = deepFreeze(parseJson(stringifyCanonical({ _id: 1, ...fields })) as Document)
      const before = describe(document)
      const options = { filter: { a: { $gte: -9 } }, arrayFilters: usesFilter(update) ? [{ x: { $gt: 0 } }] : [] }
      let result: Document
      try {
        result = apply(document, deepFreeze(update), options)
      } catch (error) {
        if (!(error instanceof PetalError)) throw error
        result = document
      }
      applied += result === document ? 0 : 1
      assert.is(describe(document), before)
      assert.is(result === document, describe(result) === before)
      assert.is(result._id, 1)
    }),
    { seed, numRuns: 10_000 }
  )
  assert.ok(applied > 1000, `${applied} of 10,000 changed something`)
})

function usesFilter(update: unknown): boolean {
  return JSON.stringify(Object.values(update as Document).flatMap((paths) => Object.keys(paths as Document))).includes(
    '$[x]'
  )
}

test.run()
