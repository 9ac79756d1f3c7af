import { Decimal128, Long, Timestamp } from 'bson'
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import type { Document } from '../../src/model/types.ts'
import type { UpdateOptions } from '../../src/query/update/update.ts'
import { describe } from '../support/describe.ts'
import { apply, deepFreeze, now } from '../support/updates.ts'

const dec = (text: string) => Decimal128.fromString(text)

type Case = readonly [claim: string, before: Document, update: Document, after: Document, options?: UpdateOptions]

const cases: readonly Case[] = [
  // $set
  ['$set replaces in place and appends', { a: 1, b: 2 }, { $set: { a: 3, c: 4 } }, { a: 3, b: 2, c: 4 }],
  ['$set creates the levels of a path', { _id: 1 }, { $set: { 'a.b.c': 1 } }, { _id: 1, a: { b: { c: 1 } } }],
  ['$set by digits creates an object if the field is missing', {}, { $set: { 'a.0': 1 } }, { a: { 0: 1 } }],
  ['$set by position replaces an element of an array', { a: [1, 2] }, { $set: { 'a.1': 9 } }, { a: [1, 9] }],
  ['$set beyond the end fills with null', { a: [1] }, { $set: { 'a.3.b': 9 } }, { a: [1, null, null, { b: 9 }] }],
  [
    'new fields are appended in the order of paths',
    {},
    { $set: { b: 1, 'a.10': 1, 'a.9': 2 } },
    { a: { 9: 2, 10: 1 }, b: 1 }
  ],
  ['$set changes the kind of a number', { a: 1 }, { $set: { a: 1n } }, { a: 1n }],
  ['$set of _id to an equal value is allowed', { _id: 1, a: 1 }, { $set: { _id: 1, a: 2 } }, { _id: 1, a: 2 }],
  ['a value may contain keys that begin with $', {}, { $set: { a: { $date: 1 } } }, { a: { $date: 1 } }],
  // $unset
  ['$unset removes a field', { a: 1, b: { c: 1, d: 2 } }, { $unset: { a: '', 'b.c': 1 } }, { b: { d: 2 } }],
  ['$unset in an array leaves null', { a: [1, 2] }, { $unset: { 'a.0': 1 } }, { a: [null, 2] }],
  ['$unset of missing fields has no effect', { a: 5 }, { $unset: { 'a.b': 1, c: 1, 'd.e': 1 } }, { a: 5 }],
  // $rename
  ['$rename moves a value', { a: 1, b: 2 }, { $rename: { a: 'c.d' } }, { b: 2, c: { d: 1 } }],
  ['$rename overwrites', { a: 1, b: 2 }, { $rename: { a: 'b' } }, { b: 1 }],
  ['$rename of a missing field has no effect', { b: {} }, { $rename: { a: 'c', 'b.x': 'd', 'e.f': 'g' } }, { b: {} }],
  [
    '$rename of a missing field has no effect whatever the new path',
    { b: [2], c: 1 },
    { $rename: { a: 'b.x', 'b.1': 'c.d' } },
    { b: [2], c: 1 }
  ],
  // $currentDate
  [
    '$currentDate sets dates and timestamps',
    {},
    { $currentDate: { a: true, b: { $type: 'date' }, c: { $type: 'timestamp' } } },
    { a: now, b: now, c: new Timestamp({ t: 1_700_000_000, i: 1 }) }
  ],
  // arithmetic
  ['$inc adds, and sets missing fields', { a: 1 }, { $inc: { a: 2, b: 3, 'c.d': -1 } }, { a: 3, b: 3, c: { d: -1 } }],
  ['$inc of a 64-bit integer is exact', { a: 9007199254740993n }, { $inc: { a: 1 } }, { a: 9007199254740994n }],
  ['$inc by a 64-bit integer returns one', { a: 1 }, { $inc: { a: Long.fromNumber(2) } }, { a: 3n }],
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
    '$mul multiplies, and sets missing fields to zero',
    { a: 3, c: dec('1.5') },
    { $mul: { a: 2, b: 5, c: 2, d: 5n } },
    { a: 6, c: dec('3.0'), b: 0, d: 0n }
  ],
  [
    'a product of 32-bit integers is exact, one of others a double',
    { a: 2147483647, b: -2147483648, c: 2147483648, d: 94906267 },
    { $mul: { a: 2147483647, b: 2147483647, c: 2147483647, d: 94906267 } },
    { a: 4611686014132420609n, b: -4611686016279904256n, c: 4611686016279904000, d: 9007199515875289n }
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
  ['$bit combines 64 bits', { a: -1n }, { $bit: { a: { and: 2n ** 62n, or: 1 } } }, { a: 2n ** 62n + 1n }],
  // arrays
  ['$push appends, and creates missing arrays', { a: [1] }, { $push: { a: [2], b: 1 } }, { a: [1, [2]], b: [1] }],
  [
    '$push with $position inserts',
    { a: [1, 4] },
    { $push: { a: { $each: [2, 3], $position: 1 } } },
    { a: [1, 2, 3, 4] }
  ],
  [
    '$push counts a negative position from the end',
    { a: [1, 4] },
    { $push: { a: { $each: [2, 3], $position: -1 } } },
    { a: [1, 2, 3, 4] }
  ],
  [
    '$push at a position beyond either end adds there',
    { a: [1], b: [1] },
    { $push: { a: { $each: [2], $position: 9 }, b: { $each: [2], $position: -9 } } },
    { a: [1, 2], b: [2, 1] }
  ],
  ['$push sorts, then slices', { a: [3, 1] }, { $push: { a: { $each: [2], $sort: -1, $slice: 2 } } }, { a: [3, 2] }],
  ['$push sorts by a bigint', { a: [3, 1] }, { $push: { a: { $each: [2], $sort: 1n } } }, { a: [1, 2, 3] }],
  ['$push sorts by a Long', { a: [3, 1] }, { $push: { a: { $each: [2], $sort: Long.NEG_ONE } } }, { a: [3, 2, 1] }],
  ['$push slices from the end', { a: [1, 2] }, { $push: { a: { $each: [3], $slice: -2 } } }, { a: [2, 3] }],
  ['$push with $slice 0 empties the array', { a: [1, 2] }, { $push: { a: { $each: [], $slice: 0 } } }, { a: [] }],
  [
    '$push sorts documents by a path',
    { a: [{ x: 2 }, { y: 1 }] },
    { $push: { a: { $each: [{ x: 1 }], $sort: { x: 1 } } } },
    { a: [{ y: 1 }, { x: 1 }, { x: 2 }] }
  ],
  [
    '$push sorts arrays at the end of a path as arrays',
    { a: [{ x: [5, 1] }, { x: 3 }, { x: [] }] },
    { $push: { a: { $each: [{ y: 1 }], $sort: { x: 1 } } } },
    { a: [{ y: 1 }, { x: 3 }, { x: [] }, { x: [5, 1] }] }
  ],
  [
    '$push sorts by paths that lead into arrays by position only',
    { a: [{ x: { y: 2 } }, { x: [{ y: 1 }] }, { x: [{ y: 9 }] }] },
    { $push: { a: { $each: [], $sort: { 'x.y': -1, 'x.0.y': -1 } } } },
    { a: [{ x: { y: 2 } }, { x: [{ y: 9 }] }, { x: [{ y: 1 }] }] }
  ],
  [
    '$addToSet adds a value that is missing',
    { a: [1, { b: 1 }] },
    { $addToSet: { a: { b: 1 }, c: 1 } },
    { a: [1, { b: 1 }], c: [1] }
  ],
  ['$addToSet $each adds each once', { a: [1] }, { $addToSet: { a: { $each: [1n, 2, 2, 3] } } }, { a: [1, 2, 3] }],
  ['$addToSet of an array adds the array', { a: [1] }, { $addToSet: { a: [1, 2] } }, { a: [1, [1, 2]] }],
  [
    '$pop removes the last element or the first',
    { a: [1, 2, 3], b: [1, 2] },
    { $pop: { a: 1, b: -1, c: 1 } },
    { a: [1, 2], b: [2] }
  ],
  ['$pull removes equal values', { a: [1, 2, 1n, '1', null] }, { $pull: { a: 1 } }, { a: [2, '1', null] }],
  ['$pull of null leaves documents', { a: [1, null, {}] }, { $pull: { a: null } }, { a: [1, {}] }],
  [
    '$pull removes values that satisfy operators',
    { a: [1, 5, 9] },
    { $pull: { a: { $gte: 5, $lt: 9 } } },
    { a: [1, 9] }
  ],
  [
    '$pull removes documents that match a filter',
    { a: [{ b: 1, c: 1 }, { b: 2 }, 5] },
    { $pull: { a: { b: 1 } } },
    { a: [{ b: 2 }, 5] }
  ],
  [
    '$pull accepts a filter with $or',
    { a: [{ b: 1 }, { b: 2 }, { b: 3 }] },
    { $pull: { a: { $or: [{ b: 1 }, { b: 3 }] } } },
    { a: [{ b: 2 }] }
  ],
  ['$pull removes strings that match a pattern', { a: ['ab', 'cd', 5] }, { $pull: { a: /^a/ } }, { a: ['cd', 5] }],
  ['$pull of an array pulls equal arrays', { a: [[1], [1, 2], 1] }, { $pull: { a: [1] } }, { a: [[1, 2], 1] }],
  [
    '$pull by operators also removes arrays, if a field with that value would match',
    { a: [[6], [1], 6, [], [[6]]] },
    { $pull: { a: { $gte: 5 } } },
    { a: [[1], [], [[6]]] }
  ],
  [
    '$pull by $ne keeps arrays that contain the value',
    { a: [[1], 1, 2, [2]] },
    { $pull: { a: { $ne: 1 } } },
    { a: [[1], 1] }
  ],
  ['$pull by $size removes arrays', { a: [[1], [1, 2], 2] }, { $pull: { a: { $size: 2 } } }, { a: [[1], 2] }],
  [
    '$pull by $elemMatch removes arrays',
    { a: [[1], [5], 5] },
    { $pull: { a: { $elemMatch: { $gt: 2 } } } },
    { a: [[1], 5] }
  ],
  ['$pull by a pattern also removes arrays', { a: [['x'], 'x', ['y']] }, { $pull: { a: /x/ } }, { a: [['y']] }],
  ['$pull from missing fields has no effect', { b: 1 }, { $pull: { a: 1, 'c.d': 1 } }, { b: 1 }],
  ['$pullAll removes the listed values', { a: [1, 2, 3, [1]] }, { $pullAll: { a: [1, 3] } }, { a: [2, [1]] }],
  // positional
  [
    '$ is the element that the filter matched',
    { a: [{ b: 1 }, { b: 5, c: 0 }] },
    { $set: { 'a.$.c': 1 } },
    { a: [{ b: 1 }, { b: 5, c: 1 }] },
    { filter: { 'a.b': 5 } }
  ],
  [
    '$ may be a scalar element',
    { _id: 1, a: [1, 5, 9] },
    { $inc: { 'a.$': 1 } },
    { _id: 1, a: [1, 6, 9] },
    { filter: { _id: 1, a: { $gt: 3 } } }
  ],
  [
    '$ is an element that satisfies all conditions of the filter',
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
    '$ ignores conditions that the array itself satisfies',
    { a: [{ b: 1 }, { c: 2 }, { b: 1, c: 2 }] },
    { $set: { 'a.$.d': 1 } },
    { a: [{ b: 1 }, { c: 2 }, { b: 1, c: 2, d: 1 }] },
    { filter: { a: { $exists: true, $type: 'array' }, 'a.b': 1, 'a.c': { $exists: true } } }
  ],
  [
    '$ depends on the last condition if no element satisfies all',
    { a: [1, 2, 3] },
    { $set: { 'a.$': 0 } },
    { a: [1, 2, 0] },
    { filter: { $and: [{ a: 1 }, { a: 2 }, { a: 3 }] } }
  ],
  [
    '$ is the element with a digit key, not the one at that position',
    { a: [5, 5, { 1: 6 }] },
    { $set: { 'a.$': 0 } },
    { a: [5, 5, 0] },
    { filter: { 'a.1': 6 } }
  ],
  [
    '$ may be an array within the array',
    { a: [1, [2], [1]] },
    { $set: { 'a.$': 0 } },
    { a: [1, [2], 0] },
    { filter: { a: [1] } }
  ],
  [
    '$ works with $or',
    { a: [1, 2, 3] },
    { $set: { 'a.$': 0 } },
    { a: [1, 0, 3] },
    { filter: { $or: [{ a: 3 }, { a: 2 }] } }
  ],
  [
    '$ works with $elemMatch below a path',
    { x: { a: [1, 2] } },
    { $set: { 'x.a.$': 0 } },
    { x: { a: [1, 0] } },
    { filter: { 'x.a': { $elemMatch: { $gte: 2 } } } }
  ],
  [
    '$[] stands for every element',
    { a: [{ b: [1, 2] }, { b: [3] }] },
    { $inc: { 'a.$[].b.$[]': 10 } },
    { a: [{ b: [11, 12] }, { b: [13] }] }
  ],
  [
    '$[id] stands for each element that its filter matches',
    { a: [{ n: 1 }, { n: 5 }] },
    { $set: { 'a.$[big].c': 1 } },
    { a: [{ n: 1 }, { n: 5, c: 1 }] },
    { arrayFilters: [{ 'big.n': { $gt: 3 } }] }
  ],
  [
    '$[id] may stand for scalars',
    { a: [1, 5, 9] },
    { $max: { 'a.$[x]': 7 } },
    { a: [1, 7, 9] },
    { arrayFilters: [{ $or: [{ x: 5 }, { x: 9 }] }] }
  ],
  [
    '$[id] stands for the elements that its filter matched before any change',
    { a: [{ state: 'open' }, { state: 'done' }] },
    { $set: { 'a.$[x].state': 'done', 'a.$[x].year': 2024 }, $inc: { 'a.$[x].edits': 1 } },
    { a: [{ state: 'done', edits: 1, year: 2024 }, { state: 'done' }] },
    { arrayFilters: [{ 'x.state': 'open' }] }
  ],
  [
    'two identifiers can swap values',
    { a: [{ b: 1 }, { b: 2 }] },
    { $set: { 'a.$[x].b': 2, 'a.$[y].b': 1 } },
    { a: [{ b: 2 }, { b: 1 }] },
    { arrayFilters: [{ 'x.b': 1 }, { 'y.b': 2 }] }
  ],
  [
    'two identifiers can change different fields of one element',
    { a: [{ b: { n: 1 } }] },
    { $set: { 'a.$[x].b.n': 2, 'a.$[y].b.m': 3 } },
    { a: [{ b: { n: 2, m: 3 } }] },
    { arrayFilters: [{ 'x.b.n': 1 }, { 'y.b.n': { $lt: 2 } }] }
  ],
  ['$mul of integers never returns -0', { a: -5, b: 5 }, { $mul: { a: 0, b: -0 } }, { a: 0, b: -0 }],
  ['$[] with $unset leaves null', { a: [1, 2] }, { $unset: { 'a.$[]': 1 } }, { a: [null, null] }]
]

for (const [claim, before, update, after, options] of cases) {
  test(claim, () => {
    const untouched = describe(before)
    assert.is(describe(apply(deepFreeze(before), deepFreeze(update), options)), describe(after))
    assert.is(describe(before), untouched)
  })
}

test.run()
