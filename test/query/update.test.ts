import { Decimal128, Long, ObjectId, Timestamp } from 'bson'
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { PetalError } from '../../src/model/errors.ts'
import type { Document } from '../../src/model/types.ts'
import { compileReplacement, compileUpdate, type UpdateOptions } from '../../src/query/update/update.ts'
import { documentFromFilter } from '../../src/query/update/upsert.ts'
import { describe } from '../support/describe.ts'

const now = new Date(1_700_000_000_123)
const dec = (text: string) => Decimal128.fromString(text)

function apply(document: Document, update: unknown, options: UpdateOptions & { isInsert?: boolean } = {}): Document {
  return compileUpdate(update, options)(document, { isInsert: options.isInsert === true, now })
}

type Case = readonly [claim: string, before: Document, update: Document, after: Document, options?: UpdateOptions]

const cases: readonly Case[] = [
  // $set
  ['$set replaces in place and appends', { a: 1, b: 2 }, { $set: { a: 3, c: 4 } }, { a: 3, b: 2, c: 4 }],
  ['$set creates the levels of a path', { _id: 1 }, { $set: { 'a.b.c': 1 } }, { _id: 1, a: { b: { c: 1 } } }],
  ['$set by digits makes an object where nothing is', {}, { $set: { 'a.0': 1 } }, { a: { 0: 1 } }],
  ['$set by position in an array', { a: [1, 2] }, { $set: { 'a.1': 9 } }, { a: [1, 9] }],
  ['$set beyond the end fills with null', { a: [1] }, { $set: { 'a.3.b': 9 } }, { a: [1, null, null, { b: 9 }] }],
  [
    'new fields are appended in the order of paths',
    {},
    { $set: { b: 1, 'a.10': 1, 'a.9': 2 } },
    { a: { 9: 2, 10: 1 }, b: 1 }
  ],
  ['$set changes the kind of a number', { a: 1 }, { $set: { a: 1n } }, { a: 1n }],
  ['$set of _id to an equal value is allowed', { _id: 1, a: 1 }, { $set: { _id: 1, a: 2 } }, { _id: 1, a: 2 }],
  ['a key that begins with $ may lie inside a value', {}, { $set: { a: { $date: 1 } } }, { a: { $date: 1 } }],
  // $unset
  ['$unset removes a field', { a: 1, b: { c: 1, d: 2 } }, { $unset: { a: '', 'b.c': 1 } }, { b: { d: 2 } }],
  ['$unset in an array leaves null', { a: [1, 2] }, { $unset: { 'a.0': 1 } }, { a: [null, 2] }],
  ['$unset through a scalar, or of nothing, is nothing', { a: 5 }, { $unset: { 'a.b': 1, c: 1, 'd.e': 1 } }, { a: 5 }],
  // $rename
  ['$rename moves a value', { a: 1, b: 2 }, { $rename: { a: 'c.d' } }, { b: 2, c: { d: 1 } }],
  ['$rename overwrites', { a: 1, b: 2 }, { $rename: { a: 'b' } }, { b: 1 }],
  ['$rename of nothing is nothing', { b: 2 }, { $rename: { a: 'c', 'b.x': 'd' } }, { b: 2 }],
  // $currentDate
  [
    '$currentDate sets dates and timestamps',
    {},
    { $currentDate: { a: true, b: { $type: 'date' }, c: { $type: 'timestamp' } } },
    { a: now, b: now, c: new Timestamp({ t: 1_700_000_000, i: 1 }) }
  ],
  // arithmetic
  ['$inc adds, and sets what is missing', { a: 1 }, { $inc: { a: 2, b: 3, 'c.d': -1 } }, { a: 3, b: 3, c: { d: -1 } }],
  ['$inc of a 64-bit integer is exact', { a: 9007199254740993n }, { $inc: { a: 1 } }, { a: 9007199254740994n }],
  ['$inc by a 64-bit integer makes one', { a: 1 }, { $inc: { a: Long.fromNumber(2) } }, { a: 3n }],
  ['$inc of a 64-bit integer by a fraction is a double', { a: 1n }, { $inc: { a: 0.5 } }, { a: 1.5 }],
  [
    '$inc of decimals is decimal',
    { a: dec('0.1'), b: 1, c: 5n, d: 0.1 },
    { $inc: { a: dec('0.20'), b: dec('0.1'), c: dec('1'), d: dec('0.2') } },
    { a: dec('0.30'), b: dec('1.1'), c: dec('6'), d: dec('0.300000000000000') }
  ],
  [
    '$inc keeps NaN and the infinities',
    { a: dec('NaN'), b: dec('Infinity') },
    { $inc: { a: 1, b: -5 } },
    { a: dec('NaN'), b: dec('Infinity') }
  ],
  [
    'decimals are rounded to 34 digits, half to even',
    { a: dec('1000000000000000000000000000000000') },
    { $inc: { a: dec('0.5') } },
    { a: dec('1000000000000000000000000000000000') }
  ],
  [
    '$mul multiplies, and makes zero of what is missing',
    { a: 3, c: dec('1.5') },
    { $mul: { a: 2, b: 5, c: 2, d: 5n } },
    { a: 6, c: dec('3.0'), b: 0, d: 0n }
  ],
  [
    '$min and $max compare across types',
    { a: 5, b: 5, c: 'x', e: 5 },
    { $min: { a: 3, b: 7, c: 1, d: 1, e: null } },
    { a: 3, b: 5, c: 1, e: null, d: 1 }
  ],
  [
    '$max takes the greater',
    { a: 5, b: 5 },
    { $max: { a: 3, b: 7n, c: new Date(0) } },
    { a: 5, b: 7n, c: new Date(0) }
  ],
  [
    '$bit combines integers',
    { a: 13, b: 5n },
    { $bit: { a: { and: 10 }, b: { or: 10 }, c: { xor: 3 } } },
    { a: 8, b: 15n, c: 3 }
  ],
  ['$bit has 64 bits', { a: -1n }, { $bit: { a: { and: 2n ** 62n, or: 1 } } }, { a: 2n ** 62n + 1n }],
  // arrays
  ['$push appends, and makes an array of nothing', { a: [1] }, { $push: { a: [2], b: 1 } }, { a: [1, [2]], b: [1] }],
  ['$push $each $position', { a: [1, 4] }, { $push: { a: { $each: [2, 3], $position: 1 } } }, { a: [1, 2, 3, 4] }],
  [
    '$push counts a negative position from the end',
    { a: [1, 4] },
    { $push: { a: { $each: [2, 3], $position: -1 } } },
    { a: [1, 2, 3, 4] }
  ],
  [
    '$push at a position beyond either end',
    { a: [1], b: [1] },
    { $push: { a: { $each: [2], $position: 9 }, b: { $each: [2], $position: -9 } } },
    { a: [1, 2], b: [2, 1] }
  ],
  ['$push sorts, then slices', { a: [3, 1] }, { $push: { a: { $each: [2], $sort: -1, $slice: 2 } } }, { a: [3, 2] }],
  ['$push slices from the end', { a: [1, 2] }, { $push: { a: { $each: [3], $slice: -2 } } }, { a: [2, 3] }],
  ['$push with $slice 0 empties', { a: [1, 2] }, { $push: { a: { $each: [], $slice: 0 } } }, { a: [] }],
  [
    '$push sorts documents by a path',
    { a: [{ x: 2 }, { y: 1 }] },
    { $push: { a: { $each: [{ x: 1 }], $sort: { x: 1 } } } },
    { a: [{ y: 1 }, { x: 1 }, { x: 2 }] }
  ],
  [
    '$addToSet adds what is not there',
    { a: [1, { b: 1 }] },
    { $addToSet: { a: { b: 1 }, c: 1 } },
    { a: [1, { b: 1 }], c: [1] }
  ],
  ['$addToSet $each adds each once', { a: [1] }, { $addToSet: { a: { $each: [1n, 2, 2, 3] } } }, { a: [1, 2, 3] }],
  ['$addToSet of an array adds the array', { a: [1] }, { $addToSet: { a: [1, 2] } }, { a: [1, [1, 2]] }],
  [
    '$pop takes the last or the first',
    { a: [1, 2, 3], b: [1, 2] },
    { $pop: { a: 1, b: -1, c: 1 } },
    { a: [1, 2], b: [2] }
  ],
  ['$pull by value', { a: [1, 2, 1n, '1', null] }, { $pull: { a: 1 } }, { a: [2, '1', null] }],
  ['$pull of null leaves documents', { a: [1, null, {}] }, { $pull: { a: null } }, { a: [1, {}] }],
  ['$pull by operators', { a: [1, 5, 9] }, { $pull: { a: { $gte: 5, $lt: 9 } } }, { a: [1, 9] }],
  ['$pull by filter', { a: [{ b: 1, c: 1 }, { b: 2 }, 5] }, { $pull: { a: { b: 1 } } }, { a: [{ b: 2 }, 5] }],
  [
    '$pull by a filter with $or',
    { a: [{ b: 1 }, { b: 2 }, { b: 3 }] },
    { $pull: { a: { $or: [{ b: 1 }, { b: 3 }] } } },
    { a: [{ b: 2 }] }
  ],
  ['$pull by regular expression', { a: ['ab', 'cd', 5] }, { $pull: { a: /^a/ } }, { a: ['cd', 5] }],
  ['$pull of an array pulls equal arrays', { a: [[1], [1, 2], 1] }, { $pull: { a: [1] } }, { a: [[1, 2], 1] }],
  ['$pull of nothing is nothing', { b: 1 }, { $pull: { a: 1, 'c.d': 1 } }, { b: 1 }],
  ['$pullAll pulls the values listed', { a: [1, 2, 3, [1]] }, { $pullAll: { a: [1, 3] } }, { a: [2, [1]] }],
  // positional
  [
    '$ is the element that the filter matched',
    { a: [{ b: 1 }, { b: 5, c: 0 }] },
    { $set: { 'a.$.c': 1 } },
    { a: [{ b: 1 }, { b: 5, c: 1 }] },
    { filter: { 'a.b': 5 } }
  ],
  [
    '$ of a scalar array',
    { _id: 1, a: [1, 5, 9] },
    { $inc: { 'a.$': 1 } },
    { _id: 1, a: [1, 6, 9] },
    { filter: { _id: 1, a: { $gt: 3 } } }
  ],
  [
    '$ needs all conditions of the filter',
    {
      a: [
        { b: 1, c: 1 },
        { b: 1, c: 2 }
      ]
    },
    { $set: { 'a.$.d': 1 } },
    {
      a: [
        { b: 1, c: 1 },
        { b: 1, c: 2, d: 1 }
      ]
    },
    { filter: { $and: [{ 'a.b': 1 }, { 'a.c': 2 }] } }
  ],
  [
    '$ with $elemMatch below a path',
    { x: { a: [1, 2] } },
    { $set: { 'x.a.$': 0 } },
    { x: { a: [1, 0] } },
    { filter: { 'x.a': { $elemMatch: { $gte: 2 } } } }
  ],
  [
    '$[] is every element',
    { a: [{ b: [1, 2] }, { b: [3] }] },
    { $inc: { 'a.$[].b.$[]': 10 } },
    { a: [{ b: [11, 12] }, { b: [13] }] }
  ],
  [
    '$[id] is each element its filter matches',
    { a: [{ n: 1 }, { n: 5 }] },
    { $set: { 'a.$[big].c': 1 } },
    { a: [{ n: 1 }, { n: 5, c: 1 }] },
    { arrayFilters: [{ 'big.n': { $gt: 3 } }] }
  ],
  [
    '$[id] of scalars',
    { a: [1, 5, 9] },
    { $max: { 'a.$[x]': 7 } },
    { a: [1, 7, 9] },
    { arrayFilters: [{ $or: [{ x: 5 }, { x: 9 }] }] }
  ],
  ['$[] with $unset leaves null', { a: [1, 2] }, { $unset: { 'a.$[]': 1 } }, { a: [null, null] }]
]

for (const [claim, before, update, after, options] of cases) {
  test(claim, () => {
    const untouched = describe(before)
    assert.is(describe(apply(deepFreeze(before), deepFreeze(update), options)), describe(after))
    assert.is(describe(before), untouched)
  })
}

type Refusal = readonly [code: string, before: Document, update: unknown, message: RegExp, options?: UpdateOptions]

const refused: readonly Refusal[] = [
  ['CommandNotSupported', {}, [{ $set: { a: 1 } }], /pipeline/],
  ['TypeMismatch', {}, 'x', /object, not string/],
  ['BadValue', {}, {}, /needs operators/],
  ['BadValue', {}, { a: 1 }, /replaceOne/],
  ['FailedToParse', {}, { $set: { a: 1 }, b: 1 }, /b: is not an update operator/],
  ['FailedToParse', {}, { $sett: { a: 1 } }, /\$sett/],
  ['FailedToParse', {}, { $set: 'a' }, /\$set: takes an object.*string/],
  ['ConflictingUpdateOperators', {}, { $set: { a: 1 }, $inc: { a: 1 } }, /\$inc at 'a'/],
  ['ConflictingUpdateOperators', {}, { $set: { 'a.b': 1, a: 1 } }, /'a.b'.*conflict at 'a'/],
  ['ConflictingUpdateOperators', {}, { $rename: { a: 'b' }, $set: { 'b.c': 1 } }, /conflict at 'b'/],
  ['EmptyFieldName', {}, { $set: { '': 1 } }, /empty/],
  ['EmptyFieldName', {}, { $set: { 'a..b': 1 } }, /'a\.\.b'/],
  ['DollarPrefixedFieldName', {}, { $set: { 'a.$x': 1 } }, /\$x/],
  ['BadValue', {}, { $set: { '$[].a': 1 } }, /array before it/],
  ['BadValue', {}, { $set: { 'a.__proto__.b': 1 } }, /__proto__/],
  ['BadValue', {}, { $set: JSON.parse('{"a":{"__proto__":1}}') }, /__proto__/],
  ['BadValue', {}, { $set: { a: undefined } }, /undefined.*\$unset/],
  ['BadValue', {}, { $set: { a: () => 1 } }, /function/],
  ['BadValue', { a: [{ b: 1 }] }, { $pull: { a: { b: undefined } } }, /undefined/],
  ['PathNotViable', { a: 5 }, { $set: { 'a.b': 1 } }, /\$set at 'a.b': cannot create field 'b' in 'a' of type number/],
  ['PathNotViable', { a: null }, { $inc: { 'a.b': 1 } }, /null/],
  ['PathNotViable', { a: [1] }, { $push: { 'a.b': 1 } }, /array/],
  ['BadValue', { a: [] }, { $set: { 'a.2000000': 1 } }, /beyond the end/],
  ['ImmutableField', { _id: 1 }, { $set: { _id: 2 } }, /_id/],
  ['ImmutableField', { _id: 1 }, { $unset: { _id: 1 } }, /_id/],
  ['ImmutableField', { _id: { a: 1 } }, { $set: { '_id.a': 2 } }, /_id/],
  ['ImmutableField', { _id: 1 }, { $rename: { _id: 'x' } }, /_id/],
  ['TypeMismatch', { a: 'x' }, { $inc: { a: 1 } }, /\$inc at 'a'.*string/],
  ['TypeMismatch', { a: null }, { $mul: { a: 1 } }, /null/],
  ['TypeMismatch', {}, { $inc: { a: '1' } }, /takes a number, not string/],
  ['BadValue', { a: 2n ** 63n - 1n }, { $inc: { a: 1 } }, /64 bits/],
  ['BadValue', { a: 2n ** 62n }, { $mul: { a: 2n } }, /64 bits/],
  ['BadValue', { a: 1.5 }, { $bit: { a: { and: 1 } } }, /no integer/],
  ['BadValue', {}, { $bit: { a: { nand: 1 } } }, /nand/],
  ['BadValue', {}, { $bit: { a: 1 } }, /object/],
  ['BadValue', { a: 5 }, { $push: { a: 1 } }, /\$push at 'a'.*number/],
  ['BadValue', {}, { $push: { a: { $each: 1 } } }, /\$each takes an array/],
  ['BadValue', {}, { $push: { a: { $slice: 1 } } }, /needs \$each/],
  ['BadValue', {}, { $push: { a: { $each: [], $x: 1 } } }, /\$x/],
  ['BadValue', {}, { $push: { a: { $each: [], $slice: 1.5 } } }, /integer/],
  ['BadValue', {}, { $push: { a: { $each: [], $sort: 2 } } }, /\$sort/],
  ['BadValue', { a: 5 }, { $addToSet: { a: 1 } }, /number/],
  ['FailedToParse', {}, { $pop: { a: 2 } }, /\$pop/],
  ['TypeMismatch', { a: 5 }, { $pop: { a: 1 } }, /number/],
  ['BadValue', { a: 5 }, { $pull: { a: 1 } }, /non-array type number/],
  ['BadValue', {}, { $pullAll: { a: 1 } }, /array/],
  ['BadValue', {}, { $rename: { a: 5 } }, /string/],
  ['BadValue', {}, { $rename: { a: 'a' } }, /differ/],
  ['BadValue', { a: [{ b: 1 }] }, { $rename: { 'a.0.b': 'c' } }, /array/],
  ['BadValue', {}, { $currentDate: { a: 'x' } }, /string/],
  ['BadValue', {}, { $currentDate: { a: { $type: 'time' } } }, /time/],
  ['BadValue', { a: [1] }, { $set: { 'a.$': 1 } }, /did not find the match/],
  ['BadValue', { a: [1] }, { $set: { 'a.$': 1 } }, /did not find the match/, { filter: { b: 1 } }],
  ['BadValue', {}, { $set: { 'a.$.b.$': 1 } }, /more than one/],
  ['BadValue', {}, { $set: { 'a.$[]': 1 } }, /must exist/],
  ['BadValue', { a: 5 }, { $set: { 'a.$[]': 1 } }, /type number/],
  ['BadValue', { a: [1] }, { $set: { 'a.$[x]': 1 } }, /'x'/],
  ['FailedToParse', { a: [1] }, { $set: { b: 1 } }, /not used/, { arrayFilters: [{ x: 1 }] }],
  [
    'FailedToParse',
    { a: [1] },
    { $set: { 'a.$[x]': 1 } },
    /'x', 'y'|one identifier/,
    { arrayFilters: [{ x: 1, y: 1 }] }
  ],
  ['BadValue', { a: [1] }, { $set: { 'a.$[X]': 1 } }, /lowercase/, { arrayFilters: [{ X: 1 }] }]
]

for (const [code, before, update, message, options] of refused) {
  test(`refuses ${describe(update)} on ${describe(before)}`, () => {
    const untouched = describe(before)
    assert.throws(
      () => apply(deepFreeze(before), update, options),
      (error: unknown) => {
        assert.instance(error, PetalError)
        assert.is((error as PetalError).codeName, code, (error as PetalError).message)
        assert.match((error as PetalError).message, message)
        return true
      }
    )
    assert.is(describe(before), untouched)
  })
}

test('an update that changes nothing returns the very same document', () => {
  const document = deepFreeze({
    _id: new ObjectId(),
    a: 1,
    b: { c: [1, 2] },
    d: new Date(5),
    e: dec('1.0'),
    f: Uint8Array.of(1)
  })
  const updates: Document[] = [
    { $set: { a: 1, 'b.c': [1, 2], d: new Date(5), e: dec('1.0'), f: Uint8Array.of(1) } },
    { $unset: { z: 1 }, $inc: { a: 0 }, $max: { 'b.c.1': 2 } },
    { $addToSet: { 'b.c': { $each: [1, 2] } } },
    { $pull: { 'b.c': 9 }, $pop: { z: 1 } },
    { $setOnInsert: { z: 1 } },
    { $set: {} }
  ]
  for (const update of updates) assert.is(apply(document, update), document, describe(update))
})

test('what did not change is shared with the result', () => {
  const document = { a: { b: 1 }, c: { d: 2 } }
  const result = apply(document, { $set: { 'a.b': 2 } })
  assert.is(result.c, document.c)
  assert.is.not(result.a, document.a)
})

test('$setOnInsert counts for an insert only, where _id may be set', () => {
  const update = { $setOnInsert: { _id: 7, a: 1 }, $set: { b: 2 } }
  assert.equal(apply({}, update, { isInsert: true }), { _id: 7, a: 1, b: 2 })
  assert.equal(apply({ _id: 1 }, { $setOnInsert: { a: 1 }, $set: { b: 2 } }), { _id: 1, b: 2 })
})

test('changing the update, or a result, later changes nothing', () => {
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

test('a replacement that changes nothing returns the very same document', () => {
  const document = { _id: 5, a: { b: [1] } }
  assert.is(compileReplacement({ a: { b: [1] } })(document, { isInsert: false, now }), document)
})

test('a replacement is refused with operators, another _id, or no object', () => {
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
    $or: [{ h: 5 }]
  }
  assert.is(describe(documentFromFilter(filter)), describe({ _id: 9, a: 1, b: { c: 2 }, f: 4, h: 5 }))
  assert.throws(() => documentFromFilter({ a: 1, $and: [{ 'a.b': 2 }] }), /conflict/)
  assert.throws(() => documentFromFilter({ 'a.__proto__': 1 }), /__proto__/)
})

function deepFreeze<T>(value: T): T {
  if (typeof value !== 'object' || value === null || ArrayBuffer.isView(value)) return value
  if (value instanceof Decimal128 || value instanceof ObjectId || value instanceof Timestamp) return value
  for (const field of Object.values(value)) deepFreeze(field)
  return Object.freeze(value)
}

test.run()
