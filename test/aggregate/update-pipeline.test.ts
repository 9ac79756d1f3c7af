/** Updates by a pipeline: their results, what they refuse, and that they agree with update operators. */
import { Decimal128, Int32, Long } from 'bson'
import fc from 'fast-check'
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { Expressions } from '../../src/aggregate/expression.ts'
import { compileUpdatePipeline } from '../../src/aggregate/update-pipeline.ts'
import { type ErrorName, PetalError } from '../../src/model/errors.ts'
import { parseJson, stringifyCanonical } from '../../src/model/extended-json.ts'
import type { Document } from '../../src/model/types.ts'
import type { Update } from '../../src/query/update/update.ts'
import { adversarial, documents, testSeed, values } from '../support/arbitraries.ts'
import { cpuMilliseconds } from '../support/cpu-time.ts'
import { describe } from '../support/describe.ts'
import { apply, deepFreeze, now } from '../support/updates.ts'

const seed = testSeed()

async function compiled(pipeline: unknown): Promise<Update> {
  const { change, ready } = compileUpdatePipeline(pipeline, new Expressions())
  await ready?.()
  return change
}

async function updated(document: Document, pipeline: unknown): Promise<Document> {
  return (await compiled(pipeline))(deepFreeze(document), { isInsert: false, now })
}

const cases: readonly (readonly [before: Document, pipeline: readonly Document[], after: Document])[] = [
  [{ _id: 1, a: 1, b: 2 }, [{ $set: { total: { $add: ['$a', '$b'] } } }, { $unset: 'a' }], { _id: 1, b: 2, total: 3 }],
  // A stage sees the result of the previous one; all fields of a stage see the same document.
  [{ _id: 1, a: 1 }, [{ $set: { a: 5, b: '$a' } }, { $set: { c: '$a' } }], { _id: 1, a: 5, b: 1, c: 5 }],
  [{ _id: 1, a: 1, b: 2 }, [{ $set: { a: '$b', b: '$a' } }], { _id: 1, a: 2, b: 1 }],
  // Unlike operators, it replaces scalars by objects, and sets the field in each element of an array.
  [{ _id: 1, a: 5 }, [{ $set: { 'a.b': 1 } }], { _id: 1, a: { b: 1 } }],
  [{ _id: 1, a: [{ b: 1 }, 2] }, [{ $set: { 'a.b': 7 } }], { _id: 1, a: [{ b: 7 }, { b: 7 }] }],
  [{ _id: 1, a: [1, 2] }, [{ $set: { 'a.0': 7 } }], { _id: 1, a: [{ 0: 7 }, { 0: 7 }] }],
  [{ _id: 1, x: 1, y: [{ z: 1, foo: 1 }] }, [{ $unset: ['x', 'y.z'] }], { _id: 1, y: [{ foo: 1 }] }],
  [{ _id: 1, a: { b: 1, c: 2 } }, [{ $set: { a: { b: 9 } } }], { _id: 1, a: { b: 9, c: 2 } }],
  [{ _id: 1, a: { b: 1, c: 2 } }, [{ $set: { a: { $literal: { b: 9 } } } }], { _id: 1, a: { b: 9 } }],
  // Text that begins with $ is a path.
  [{ _id: 1, a: 1 }, [{ $set: { b: '$a', c: { $literal: '$a' } } }], { _id: 1, a: 1, b: 1, c: '$a' }],
  [{ _id: 1, a: 1, b: 1 }, [{ $set: { a: '$$REMOVE', b: '$missing', c: '$$REMOVE' } }], { _id: 1 }],
  [{ _id: 1, a: 1 }, [{ $set: { all: '$$ROOT' } }], { _id: 1, a: 1, all: { _id: 1, a: 1 } }],
  [{ _id: 1, a: 1, b: 2 }, [{ $project: { a: 1 } }], { _id: 1, a: 1 }],
  [{ _id: 1, a: 1, b: 2 }, [{ $project: { a: 0 } }], { _id: 1, b: 2 }],
  [{ _id: 1, a: 1, b: 2 }, [{ $project: { c: '$a', b: 1 } }], { _id: 1, b: 2, c: 1 }],
  [{ _id: 1, t: { u: { v: 1 } } }, [{ $replaceWith: '$t' }], { _id: 1, u: { v: 1 } }],
  [
    { _id: 1, t: { u: 1 } },
    [{ $replaceRoot: { newRoot: { $mergeObjects: ['$t', { w: 2 }] } } }],
    { _id: 1, u: 1, w: 2 }
  ],
  [{ _id: 1, a: 1 }, [{ $replaceWith: { $literal: { $a: 1, 'b.c': 2, '': 3 } } }], { _id: 1, $a: 1, 'b.c': 2, '': 3 }],
  // _id stays, and stays first, whatever a stage does to it.
  [{ _id: 1, a: 1, b: 2 }, [{ $project: { _id: 0, a: 1 } }], { _id: 1, a: 1 }],
  [{ _id: 1, a: 1 }, [{ $unset: '_id' }, { $set: { b: 1 } }], { _id: 1, a: 1, b: 1 }],
  [{ _id: 1, a: 1 }, [{ $set: { _id: '$$REMOVE', b: 1 } }], { _id: 1, a: 1, b: 1 }],
  [{ _id: 1, a: 1 }, [{ $set: { _id: 9 } }, { $set: { _id: 1, b: 1 } }], { _id: 1, a: 1, b: 1 }],
  [{ _id: 1, a: 1 }, [{ $set: { _id: 1n, b: 1 } }], { _id: 1, a: 1, b: 1 }],
  [{ a: 1 }, [{ $set: { b: 1 } }], { a: 1, b: 1 }],
  [{ a: 1 }, [{ $set: { _id: 7 } }], { a: 1, _id: 7 }],
  // Constants become what the store would return.
  [{ _id: 1 }, [{ $set: { a: new Int32(1), b: Long.fromNumber(2), c: [null] } }], { _id: 1, a: 1, b: 2n, c: [null] }]
]

for (const [before, pipeline, after] of cases) {
  test(`${describe(pipeline)} updates ${describe(before)}`, async () => {
    assert.is(describe(await updated(before, pipeline)), describe(after))
  })
}

test('a pipeline that changes nothing returns the same object', async () => {
  const document = deepFreeze({
    _id: 1,
    a: 1,
    b: { c: [1, { d: 2 }] },
    at: new Date(5),
    n: 2n,
    x: Decimal128.fromString('1.0')
  })
  const pipelines: readonly (readonly Document[])[] = [
    [],
    [{ $set: { a: 1 } }],
    [{ $set: { a: new Int32(1), n: Long.fromNumber(2), at: new Date(5), x: Decimal128.fromString('1.0') } }],
    [{ $set: { 'b.c': { $concatArrays: ['$b.c', []] } } }],
    [{ $unset: ['z', 'b.z', 'a.z'] }],
    [{ $set: { z: '$$REMOVE' } }],
    [{ $set: { z: 1 } }, { $unset: 'z' }],
    [{ $unset: '_id' }],
    [{ $replaceWith: '$$ROOT' }],
    [{ $project: { z: 0 } }],
    [{ $project: { _id: 0, z: 0 } }]
  ]
  for (const pipeline of pipelines) assert.is(await updated(document, pipeline), document, describe(pipeline))
  // Equal, but not identical values.
  assert.is(describe(await updated(document, [{ $set: { a: 1n } }])), describe({ ...document, a: 1n }))
  assert.is.not(await updated(document, [{ $set: { x: Decimal128.fromString('1') } }]), document)
})

test('the result shares unchanged values with the document', async () => {
  const document = { _id: 1, a: { b: 1 }, c: { d: 2 } }
  const result = await updated(document, [{ $set: { 'a.b': 2 } }])
  assert.is(result.c, document.c)
  assert.is.not(result.a, document.a)
})

test('changing the pipeline later has no effect', async () => {
  const list = [1]
  const date = new Date(5)
  const fields: Document = { a: list, b: { $concatArrays: [list, list] }, c: date, d: { $literal: list } }
  const pipeline: Document[] = [{ $set: fields }]
  const { change, ready } = compileUpdatePipeline(pipeline, new Expressions())
  list.push(2)
  date.setTime(9)
  fields.e = 1
  pipeline.push({ $unset: 'a' })
  await ready?.()
  const result = change({ _id: 1 }, { isInsert: false, now })
  assert.equal(result, { _id: 1, a: [1], b: [1, 1], c: new Date(5), d: [1] })
})

test('$$NOW is one instant for all documents', async () => {
  const change = await compiled([{ $set: { at: '$$NOW' } }, { $set: { later: { $add: ['$$NOW', 1] } } }])
  const first = change({ _id: 1 }, { isInsert: false, now })
  await new Promise((resolve) => setTimeout(resolve, 5))
  const second = change({ _id: 2 }, { isInsert: true, now })
  assert.equal(second.at, first.at)
  assert.is(Number(second.later), Number(first.at) + 1)
})

test('a pipeline without operators needs no loading', () => {
  const { ready } = compileUpdatePipeline(
    [{ $set: { a: '$b', c: { $literal: 1 } } }, { $unset: 'b' }],
    new Expressions()
  )
  assert.is(ready, undefined)
})

const refused: readonly (readonly [pipeline: unknown, codeName: ErrorName, message: RegExp])[] = [
  [
    [{ $match: { a: 1 } }],
    'InvalidOptions',
    /^\$match \(stage 0\): an update cannot contain this stage, only \$addFields/
  ],
  [[{ $set: { a: 1 } }, { $sort: { a: 1 } }], 'InvalidOptions', /^\$sort \(stage 1\)/],
  [[{ $facet: { a: [{ $match: { x: 1 } }] } }], 'InvalidOptions', /^\$facet/],
  [[{ $lookup: { from: 'x', as: 'y', localField: 'a', foreignField: 'b' } }], 'InvalidOptions', /^\$lookup/],
  [[{ $graphLookup: {} }], 'InvalidOptions', /^\$graphLookup/],
  [[{ $out: 'x' }], 'InvalidOptions', /^\$out/],
  [[{ $redact: '$$KEEP' }], 'InvalidOptions', /^\$redact/],
  [[{ $inc: { a: 1 } }], 'InvalidPipelineOperator', /^\$inc \(stage 0\): there is no such stage/],
  [[{ a: 1 }], 'InvalidPipelineOperator', /^a \(stage 0\)/],
  [[{ $set: { a: 1 }, $unset: 'b' }], 'FailedToParse', /one key, got \$set and \$unset/],
  [[{}], 'FailedToParse', /an empty one/],
  [[[{ $set: { a: 1 } }]], 'FailedToParse', /not array/],
  [[{ $set: { a: 1 } }, null], 'FailedToParse', /stage 1.*not null/],
  [[{ $set: 5 }], 'BadValue', /^\$set \(stage 0\)/],
  [[{ $set: { 'a..b': 1 } }], 'BadValue', /has the invalid component ''/],
  [[{ $set: { $a: 1 } }], 'FailedToParse', /cannot be named '\$a'/],
  [[{ $set: { 'a.$': 1 } }], 'BadValue', /component '\$'/],
  [[{ $set: { 'a.$[]': 1 } }], 'BadValue', /component '\$\[\]'/],
  [[{ $set: { a: '$$nothing' } }], 'FailedToParse', /no variable \$\$nothing/],
  [[{ $set: { a: { $add: [1], $subtract: [1] } } }], 'FailedToParse', /one operator/],
  [[{ $unset: [] }], 'BadValue', /^\$unset \(stage 0\)/],
  [[{ $set: { a: 1 } }, { $project: { a: 1, b: 0 } }], 'BadValue', /^\$project \(stage 1\)/],
  [[{ $replaceRoot: { root: '$a' } }], 'FailedToParse', /no option 'root'/],
  [[{ $set: { a: 1 } }, { $set: { a: undefined } }], 'BadValue', /^\$set \(stage 1\): undefined.*\$\$REMOVE/],
  [[{ $set: { a: [{ b: undefined }] } }], 'BadValue', /undefined/],
  [[{ $set: { a: { $ifNull: ['$a', undefined] } } }], 'BadValue', /undefined/],
  [[{ $set: JSON.parse('{"__proto__":1}') }], 'BadValue', /^\$set \(stage 0\).*__proto__/],
  [[{ $set: { a: JSON.parse('{"__proto__":1}') } }], 'BadValue', /^\$set \(stage 0\).*__proto__/],
  [[{ $set: { 'a.__proto__.b': 1 } }], 'BadValue', /__proto__/],
  // Detected when operators are loaded.
  [[{ $set: { a: { $nope: 1 } } }], 'InvalidPipelineOperator', /^\$set \(stage 0\): .*\$nope/],
  [[{ $unset: 'b' }, { $set: { a: { $cond: [1] } } }], 'BadValue', /^\$set \(stage 1\): \$cond/],
  // Detected when a document is updated.
  [[{ $replaceWith: '$a' }], 'BadValue', /^\$replaceWith \(stage 0\): the new root must be an object, not number/],
  [[{ $unset: 'b' }, { $set: { b: { $add: ['$a', 'x'] } } }], 'BadValue', /^\$set \(stage 1\): \$add/],
  [[{ $set: { _id: 2 } }], 'ImmutableField', /_id/],
  [[{ $replaceWith: { _id: '$a' } }], 'ImmutableField', /_id/],
  [[{ $set: { '_id.b': 1 } }], 'ImmutableField', /_id/]
]

for (const [pipeline, codeName, message] of refused) {
  test(`update ${describe(pipeline)} is refused`, () => assertRefused(pipeline, codeName, message))
}

test('a pipeline that contains itself is refused', async () => {
  const cyclic: Document = {}
  cyclic.self = cyclic
  await assertRefused([{ $set: cyclic }], 'BadValue', /^\$set \(stage 0\).*levels/)
})

async function assertRefused(pipeline: unknown, codeName: ErrorName, message: RegExp): Promise<void> {
  const error = await updated({ _id: 1, a: 5 }, pipeline).then(
    (found) => assert.unreachable(`gives ${describe(found)}`),
    (reason: unknown) => reason
  )
  assert.instance(error, PetalError, String(error))
  assert.is((error as PetalError).codeName, codeName, (error as PetalError).message)
  assert.match((error as PetalError).message, message)
}

const key = fc.constantFrom('a', 'b', 'c')
const path = fc.array(key, { minLength: 1, maxLength: 3 }).map((keys) => keys.join('.'))
const constant = values(adversarial, 1)
const operation = fc.oneof(
  fc
    .dictionary(path, constant, { minKeys: 1, maxKeys: 2, noNullPrototype: true })
    .map(($set) => ({ $set: sorted($set) })),
  fc.uniqueArray(path, { minLength: 1, maxLength: 2 }).map((paths) => ({
    $unset: Object.fromEntries(paths.map((each) => [each, ''] as const))
  }))
)

/** Sorts fields by path, because operators add new fields in that order, and pipelines in that of the stage. */
function sorted(fields: Document): Document {
  return Object.fromEntries(Object.entries(fields).sort(([a], [b]) => (a < b ? -1 : 1)))
}

function asStage(update: Document): Document {
  if (update.$unset !== undefined) return { $unset: Object.keys(update.$unset as Document) }
  const fields = Object.entries(update.$set as Document).map(([at, $literal]) => [at, { $literal }] as const)
  return { $set: Object.fromEntries(fields) }
}

/** Below an array, operators find only positions, while stages change each element. */
function leadsThroughArray(document: Document, paths: readonly string[]): boolean {
  return paths.some((each) => {
    let value: unknown = document
    return each.split('.').some((step) => {
      if (Array.isArray(value)) return true
      value = typeof value === 'object' && value !== null ? (value as Document)[step] : undefined
      return false
    })
  })
}

test('the stages $set and $unset change any document like the operators, or equally leave it unchanged', async () => {
  const update = fc.array(operation, { minLength: 1, maxLength: 2 })
  const drawn = fc.sample(fc.tuple(documents(adversarial), update), { seed, numRuns: 10_000 })
  let compared = 0
  for (const [fields, operations] of drawn) {
    // As read from the store.
    const document = deepFreeze(parseJson(stringifyCanonical({ ...fields, _id: 1 })) as Document)
    const before = describe(document)
    let expected = document
    let isAlike = true
    for (const each of operations) {
      isAlike &&= !leadsThroughArray(expected, Object.keys((each as Document).$set ?? (each as Document).$unset ?? {}))
      if (!isAlike) break
      try {
        expected = apply(expected, each)
      } catch (error) {
        // Conflicting paths, or paths through scalars.
        assert.instance(error, PetalError)
        isAlike = false
        break
      }
    }
    if (!isAlike) continue
    const found = (await compiled(operations.map(asStage)))(document, { isInsert: false, now })
    const shown = `${before} ${describe(operations)}`
    assert.is(describe(document), before, shown)
    assert.is(describe(found), describe(expected), shown)
    assert.is(found === document, describe(found) === before, shown)
    compared++
  }
  assert.ok(compared > 2000, `${compared} of 10,000 were compared`)
})

test('thousands of fields of one $set take time in proportion', async () => {
  const names = Array.from({ length: 10_000 }, (_, i) => `f${i}`)
  const fields = (prefix: string, value: unknown) => Object.fromEntries(names.map((name) => [prefix + name, value]))
  const change = await compiled([{ $set: { ...fields('', '$v'), ...fields('g.', '$v'), ...fields('l.', '$missing') } }])
  const document = deepFreeze({ _id: 1, v: 2, g: fields('', 1), l: [fields('', 1), 5] })
  const start = cpuMilliseconds()
  const expected = { _id: 1, v: 2, ...fields('', 2), g: fields('', 2), l: [{}, {}] }
  assert.equal(change(document, { isInsert: false, now }), expected)
  // Copying for each field, it was a minute.
  const elapsed = cpuMilliseconds() - start
  assert.ok(elapsed < 10_000, `${elapsed} ms`)
})

test.run()
