/** Malformed pipelines are refused before anything is read, with an error that names the stage and its position. */
import { inspect } from 'node:util'
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { compilePipeline } from '../../src/aggregate/compile.ts'
import { Expressions } from '../../src/aggregate/expression.ts'
import { type ErrorName, PetalError } from '../../src/model/errors.ts'

const noDate = new Date(Number.NaN)
const tooLong = 'a.'.repeat(200).concat('a')

const cases: readonly (readonly [pipeline: unknown, codeName: ErrorName, message: RegExp])[] = [
  [{ $match: {} }, 'TypeMismatch', /array of stages, not object/],
  ['[]', 'TypeMismatch', /not string/],
  [[null], 'FailedToParse', /stage 0.*not null/],
  [[{}], 'FailedToParse', /an empty one/],
  [[{ $match: {}, $limit: 1 }], 'FailedToParse', /one key, got \$match and \$limit/],
  [[{ $match: {} }, { $matches: {} }], 'InvalidPipelineOperator', /^\$matches \(stage 1\): there is no such stage/],
  [[{ $out: 'x' }, { $limit: 1 }], 'FailedToParse', /^\$out \(stage 0\): it must be the last/],
  [[{ $geoNear: {} }], 'CommandNotSupported', /^\$geoNear/],
  [[{ $match: 1 }], 'TypeMismatch', /^\$match \(stage 0\).*plain object, not number/],
  [[{ $set: { x: 1 } }, { $match: { a: { $foo: 1 } } }], 'BadValue', /^\$match \(stage 1\): \$foo at 'a'/],
  [[{ $match: { $where: 'true' } }], 'BadValue', /^\$match \(stage 0\): \$where/],
  [[{ $limit: '3' }], 'BadValue', /^\$limit \(stage 0\).*not string/],
  [[{ $limit: 0 }], 'BadValue', /whole number ≥ 1, not 0/],
  [[{ $limit: 2 ** 63 }], 'BadValue', /whole number ≥ 1, not 9223372036854776000/],
  [[{ $skip: Number.POSITIVE_INFINITY }], 'BadValue', /whole number ≥ 0, not Infinity/],
  [[{ $skip: -1 }], 'BadValue', /^\$skip \(stage 0\)/],
  [[{ $skip: 1.5 }], 'BadValue', /not 1.5/],
  [[{ $sort: {} }], 'BadValue', /^\$sort \(stage 0\)/],
  [[{ $sort: { a: 'up' } }], 'BadValue', /^\$sort \(stage 0\).*'a'/],
  [[{ $limit: 1 }, { $sort: { $natural: 1 } }], 'BadValue', /^\$sort \(stage 1\): \$natural/],
  [[{ $project: {} }], 'BadValue', /^\$project \(stage 0\)/],
  [[{ $project: { a: 1, b: 0 } }], 'BadValue', /^\$project \(stage 0\)/],
  [[{ $project: { a: '$b', b: 0 } }], 'BadValue', /exclusion on field b in inclusion/],
  [[{ $project: { a: {}, b: '$c' } }], 'BadValue', /^\$project \(stage 0\).*empty sub-projection/],
  [[{ $project: { 'o.p': 1, o: { p: '$z' } } }], 'BadValue', /^\$project \(stage 0\).*collision at 'o\.p'/],
  [[{ $project: { 'o.p': '$n', o: { p: '$z' } } }], 'BadValue', /collision at 'o\.p'/],
  [[{ $project: { 'o.p': '$n', o: '$z' } }], 'BadValue', /collision at 'o'/],
  [[{ $project: { _id: 1, '_id.x': '$z' } }], 'BadValue', /collision at '_id'/],
  [[{ $project: { a: undefined } }], 'BadValue', /^\$project \(stage 0\): undefined is not a value/],
  [[{ $set: { o: 1, 'o.p': 2 } }], 'BadValue', /^\$set \(stage 0\): 'o' and 'o\.p' conflict/],
  [[{ $addFields: { 'o.p.q': 2, o: 1 } }], 'BadValue', /^\$addFields \(stage 0\): 'o' and 'o\.p\.q' conflict/],
  [[{ $set: { 'a.b': 1, a: { b: 2 } } }], 'BadValue', /'a\.b' occurs twice/],
  [[{ $set: { a: { b: 1 }, 'a.b.c': 2 } }], 'BadValue', /'a\.b' and 'a\.b\.c' conflict/],
  [[{ $set: { s: undefined } }], 'BadValue', /^\$set \(stage 0\): undefined is not a value; use \$\$REMOVE/],
  [[{ $set: { s: [{ t: undefined }] } }], 'BadValue', /undefined is not a value/],
  [[{ $set: { s: { $literal: [undefined] } } }], 'BadValue', /undefined is not a value/],
  [[{ $set: { s: noDate } }], 'BadValue', /^\$set \(stage 0\): an invalid date/],
  [[{ $set: { s: { $literal: [{ t: noDate }] } } }], 'BadValue', /an invalid date/],
  [[{ $documents: [{ at: noDate }] }], 'BadValue', /^\$documents \(stage 0\): an invalid date/],
  [[{ $group: { _id: noDate } }], 'BadValue', /^\$group \(stage 0\): an invalid date/],
  [[{ $bucket: { groupBy: '$at', boundaries: [noDate, new Date()] } }], 'BadValue', /an invalid date/],
  [[{ $set: { s: () => 1 } }], 'BadValue', /a value of type function cannot be stored/],
  [[{ $set: { s: new Map() } }], 'BadValue', /a value of type Map cannot be stored/],
  [[{ $set: { s: Symbol('s') } }], 'BadValue', /a value of type symbol cannot be stored/],
  [[{ $group: { _id: undefined } }], 'BadValue', /^\$group \(stage 0\): undefined/],
  [[{ $group: { _id: null, n: { $push: { a: undefined } } } }], 'BadValue', /^\$group \(stage 0\): undefined/],
  [[{ $replaceWith: { a: undefined } }], 'BadValue', /^\$replaceWith \(stage 0\): undefined/],
  [[{ $set: { 'a..b': 1 } }], 'BadValue', /has the invalid component ''/],
  [[{ $set: { a: '$b..c' } }], 'FailedToParse', /empty component/],
  [[{ $set: { a: '$$nothing' } }], 'FailedToParse', /no variable \$\$nothing/],
  [[{ $set: { a: { $add: [1], $subtract: [1] } } }], 'FailedToParse', /one operator/],
  [[{ $set: { __proto__x: 1, a: JSON.parse('{"__proto__": 1}') } }], 'BadValue', /__proto__/],
  [[{ $unset: [] }], 'BadValue', /^\$unset/],
  [[{ $set: { [tooLong]: 1 } }], 'BadValue', /^\$set \(stage 0\): a path has at most 200 components, not 201/],
  [[{ $unwind: `$${tooLong}` }], 'BadValue', /at most 200 components/],
  [[{ $unwind: { path: '$a', includeArrayIndex: tooLong } }], 'BadValue', /at most 200 components/],
  [
    [{ $lookup: { from: 'x', pipeline: [], as: tooLong } }],
    'BadValue',
    /^\$lookup \(stage 0\): a path has at most 200/
  ],
  [[{ $unset: ['a', 'b', 'a'] }], 'BadValue', /^\$unset \(stage 0\): 'a' occurs twice/],
  [[{ $set: { b: 1 } }, { $unset: ['a.b', 'a.b'] }], 'BadValue', /^\$unset \(stage 1\): 'a\.b' occurs twice/],
  [[{ $unset: ['a.b', 'a'] }], 'BadValue', /^\$unset \(stage 0\): 'a' and 'a\.b' conflict/],
  [[{ $unwind: 'tags' }], 'BadValue', /begins with '\$', not 'tags'/],
  [[{ $unwind: { path: '$a', as: 'b' } }], 'FailedToParse', /no option 'as'/],
  [[{ $group: { n: { $sum: 1 } } }], 'FailedToParse', /_id is required/],
  [[{ $group: { _id: null, n: 1 } }], 'FailedToParse', /'n' must be an accumulator/],
  [[{ $group: { _id: null, 'a.b': { $sum: 1 } } }], 'BadValue', /'a.b' is not a valid field name/],
  [[{ $group: { _id: null, n: { $sum: 1, $avg: 1 } } }], 'FailedToParse', /one accumulator/],
  [[{ $group: { _id: null, n: { $sum: ['$a', 1] } } }], 'FailedToParse', /\$sum of 'n' takes one expression/],
  [[{ $group: { _id: null, n: { $count: 1 } } }], 'BadValue', /takes \{\}/],
  [[{ $group: { _id: null, n: { $accumulator: { init: 'function () {}' } } } }], 'BadValue', /init must be a function/],
  [[{ $bucket: { groupBy: '$a', boundaries: [3, 1] } }], 'BadValue', /ascend/],
  [[{ $bucket: { groupBy: '$a', boundaries: [1, 3], default: 2 } }], 'BadValue', /outside/],
  [[{ $replaceWith: { 'x.y': 1 } }], 'FailedToParse', /field name 'x\.y' may not contain '\.'/],
  [[{ $group: { _id: { 'x.y': '$a' } } }], 'FailedToParse', /'x\.y'/],
  [[{ $group: { _id: null, all: { $push: { 'x.y': '$a' } } } }], 'FailedToParse', /'x\.y'/],
  [[{ $replaceWith: { a: { b: { 'x.y': 1 } } } }], 'FailedToParse', /'x\.y'/],
  [[{ $set: { a: [{ 'x.y': 1 }] } }], 'FailedToParse', /'x\.y'/],
  [[{ $documents: [{ 'x.y': 1 }] }], 'FailedToParse', /'x\.y'/],
  [[{ $sample: { size: 0 } }], 'BadValue', /size/],
  [[{ $count: 'a.b' }], 'BadValue', /^\$count/],
  [[{ $count: '_id' }], 'BadValue', /^\$count.*_id/],
  [[{ $limit: 1 }, { $project: { a: '$b' } }, { $count: '_id' }], 'BadValue', /^\$count.*_id/],
  [[{ $sortByCount: 'a' }], 'BadValue', /^\$sortByCount/],
  [[{ $facet: { a: [{ $limit: 'x' }] } }], 'BadValue', /^\$limit \(stage 0 of \$facet\.a\)/],
  [[{ $facet: { a: [{ $facet: {} }] } }], 'FailedToParse', /cannot contain another \$facet/],
  [[{ $facet: { a: {} } }], 'TypeMismatch', /\$facet\.a/],
  [[{ $lookup: { from: 'x', as: 'y' } }], 'FailedToParse', /localField and foreignField or a pipeline/],
  [[{ $lookup: { from: 'x', localField: 'a', as: 'y' } }], 'FailedToParse', /localField requires a foreignField/],
  [[{ $lookup: { from: 'x', foreignField: 'a', as: 'y' } }], 'FailedToParse', /foreignField requires a localField/],
  [
    [{ $lookup: { from: 'x', localField: 'a', foreignField: 'b' } }],
    'FailedToParse',
    /lookup \(stage 0\): as is required/
  ],
  [
    [{ $lookup: { from: 1, localField: 'a', foreignField: 'b', as: 'y' } }],
    'BadValue',
    /a collection name must be a string/
  ],
  [[{ $lookup: { from: 'x', pipeline: [{ $nope: 1 }], as: 'y' } }], 'InvalidPipelineOperator', /stage 0 of \$lookup/],
  [
    [{ $lookup: { from: 'x', let: { v: 1 }, pipeline: [], as: 'y' } }, { $set: { z: '$$v' } }],
    'FailedToParse',
    /^\$set \(stage 1\): there is no variable \$\$v/
  ],
  [[{ $unionWith: {} }], 'BadValue', /^\$unionWith/]
]

for (const [pipeline, codeName, message] of cases) {
  test(`pipeline ${inspect(pipeline, { depth: 9 })} is refused`, () => {
    const error = failure(() => compilePipeline(pipeline, new Expressions()))
    assert.is(error.codeName, codeName, error.message)
    assert.match(error.message, message)
  })
}

test('malformed operators are refused when operators are loaded, before anything is read', async () => {
  const unknown: readonly (readonly [unknown, ErrorName, RegExp])[] = [
    [[{ $limit: 1 }, { $set: { a: { $nope: 1 } } }], 'InvalidPipelineOperator', /^\$set \(stage 1\): .*\$nope/],
    [[{ $match: { $expr: { $and: [{ $nope: 1 }] } } }], 'InvalidPipelineOperator', /^\$match \(stage 0\): .*\$nope/],
    [[{ $group: { _id: null, n: { $nope: 1 } } }], 'InvalidPipelineOperator', /no accumulator \$nope/],
    [[{ $set: { a: { $ifNull: ['$a', undefined] } } }], 'BadValue', /^\$set \(stage 0\): undefined/],
    [[{ $project: { later: { $gt: ['$at', noDate] } } }], 'BadValue', /^\$project \(stage 0\): an invalid date/],
    [[{ $set: { a: { $ifNull: ['$a', () => 1] } } }], 'BadValue', /^\$set \(stage 0\): a value of type function/],
    [
      [{ $setWindowFields: { output: { a: { $push: { b: undefined } } } } }],
      'BadValue',
      /^\$setWindowFields \(stage 0\): undefined/
    ],
    [
      [{ $set: { a: { $not: { $function: { body: 'return 1', args: [] } } } } }],
      'BadValue',
      /body must be a function, not string/
    ]
  ]
  for (const [pipeline, codeName, message] of unknown) {
    const expressions = new Expressions()
    compilePipeline(pipeline, expressions)
    assert.is(expressions.needsLoading, true)
    const error = await expressions.load().then(
      () => undefined,
      (reason: unknown) => reason
    )
    assert.instance(error, PetalError)
    assert.is((error as PetalError).codeName, codeName)
    assert.match((error as PetalError).message, message)
  }
})

test('an undefined option is treated as missing', async () => {
  const pipeline = [
    { $unwind: { path: '$a', preserveNullAndEmptyArrays: undefined, includeArrayIndex: undefined } },
    { $set: { b: { $filter: { input: '$a', cond: true, limit: undefined } } } },
    { $group: { _id: null, n: { $accumulator: { init, accumulate: init, accumulateArgs: [], finalize: undefined } } } },
    { $setWindowFields: { partitionBy: undefined, output: { n: { $sum: 1 } } } },
    { $merge: { into: 'x', on: undefined } }
  ]
  const expressions = new Expressions()
  compilePipeline(pipeline, expressions)
  await expressions.load()
})

function init(): number {
  return 0
}

function failure(task: () => unknown): PetalError {
  try {
    task()
  } catch (error) {
    assert.instance(error, PetalError)
    return error as PetalError
  }
  assert.unreachable('nothing was thrown')
  throw new Error('unreachable')
}

test.run()
