/** What schemas of `$jsonSchema` say, keyword by keyword. */
import { Binary, Code, Decimal128, Long, MaxKey, MinKey, ObjectId, Timestamp } from 'bson'
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import type { Document } from '../../src/model/types.ts'
import { compileFilter } from '../../src/query/filter.ts'
import { type Claim, testClaims } from '../support/claims.ts'

function decimal(text: string): Decimal128 {
  return Decimal128.fromString(text)
}

/** Of documents. */
function claim(
  claim: string,
  schema: Document,
  matches: readonly Document[],
  rejects: readonly Document[] = []
): Claim {
  return { claim, filter: { $jsonSchema: schema }, matches, rejects }
}

/** Of values of one property: where it is missing, all is well unless it is required. */
function onValues(
  text: string,
  schema: Document,
  passing: readonly unknown[],
  failing: readonly unknown[] = []
): Claim[] {
  const matches = passing.map((a) => ({ a }))
  const rejects = failing.map((a) => ({ a }))
  const properties = { a: schema }
  return [
    claim(text, { properties }, [{}, { b: 1 }, ...matches], rejects),
    claim(`${text}, and required`, { properties, required: ['a'] }, matches, [{}, { b: 1 }, ...rejects])
  ]
}

const claims: readonly (Claim | readonly Claim[])[] = [
  claim('an empty schema says nothing', {}, [{}, { a: 1 }]),
  claim('title and description say nothing', { title: 'a', description: 'b' }, [{}]),
  claim('a document is an object', { type: 'object' }, [{}, { a: 1 }]),
  claim('and may be one among other things', { bsonType: ['string', 'object'] }, [{}]),
  claim('and nothing else', { type: 'string' }, [], [{}, { a: 'x' }]),
  claim('keywords for other types say nothing of it', { minItems: 9, minimum: 9, minLength: 9, items: { not: {} } }, [
    {}
  ]),

  onValues(
    'type: number is every kind of number',
    { type: 'number' },
    [1, 1.5, 2n, Long.ONE, decimal('1'), Number.NaN],
    ['x', null, [1], {}]
  ),
  onValues('types are those of the value itself, not of elements', { type: 'string' }, ['x', ''], [['x'], [], null]),
  onValues('type: array', { type: 'array' }, [[], [1]], [{}, 'x']),
  onValues('type: object', { type: 'object' }, [{}, { b: 1 }], [[{}], null, new Date(5), new ObjectId()]),
  onValues('type: boolean is bsonType bool', { type: 'boolean' }, [true, false], [0, null]),
  onValues('type: null is null itself', { type: 'null' }, [null], [0, '', []]),
  onValues('a list of types', { type: ['number', 'null'] }, [1, null], ['x', [1], [null]]),
  onValues('kinds of numbers', { bsonType: 'int' }, [1, -5], [1n, Long.ONE, 1.5, 2 ** 31, decimal('1'), 'x']),
  onValues('bsonType long', { bsonType: 'long' }, [1n, Long.ONE], [1, decimal('1')]),
  onValues('bsonType double', { bsonType: ['double', 'objectId'] }, [1.5, 2 ** 40, new ObjectId()], [1, 1n, [1.5]]),
  onValues('bsonType decimal', { bsonType: 'decimal' }, [decimal('1')], [1, 1n]),
  onValues('bsonType number', { bsonType: 'number' }, [1, 1n, 1.5, decimal('1')], ['1']),
  onValues('bsonType date', { bsonType: 'date' }, [new Date(5)], [5, new Timestamp({ t: 1, i: 1 })]),
  onValues('bsonType regex', { bsonType: 'regex' }, [/x/], ['x']),
  onValues('bsonType binData', { bsonType: 'binData' }, [new Uint8Array(2), new Binary(new Uint8Array(2))], ['x']),
  onValues('bsonType javascript', { bsonType: 'javascript' }, [new Code('f()')], [new Code('f()', { n: 1 })]),
  onValues('bsonType javascriptWithScope', { bsonType: 'javascriptWithScope' }, [new Code('f()', { n: 1 })], [1]),
  onValues('bsonType minKey', { bsonType: 'minKey' }, [new MinKey()], [new MaxKey()]),
  onValues('a type that is never stored', { bsonType: 'symbol' }, [], ['x', null]),

  onValues(
    'enum compares whole values',
    { enum: ['x', 5, [1, 2], []] },
    ['x', 5, 5n, decimal('5.0'), [1, 2n], []],
    [['x'], [5], [2, 1], [1], null, '5']
  ),
  onValues('enum of null is null itself', { enum: [null] }, [null], [0, [null]]),
  onValues(
    'enum minds no order of fields',
    { enum: [{ x: 1, y: { p: 1, q: 2 } }] },
    [
      { x: 1, y: { p: 1, q: 2 } },
      { y: { q: 2, p: 1n }, x: 1 }
    ],
    [{ x: 1 }, { x: 1, y: { p: 1, q: 2 }, z: 1 }, { x: 1, y: { p: 2, q: 1 } }]
  ),
  onValues('enum minds it in no array either', { enum: [[{ x: 1, y: 1 }]] }, [[{ y: 1, x: 1 }]], [{ x: 1, y: 1 }]),
  onValues('enum knows patterns as values', { enum: [/x/] }, [/x/], ['x', /x/i]),
  claim(
    'enum of the document',
    { enum: [{ _id: 0, a: 'x' }, 7] },
    [
      { _id: 0, a: 'x' },
      { a: 'x', _id: 0 }
    ],
    [{ _id: 0 }, { _id: 0, a: 'x', b: 1 }]
  ),
  claim('enum without an object matches no document', { enum: [1, null, []] }, [], [{}]),

  onValues(
    'minimum and maximum are for numbers',
    { minimum: 0, maximum: 5 },
    [0, 5, 2n, decimal('4.9'), 'x', null, [9], {}],
    [-1, 6, 6n, decimal('5.1'), Number.NaN]
  ),
  onValues(
    'they may exclude themselves',
    { minimum: 0, exclusiveMinimum: true, maximum: 5, exclusiveMaximum: true },
    [1],
    [0, -0, 5, 5n]
  ),
  onValues('or say that they do not', { minimum: 0, exclusiveMinimum: false }, [0], [-1]),
  onValues('limits are exact', { maximum: 2 ** 53 }, [2 ** 53, 2n ** 53n], [2n ** 53n + 1n]),
  onValues('NaN is at NaN', { minimum: Number.NaN }, [Number.NaN, decimal('NaN'), 'x'], [0]),
  onValues('and never beyond it', { minimum: Number.NaN, exclusiveMinimum: true }, ['x'], [0, Number.NaN]),
  onValues('a limit with another type says nothing', { type: 'string', maximum: 0 }, ['x'], [-1]),
  onValues('multipleOf', { multipleOf: 2 }, [4, 0, -2, 6n, decimal('8.0'), 'x', [3]], [3, 2.5, Number.NaN, Infinity]),
  onValues(
    'multipleOf counts in decimals',
    { multipleOf: 0.1 },
    [0.3, 0.7, 1, decimal('0.2')],
    [0.35, decimal('0.25')]
  ),
  onValues('multipleOf a decimal', { multipleOf: decimal('0.25') }, [0.5, 1.75, 3n], [0.3]),

  onValues(
    'lengths are in code points',
    { minLength: 2, maxLength: 3 },
    ['ab', 'abc', '😀😀😀', '\ud83dx', 5, null, ['a']],
    ['', '😀', 'abcd']
  ),
  onValues('pattern is not anchored', { pattern: 'a+b' }, ['aab', 'xaby', 5, ['x'], /x/], ['a', '']),
  onValues('pattern with flags in front', { pattern: '(?i)^x' }, ['X'], ['aX']),

  onValues('minItems and maxItems', { minItems: 1, maxItems: 2 }, [[1], [[], []], 'x', {}], [[], [1, 2, 3]]),
  onValues(
    'uniqueItems',
    { uniqueItems: true },
    [
      [],
      [1, 2],
      ['a', 'A'],
      [{}, '', [], null],
      [
        [1, 2],
        [2, 1]
      ],
      'aa'
    ],
    [
      [1, 1n],
      [1, decimal('1.0')],
      ['a', 'a'],
      [null, null],
      [
        [1, 2],
        [1, 2]
      ],
      [
        { x: 1, y: [1] },
        { y: [1], x: 1 }
      ]
    ]
  ),
  onValues('uniqueItems: false says nothing', { uniqueItems: false }, [[1, 1]]),
  onValues(
    'items for every element',
    { items: { type: 'string' } },
    [[], ['a', 'b'], 5, {}],
    [['a', 1], [null], [['a']]]
  ),
  onValues(
    'items for the first ones',
    { items: [{ maximum: 1 }, { type: 'string' }] },
    [[], [1], [0, 'x', 9], ['x', 'x']],
    [[2], [1, 2]]
  ),
  onValues(
    'additionalItems for all others',
    { items: [{}], additionalItems: { type: 'string' } },
    [[], [1], [1, 'x']],
    [
      [1, 2],
      [1, 'x', 2]
    ]
  ),
  onValues('additionalItems: false', { items: [{}, {}], additionalItems: false }, [[], [1, 2]], [[1, 2, 3]]),
  onValues('additionalItems: true', { items: [{}], additionalItems: true }, [[1, 2, 3]]),
  onValues('additionalItems without a list says nothing', { additionalItems: false }, [[1]]),
  onValues('additionalItems beside one schema says nothing', { items: {}, additionalItems: false }, [[1]]),
  onValues('an undefined element is null', { items: { type: 'null' } }, [[undefined]], [[1]]),

  claim(
    'required asks for own keys',
    { required: ['a', 'b'] },
    [{ a: null, b: [] }],
    [{ a: 1 }, { b: 1 }, { c: { a: 1, b: 1 } }]
  ),
  claim('what objects inherit is not there', { required: ['constructor'] }, [{ constructor: 1 }], [{}]),
  claim('undefined is missing', { required: ['a'] }, [], [{ a: undefined }]),
  claim('a name is one key', { required: ['a.b'] }, [{ 'a.b': 1 }], [{ a: { b: 1 } }]),
  claim(
    'digits are a key',
    { properties: { a: { required: ['0'] } }, required: ['a'] },
    [{ a: { 0: 1 } }, { a: [] }],
    [{ a: {} }]
  ),
  claim('the empty key', { required: [''] }, [{ '': 1 }], [{}]),
  claim('names that begin with $', { properties: { $x: { type: 'string' } } }, [{}, { $x: 'a' }], [{ $x: 1 }]),
  onValues('required is for objects', { required: ['b'] }, [{ b: 1 }, 5, [{}], null], [{}, { c: 1 }]),
  onValues(
    'so it is where objects are among the types',
    { type: ['object', 'null'], required: ['b'] },
    [{ b: 1 }, null],
    [{}, 5]
  ),
  onValues(
    'a limit where numbers are among the types',
    { bsonType: ['null', 'int'], minimum: 5 },
    [5, null],
    [4, 5n, [5]]
  ),
  claim(
    'properties are for objects, level by level',
    { properties: { a: { properties: { b: { type: 'string' } } } } },
    [{ a: { b: 'x' } }, { a: {} }, { a: 3 }, { a: [{ b: 3 }] }],
    [{ a: { b: 3 } }]
  ),
  claim(
    'no array is walked',
    { required: ['a'], properties: { a: { type: 'object', required: ['b'] } } },
    [{ a: { b: 1 } }],
    [{ a: [{ b: 1 }] }, { a: {} }, {}]
  ),
  claim(
    'patternProperties',
    { patternProperties: { '^s': { type: 'string' }, x$: { minimum: 1 } } },
    [{ s: 'a', sx: 'b', x: 1, y: 0 }],
    [{ s: 1 }, { sx: 1 }, { ax: 0 }]
  ),
  claim(
    'patterns and names may both hold',
    { properties: { s: { minLength: 2 } }, patternProperties: { s: { maxLength: 3 } } },
    [{ s: 'ab', st: 'a' }],
    [{ s: 'a' }, { s: 'abcd' }, { st: 'abcd' }]
  ),
  claim(
    'additionalProperties: false',
    { properties: { _id: {}, a: {} }, patternProperties: { '^b': {} }, additionalProperties: false },
    [{ _id: 1 }, { a: 1, bc: 1 }, { a: 1, c: undefined }],
    [{ c: 1 }, { a: 1, cb: 1 }]
  ),
  claim(
    'additionalProperties with a schema',
    { properties: { _id: {} }, additionalProperties: { type: 'number' } },
    [{ _id: 'x', b: 1 }],
    [{ b: 'x' }]
  ),
  claim('additionalProperties: true', { additionalProperties: true }, [{ a: 1 }]),
  onValues(
    'additionalProperties inside',
    { properties: { b: {} }, additionalProperties: false },
    [{ b: 1 }, {}, 5, [{ c: 1 }]],
    [{ c: 1 }]
  ),
  claim(
    'minProperties and maxProperties',
    { minProperties: 1, maxProperties: 2 },
    [{ a: 1 }, { a: 1, b: 2, c: undefined }],
    [{}, { a: 1, b: 2, c: 3 }]
  ),
  claim(
    'dependencies on names',
    { dependencies: { a: ['b', 'c'] } },
    [{}, { b: 1 }, { a: 1, b: 1, c: 1 }],
    [{ a: 1 }, { a: 1, b: 1 }]
  ),
  claim(
    'dependencies on a schema',
    { dependencies: { a: { required: ['b'], properties: { c: { type: 'string' } } } } },
    [{ c: 1 }, { a: 1, b: 1 }, { a: 1, b: 1, c: 'x' }],
    [{ a: 1 }, { a: 1, b: 1, c: 1 }]
  ),
  onValues('dependencies are for objects', { dependencies: { b: ['c'] } }, [5, [{ b: 1 }], { b: 1, c: 1 }], [{ b: 1 }]),
  claim('no dependencies', { dependencies: {} }, [{}]),

  onValues('allOf', { allOf: [{ type: 'number' }, { minimum: 0 }] }, [0], [-1, 'x', [0]]),
  onValues('anyOf', { anyOf: [{ type: 'string' }, { type: 'number', minimum: 1 }] }, ['x', 1], [0, ['x']]),
  onValues('oneOf', { oneOf: [{ minimum: 0 }, { maximum: 3 }] }, [4, -1], [1, 'x']),
  onValues('not', { not: { type: 'number' } }, ['x', [1]], [1]),
  claim('not what may be missing', { not: { properties: { a: { type: 'string' } } } }, [{ a: 1 }], [{}, { a: 'x' }]),
  claim('not anything', { not: {} }, [], [{}]),
  claim('oneOf of two that say nothing', { oneOf: [{}, {}] }, [], [{}]),
  claim(
    'what allOf says in parts',
    { allOf: [{ required: ['a'] }, { properties: { a: { bsonType: 'int' } } }] },
    [{ a: 1 }],
    [{}, { a: 'x' }]
  )
]

testClaims(claims.flat())

testClaims([
  {
    claim: '$jsonSchema stands where other top-level operators do',
    filter: {
      $or: [{ b: 1 }, { $jsonSchema: { required: ['a'] }, c: 2 }],
      $nor: [{ $jsonSchema: { required: ['z'] } }]
    },
    matches: [{ b: 1 }, { a: 1, c: 2 }],
    rejects: [{ a: 1 }, { b: 1, z: 1 }]
  },
  {
    claim: '$jsonSchema of an element',
    filter: { a: { $elemMatch: { $jsonSchema: { required: ['b'], properties: { b: { type: 'string' } } } } } },
    matches: [{ a: [{ b: 1 }, { b: 'x' }] }],
    rejects: [{ a: { b: 'x' } }, { a: [{ b: 1 }, { c: 'x' }] }, { a: ['b'] }]
  }
])

test('a schema is copied', () => {
  const required = ['a']
  const { matches } = compileFilter({ $jsonSchema: { required } })
  required.push('b')
  assert.ok(matches({ a: 1 }))
})

test('schemas may be deep and long', () => {
  let schema: Document = { type: 'string' }
  for (let i = 0; i < 45; i++) schema = { items: [], additionalItems: schema }
  assert.ok(compileFilter({ $jsonSchema: schema }).matches({}))
  const names = Array.from({ length: 5000 }, (_, i) => `n${i}`)
  const properties = Object.fromEntries(names.map((name) => [name, { type: 'number' }]))
  const { matches } = compileFilter({ $jsonSchema: { properties, additionalProperties: false } })
  assert.ok(matches({ n7: 1 }))
  assert.not.ok(matches({ n7: 1, m: 1 }))
})

test.run()
