import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { PetalError } from '../../src/model/errors.ts'
import type { Document } from '../../src/model/types.ts'
import type { UpdateOptions } from '../../src/query/update/update.ts'
import { describe } from '../support/describe.ts'
import { apply, deepFreeze } from '../support/updates.ts'

type Refusal = readonly [code: string, before: Document, update: unknown, message: RegExp, options?: UpdateOptions]

const refused: readonly Refusal[] = [
  ['TypeMismatch', {}, [{ $set: { a: 1 } }], /object, not array/],
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
  ['DollarPrefixedFieldName', {}, { $set: { $id: 1 } }, /\$id/],
  ['BadValue', {}, { $set: { '$[].a': 1 } }, /which must follow the path of an array/],
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
  ['BadValue', { a: 1.5 }, { $bit: { a: { and: 1 } } }, /not an integer/],
  ['BadValue', {}, { $bit: { a: { nand: 1 } } }, /nand/],
  ['BadValue', {}, { $bit: { a: 1 } }, /object/],
  ['BadValue', { a: 5 }, { $push: { a: 1 } }, /\$push at 'a'.*number/],
  ['BadValue', {}, { $push: { a: { $each: 1 } } }, /\$each takes an array/],
  ['BadValue', {}, { $push: { a: { $slice: 1 } } }, /needs \$each/],
  ['BadValue', {}, { $push: { a: { $each: [], $x: 1 } } }, /\$x/],
  ['BadValue', {}, { $push: { a: { $each: [], $slice: 1.5 } } }, /integer/],
  ['BadValue', {}, { $push: { a: { $each: [], $sort: 2 } } }, /\$sort/],
  ['BadValue', { a: 5 }, { $addToSet: { a: 1 } }, /number/],
  ['TypeMismatch', {}, { $addToSet: { a: { $each: 1 } } }, /\$each takes an array, not number/],
  ['BadValue', {}, { $addToSet: { a: { $each: [], $x: 1 } } }, /\$x/],
  ['FailedToParse', {}, { $pop: { a: 2 } }, /\$pop/],
  ['TypeMismatch', { a: 5 }, { $pop: { a: 1 } }, /number/],
  ['BadValue', { a: 5 }, { $pull: { a: 1 } }, /non-array type number/],
  ['BadValue', {}, { $pullAll: { a: 1 } }, /array/],
  ['BadValue', {}, { $rename: { a: 5 } }, /string/],
  ['BadValue', {}, { $rename: { a: 'a' } }, /differ/],
  ['BadValue', {}, { $rename: { a: 'a.b' } }, /same path/],
  ['BadValue', {}, { $rename: { 'a.b.c': 'a.b' } }, /same path/],
  ['BadValue', { a: [{ b: 1 }] }, { $rename: { 'a.0.b': 'c' } }, /array/],
  ['BadValue', { a: [{ b: 1 }], c: 1 }, { $rename: { c: 'a.0.d' } }, /array/],
  ['PathNotViable', { a: 5 }, { $rename: { 'a.b': 'c' } }, /'b' in 'a' of type number/],
  ['PathNotViable', { a: { b: null } }, { $rename: { 'a.b.c': 'c' } }, /'c' in 'a.b' of type null/],
  ['PathNotViable', { a: [{ b: 1 }] }, { $rename: { 'a.b': 'c' } }, /'b' in 'a' of type array/],
  ['PathNotViable', { a: 5, c: 1 }, { $rename: { c: 'a.b' } }, /'b' in 'a' of type number/],
  ['BadValue', {}, { $currentDate: { a: 'x' } }, /string/],
  ['BadValue', {}, { $currentDate: { a: { $type: 'time' } } }, /time/],
  ['BadValue', { a: [1] }, { $set: { 'a.$': 1 } }, /did not find the match/],
  ['BadValue', { a: [1] }, { $set: { 'a.$': 1 } }, /did not find the match/, { filter: { b: 1 } }],
  ...[
    { a: { $exists: true } },
    { a: { $type: 'array' } },
    { a: [1] },
    { a: { $in: [[1], 7] } },
    { a: { $gte: [] } },
    { a: { $size: 1 } },
    { 'a.0': 1 },
    { a: { $ne: 5 } }
  ].map((filter): Refusal => ['BadValue', { a: [1] }, { $set: { 'a.$': 1 } }, /did not find the match/, { filter }]),
  ['BadValue', { a: [{ b: 1 }] }, { $set: { 'a.$.b': 1 } }, /did not find the match/, { filter: { 'a.0.b': 1 } }],
  ['ConflictingUpdateOperators', { a: [1] }, { $set: { 'a.$': 1 }, $inc: { 'a.0': 2 } }, /'a.0'/, { filter: { a: 1 } }],
  ['TypeMismatch', { a: [1] }, { $set: { 'a.$[x]': 1 } }, /arrayFilters.*object/, { arrayFilters: {} as [] }],
  ['BadValue', {}, { $set: { [`a${'.b'.repeat(300)}`]: 1 } }, /more than 200/],
  ['BadValue', {}, { $set: { 'a.$.b.$': 1 } }, /more than one/],
  ['BadValue', {}, { $set: { 'a.$[]': 1 } }, /must exist/],
  ['BadValue', { a: 5 }, { $set: { 'a.$[]': 1 } }, /type number/],
  ['BadValue', { a: [1] }, { $set: { 'a.$[x]': 1 } }, /'x'/],
  ['FailedToParse', { a: [1] }, { $set: { b: 1 } }, /not used/, { arrayFilters: [{ x: 1 }] }],
  [
    'FailedToParse',
    { a: [1] },
    { $set: { 'a.$[x]': 1 } },
    /'x', 'y'|single identifier/,
    { arrayFilters: [{ x: 1, y: 1 }] }
  ],
  ['ConflictingUpdateOperators', { a: [1] }, { $set: { 'a.$[]': 1, 'a.0': 2 } }, /conflict at 'a'/],
  ['ConflictingUpdateOperators', { a: [1] }, { $set: { 'a.$[].b': 1 }, $unset: { 'a.b': 1 } }, /conflict at 'a'/],
  [
    'ConflictingUpdateOperators',
    { a: [1, 5] },
    { $set: { 'a.$[x]': 1, 'a.$[y]': 2 } },
    /conflict at 'a\.1'/,
    { arrayFilters: [{ x: 5 }, { y: { $gt: 1 } }] }
  ],
  [
    'ConflictingUpdateOperators',
    { a: [{ b: {} }] },
    { $set: { 'a.$[].b': 1, 'a.$[x].b.c': 2 } },
    /conflict at 'a\.0\.b'/,
    { arrayFilters: [{ 'x.b': {} }] }
  ],
  ['BadValue', { a: [1] }, { $set: { 'a.$[X]': 1 } }, /lowercase/, { arrayFilters: [{ X: 1 }] }]
]

for (const [code, before, update, message, options] of refused) {
  test(`update ${describe(update)} of ${describe(before)} is refused`, () => {
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

test.run()
