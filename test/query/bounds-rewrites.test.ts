import { Code, Decimal128, ObjectId } from 'bson'
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import type { PairExpression } from '../../src/model/pairs.ts'
import { typeNames } from '../../src/model/types.ts'
import { compileFilter } from '../../src/query/filter.ts'

/** Shows an expression on one line: `[lower … upper]` for bounds, `_` for none, `*` for all. */
function show(expression: PairExpression): string {
  switch (expression.kind) {
    case 'all':
      return '*'
    case 'none':
      return '_'
    case 'pair': {
      const { pair } = expression
      switch (pair.kind) {
        case 'value':
          return `V|${pair.path}|${pair.value.key}`
        case 'exists':
          return `E|${pair.path}`
        case 'type':
          return `T|${pair.path}|${typeNames[pair.type]}`
        case 'size':
          return `S|${pair.path}|${pair.length}`
      }
      break
    }
    case 'range': {
      const { path, low, high } = expression.range
      const from = low === undefined ? '' : `${low.key}${low.isInclusive ? '≤' : '<'}`
      return `R|${from}${path}${high === undefined ? '' : `${high.isInclusive ? '≤' : '<'}${high.key}`}`
    }
    case 'and':
      return `(${expression.children.map(show).join(' & ')})`
    case 'or':
      return `(${expression.children.map(show).join(' | ')})`
    case 'not':
      return `!${show(expression.child)}`
    case 'bounds':
      return `[${show(expression.lower)} … ${show(expression.upper)}]`
  }
}

const rewrites: readonly (readonly [filter: unknown, bounds: string])[] = [
  [{}, '*'],
  // Exact pairs.
  [{ a: 1 }, 'V|a|1'],
  [{ 'a.b': 'x' }, 'V|a.b|x'],
  [{ a: -0 }, 'V|a|0'],
  [{ a: Number.NaN }, 'V|a|NaN'],
  [{ a: { $exists: true } }, 'E|a'],
  [{ a: { $exists: false } }, '!E|a'],
  [{ a: { $size: 2 } }, 'S|a|2'],
  [{ a: { $type: ['string', 'number'] } }, '(T|a|string | T|a|number)'],
  [{ a: { $in: [1, 2] } }, '(V|a|1 | V|a|2)'],
  [{ a: { $nin: [1, 2] } }, '!(V|a|1 | V|a|2)'],
  [{ a: { $ne: 1 } }, '!V|a|1'],
  [{ $nor: [{ a: 1 }, { b: 2 }] }, '!(V|a|1 | V|b|2)'],
  [{ a: { $all: [1, 2] } }, '(V|a|1 & V|a|2)'],
  [{ a: 1, $or: [{ b: 2 }, { c: 3 }] }, '(V|a|1 & (V|b|2 | V|c|3))'],
  // Upper bounds only.
  [{ 'a.0': 1 }, '[_ … V|a|1]'],
  [{ 'a.0.b': { $exists: true } }, '[_ … E|a.b]'],
  [{ 'a.': 1 }, '[_ … V|a.|1]'],
  [{ a: 2n ** 53n + 1n }, '[_ … V|a|9007199254740992]'],
  [{ a: Decimal128.fromString('0.1') }, '[_ … V|a|0.1]'],
  [{ a: /x/ }, '[_ … (T|a|string | T|a|regex)]'],
  [{ a: { $eq: /x/ } }, '[_ … V|a|/x/]'],
  [{ a: new Code('f') }, '[_ … V|a|f]'],
  // Ranges.
  [{ a: { $gt: 1 } }, 'R|1<a'],
  [{ a: { $gte: 1, $lt: 5 } }, '(R|1≤a & R|a<5)'],
  [{ a: { $lt: new Date(5) } }, 'R|a<5'],
  [{ a: { $gte: 'x' } }, 'R|x≤a'],
  [{ a: { $not: { $lte: 1 } } }, '!R|a≤1'],
  [{ 'a.0': { $gt: 1 } }, '[_ … R|1<a]'],
  [{ a: { $gt: 2n ** 53n + 1n } }, '[R|9007199254740992<a … R|9007199254740992≤a]'],
  [{ a: { $lte: Decimal128.fromString('0.1') } }, '[R|a<0.1 … R|a≤0.1]'],
  [{ a: { $gt: true } }, '[_ … T|a|bool]'],
  [{ a: { $gt: [1] } }, '[_ … T|a|array]'],
  [{ '': { $gt: 1 } }, '[_ … *]'],
  [{ a: /^ab/ }, '[R|ab≤a<ac … (R|ab≤a<ac | T|a|regex)]'],
  [{ a: /^a\/b\.c.*d/ }, '[_ … (R|a/b.c≤a<a/b.d | T|a|regex)]'],
  [{ a: /^abc?/s }, '[_ … (R|ab≤a<ac | T|a|regex)]'],
  [{ a: /^ab+/ }, '[_ … (R|ab≤a<ac | T|a|regex)]'],
  [{ a: /^a|b/ }, '[_ … (T|a|string | T|a|regex)]'],
  [{ a: /^a/i }, '[_ … (T|a|string | T|a|regex)]'],
  [{ a: /^a/m }, '[_ … (T|a|string | T|a|regex)]'],
  [{ a: /^\ud83d/ }, '[_ … (T|a|string | T|a|regex)]'],
  [{ a: { $in: [1, /^ab/] } }, '(V|a|1 | [R|ab≤a<ac … (R|ab≤a<ac | T|a|regex)])'],
  [{ a: { $type: 'int' } }, '[_ … T|a|number]'],
  [{ a: { $mod: [2, 0] } }, '[_ … T|a|number]'],
  [{ a: { $bitsAllSet: 1 } }, '[_ … (T|a|number | T|a|binData)]'],
  [{ a: [1, 'x'] }, '[_ … (T|a|array & S|a|2 & V|a|1 & V|a|x)]'],
  [{ a: { b: 1, c: [] } }, '[_ … (T|a|object & V|a.b|1 & T|a.c|array & S|a.c|0)]'],
  [{ a: { b: null } }, '[_ … (T|a|object & V|a.b|0)]'],
  [{ a: { 'b.c': 1, 0: 2 } }, '[_ … (T|a|object & V|a|2)]'],
  [{ a: { $ne: [1] } }, '![_ … (T|a|array & S|a|1 & V|a|1)]'],
  [{ a: { $not: /x/ } }, '![_ … (T|a|string | T|a|regex)]'],
  // Elements.
  [{ a: { $elemMatch: { $gt: 1, $ne: 2 } } }, '[_ … (T|a|array & R|1<a)]'],
  [{ a: { $elemMatch: { b: 1, c: { $ne: 2 }, d: null } } }, '[_ … (T|a|array & V|a.b|1)]'],
  [{ a: { $elemMatch: { $eq: null } } }, '[_ … (T|a|array & T|a|null)]'],
  [{ a: { $elemMatch: { $nor: [{ b: 1 }] } } }, '[_ … T|a|array]'],
  [{ a: { $elemMatch: { $or: [{ b: 1 }, { 'c.0': 2 }] } } }, '[_ … (T|a|array & (V|a.b|1 | V|a.c|2))]'],
  // Null.
  [{ a: null }, '(T|a|null | !E|a)'],
  [{ a: { $lte: null } }, '(T|a|null | !E|a)'],
  [{ 'a.b': null }, '[(T|a.b|null | (!E|a.b & !T|a|array)) … (T|a.b|null | !E|a.b | T|a|array)]'],
  [{ 'a.0': null }, '[_ … *]'],
  [{ a: { $lt: null } }, '_'],
  // Nothing is known.
  [{ a: { $all: [] } }, '_'],
  [{ a: { $in: [] } }, '_'],
  [{ 0: 1 }, '[_ … *]'],
  [{ '': 1 }, '[_ … *]'],
  [{ $where: () => true }, '[_ … *]'],
  [{ a: { $type: 'undefined' } }, '_'],
  // Conditions implied by schemas.
  [{ $jsonSchema: {} }, '[_ … *]'],
  [{ $jsonSchema: { required: ['a'] } }, '(E|a & [_ … *])'],
  [{ $jsonSchema: { required: ['a'], properties: { a: { type: 'string' } } } }, '(E|a & T|a|string & [_ … *])'],
  [{ $jsonSchema: { properties: { a: { type: 'string' } } } }, '[_ … *]'],
  [{ $jsonSchema: { required: ['a'], properties: { a: { enum: [1, 'x'] } } } }, '(E|a & (V|a|1 | V|a|x) & [_ … *])'],
  [
    { $jsonSchema: { required: ['a'], properties: { a: { enum: [1, null, { b: 1 }] } } } },
    '(E|a & (V|a|1 | T|a|null | T|a|object) & [_ … *])'
  ],
  [
    { $jsonSchema: { required: ['a'], properties: { a: { type: 'number', minimum: 5 } } } },
    '(E|a & T|a|number & R|5≤a & [_ … *])'
  ],
  [{ $jsonSchema: { required: ['a'], properties: { a: { minimum: 5 } } } }, '(E|a & [_ … *])'],
  [
    { $jsonSchema: { required: ['a'], properties: { a: { bsonType: ['int', 'null'], minimum: 5 } } } },
    '(E|a & ([_ … T|a|number] | T|a|null) & (R|5≤a | T|a|null) & [_ … *])'
  ],
  [
    { $jsonSchema: { required: ['a'], properties: { a: { type: 'string', pattern: '^ab' } } } },
    '(E|a & T|a|string & [R|ab≤a<ac … (R|ab≤a<ac | T|a|regex)] & [_ … *])'
  ],
  [
    { $jsonSchema: { required: ['a'], properties: { a: { type: 'object', required: ['b'] } } } },
    '(E|a & T|a|object & E|a.b & [_ … *])'
  ],
  [{ $jsonSchema: { required: ['a'], properties: { a: { required: ['b'] } } } }, '(E|a & [_ … *])'],
  [
    { $jsonSchema: { required: ['a'], properties: { a: { type: ['object', 'null'], required: ['b'] } } } },
    '(E|a & (T|a|object | T|a|null) & [_ … *])'
  ],
  [{ $jsonSchema: { required: ['a.b'] } }, '[_ … *]'],
  [{ $jsonSchema: { required: ['0', ''] } }, '([_ … *] & [_ … *] & [_ … *])'],
  [{ $jsonSchema: { anyOf: [{ required: ['a'] }, { required: ['b'] }] } }, '((E|a | E|b) & [_ … *])'],
  [{ $jsonSchema: { oneOf: [{ required: ['a'] }, {}] } }, '[_ … *]'],
  [{ $jsonSchema: { not: { required: ['a'] } } }, '[_ … *]'],
  [{ $jsonSchema: { type: 'string' } }, '_'],
  [{ $nor: [{ $jsonSchema: { required: ['a'] } }] }, '!(E|a & [_ … *])']
]

for (const [filter, expected] of rewrites) {
  test(`${filterText(filter)} is bounded by ${expected}`, () => assert.is(show(compileFilter(filter).bounds), expected))
}

function filterText(filter: unknown): string {
  return JSON.stringify(filter, (_, value: unknown) =>
    typeof value === 'bigint' || value instanceof RegExp ? String(value) : value
  )
}

test('a huge value is bounded by some of its pairs', () => {
  const { bounds } = compileFilter({ a: Array.from({ length: 10_000 }, (_, i) => i) })
  assert.ok(show(bounds).length < 1000)
})

test('$in of very many values is bounded by their types', () => {
  const numbers = Array.from({ length: 60_000 }, (_, i) => i)
  assert.is(show(compileFilter({ a: { $in: numbers } }).bounds), '[_ … T|a|number]')
  assert.is(
    show(compileFilter({ a: { $in: [...numbers, 'x', null, /y/] } }).bounds),
    ['[_ … (T|a|number | T|a|string | [_ … (T|a|string | T|a|regex)]', 'T|a|null | !E|a)]'].join(' | ')
  )
})

test('a compiled filter has ids when only documents with those ids can match', () => {
  const id = new ObjectId()
  const cases: readonly (readonly [filter: unknown, ids: readonly unknown[] | undefined])[] = [
    [{ _id: 5 }, [5]],
    [{ _id: { $eq: 'x' }, a: { $ne: 1 } }, ['x']],
    [{ _id: { $in: [1, 1n, id, id] } }, [1, id]],
    [{ $and: [{ _id: { $in: [1, 2] } }, { _id: 2 }] }, [2]],
    [{ $or: [{ _id: 1 }, { _id: { $in: [2, 1] } }] }, [1, 2]],
    [{ _id: { $in: [] } }, []],
    [{ $or: [{ _id: 1 }, { a: 2 }] }, undefined],
    [{ $nor: [{ _id: 1 }] }, undefined],
    [{ _id: { $ne: 1 } }, undefined],
    [{ _id: null }, undefined],
    [{ _id: { $in: [1, null] } }, undefined],
    [{ _id: /x/ }, undefined],
    [{ _id: { $in: [1, /x/] } }, undefined],
    [{ _id: { a: 1 } }, undefined],
    [{ _id: [1] }, undefined],
    [{ _id: { $gt: 1 } }, undefined],
    [{ '_id.a': 1 }, undefined],
    [{ a: { $elemMatch: { _id: 1 } } }, undefined],
    [{ $jsonSchema: { required: ['_id'], properties: { _id: { enum: [1, 'x'] } } } }, [1, 'x']],
    [{ $jsonSchema: { properties: { _id: { enum: [1, 'x'] } } } }, undefined]
  ]
  for (const [filter, ids] of cases) assert.equal(compileFilter(filter).ids, ids, filterText(filter))
})

test('a compiled filter lists the conditions that bounds cannot express, for explain()', () => {
  const filter = {
    $where: () => true,
    'a.b': { $mod: [2, 0] },
    c: { $gt: 1, $lt: 5, $gte: true },
    d: null,
    'd.0': null,
    e: { $elemMatch: { f: /x/, $nor: [{ g: null }] } },
    h: { $in: [1, /y/] },
    i: 1,
    $jsonSchema: { required: ['j'] }
  }
  assert.equal(compileFilter(filter).unbounded, [
    '$where',
    '$mod at a.b',
    '$gte at c',
    'null at d.0',
    '$regex at e.f',
    'null at e.g',
    '$regex at h',
    '$jsonSchema'
  ])
  assert.equal(compileFilter({ a: 1, b: { $exists: true } }).unbounded, [])
})

test.run()
