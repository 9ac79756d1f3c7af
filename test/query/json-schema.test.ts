/** Which documents `$jsonSchema` matches, keyword by keyword. */
import { Binary, Code, Decimal128, Long, MaxKey, MinKey, ObjectId, Timestamp } from 'bson'
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import type { Document } from '../../src/model/types.ts'
import { compileFilter } from '../../src/query/filter.ts'
import { type Claim, testClaims } from '../support/claims.ts'

function decimal(text: string): Decimal128 {
  return Decimal128.fromString(text)
}

/** Claims about documents. */
function claim(
  claim: string,
  schema: Document,
  matches: readonly Document[],
  rejects: readonly Document[] = []
): Claim {
  return { claim, filter: { $jsonSchema: schema }, matches, rejects }
}

/** Claims about values of one property: a missing one is valid unless it is required. */
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
  claim('an empty schema matches everything', {}, [{}, { a: 1 }]),
  claim('title and description have no effect', { title: 'a', description: 'b' }, [{}]),
  claim('a document has the type object', { type: 'object' }, [{}, { a: 1 }]),
  claim('a document matches a list of types that contains object', { bsonType: ['string', 'object'] }, [{}]),
  claim('a document has no other type', { type: 'string' }, [], [{}, { a: 'x' }]),
  claim('keywords for other types ignore the document', { minItems: 9, minimum: 9, minLength: 9, items: { not: {} } }, [
    {}
  ]),

  onValues(
    'type: number matches every kind of number',
    { type: 'number' },
    [1, 1.5, 2n, Long.ONE, decimal('1'), Number.NaN],
    ['x', null, [1], {}]
  ),
  onValues('types are those of the value itself, not of elements', { type: 'string' }, ['x', ''], [['x'], [], null]),
  onValues('type: array matches arrays', { type: 'array' }, [[], [1]], [{}, 'x']),
  onValues(
    'type: object matches objects',
    { type: 'object' },
    [{}, { b: 1 }],
    [[{}], null, new Date(5), new ObjectId()]
  ),
  onValues('type: boolean matches booleans', { type: 'boolean' }, [true, false], [0, null]),
  onValues('type: null matches only null', { type: 'null' }, [null], [0, '', []]),
  onValues('a list of types matches any of them', { type: ['number', 'null'] }, [1, null], ['x', [1], [null]]),
  onValues(
    'bsonType int matches only int',
    { bsonType: 'int' },
    [1, -5],
    [1n, Long.ONE, 1.5, 2 ** 31, decimal('1'), 'x']
  ),
  onValues('bsonType long matches only long', { bsonType: 'long' }, [1n, Long.ONE], [1, decimal('1')]),
  onValues(
    'bsonType double matches only double',
    { bsonType: ['double', 'objectId'] },
    [1.5, 2 ** 40, new ObjectId()],
    [1, 1n, [1.5]]
  ),
  onValues('bsonType decimal matches only Decimal128', { bsonType: 'decimal' }, [decimal('1')], [1, 1n]),
  onValues('bsonType number matches every kind of number', { bsonType: 'number' }, [1, 1n, 1.5, decimal('1')], ['1']),
  onValues('bsonType date matches only dates', { bsonType: 'date' }, [new Date(5)], [5, new Timestamp({ t: 1, i: 1 })]),
  onValues('bsonType regex matches only patterns', { bsonType: 'regex' }, [/x/], ['x']),
  onValues('bsonType binData', { bsonType: 'binData' }, [new Uint8Array(2), new Binary(new Uint8Array(2))], ['x']),
  onValues('bsonType javascript', { bsonType: 'javascript' }, [new Code('f()')], [new Code('f()', { n: 1 })]),
  onValues('bsonType javascriptWithScope', { bsonType: 'javascriptWithScope' }, [new Code('f()', { n: 1 })], [1]),
  onValues('bsonType minKey', { bsonType: 'minKey' }, [new MinKey()], [new MaxKey()]),
  onValues('bsonType symbol, which is never stored, matches nothing', { bsonType: 'symbol' }, [], ['x', null]),

  onValues(
    'enum compares complete values',
    { enum: ['x', 5, [1, 2], []] },
    ['x', 5, 5n, decimal('5.0'), [1, 2n], []],
    [['x'], [5], [2, 1], [1], null, '5']
  ),
  onValues('enum with null matches only null', { enum: [null] }, [null], [0, [null]]),
  onValues(
    'enum ignores the order of fields',
    { enum: [{ x: 1, y: { p: 1, q: 2 } }] },
    [
      { x: 1, y: { p: 1, q: 2 } },
      { y: { q: 2, p: 1n }, x: 1 }
    ],
    [{ x: 1 }, { x: 1, y: { p: 1, q: 2 }, z: 1 }, { x: 1, y: { p: 2, q: 1 } }]
  ),
  onValues(
    'enum ignores the order of fields in arrays, too',
    { enum: [[{ x: 1, y: 1 }]] },
    [[{ y: 1, x: 1 }]],
    [{ x: 1, y: 1 }]
  ),
  onValues('enum compares patterns as values', { enum: [/x/] }, [/x/], ['x', /x/i]),
  claim(
    'enum may list complete documents',
    { enum: [{ _id: 0, a: 'x' }, 7] },
    [
      { _id: 0, a: 'x' },
      { a: 'x', _id: 0 }
    ],
    [{ _id: 0 }, { _id: 0, a: 'x', b: 1 }]
  ),
  claim('enum without an object matches no document', { enum: [1, null, []] }, [], [{}]),

  onValues(
    'minimum and maximum apply to numbers only',
    { minimum: 0, maximum: 5 },
    [0, 5, 2n, decimal('4.9'), 'x', null, [9], {}],
    [-1, 6, 6n, decimal('5.1'), Number.NaN]
  ),
  onValues(
    'exclusive limits exclude the limit itself',
    { minimum: 0, exclusiveMinimum: true, maximum: 5, exclusiveMaximum: true },
    [1],
    [0, -0, 5, 5n]
  ),
  onValues('exclusiveMinimum: false includes the limit', { minimum: 0, exclusiveMinimum: false }, [0], [-1]),
  onValues('limits are exact', { maximum: 2 ** 53 }, [2 ** 53, 2n ** 53n], [2n ** 53n + 1n]),
  onValues('NaN is within the limit NaN', { minimum: Number.NaN }, [Number.NaN, decimal('NaN'), 'x'], [0]),
  onValues(
    'no number is within an exclusive NaN',
    { minimum: Number.NaN, exclusiveMinimum: true },
    ['x'],
    [0, Number.NaN]
  ),
  onValues('a limit has no effect with another type', { type: 'string', maximum: 0 }, ['x'], [-1]),
  onValues(
    'multipleOf applies to numbers only',
    { multipleOf: 2 },
    [4, 0, -2, 6n, decimal('8.0'), 'x', [3]],
    [3, 2.5, Number.NaN, Infinity]
  ),
  onValues(
    'multipleOf is exact in decimals',
    { multipleOf: 0.1 },
    [0.3, 0.7, 1, decimal('0.2')],
    [0.35, decimal('0.25')]
  ),
  onValues('multipleOf may be a Decimal128', { multipleOf: decimal('0.25') }, [0.5, 1.75, 3n], [0.3]),

  onValues(
    'lengths count code points',
    { minLength: 2, maxLength: 3 },
    ['ab', 'abc', '😀😀😀', '\ud83dx', 5, null, ['a']],
    ['', '😀', 'abcd']
  ),
  onValues('pattern is not anchored', { pattern: 'a+b' }, ['aab', 'xaby', 5, ['x'], /x/], ['a', '']),
  onValues('a pattern may start with inline flags', { pattern: '(?i)^x' }, ['X'], ['aX']),

  onValues(
    'minItems and maxItems count elements',
    { minItems: 1, maxItems: 2 },
    [[1], [[], []], 'x', {}],
    [[], [1, 2, 3]]
  ),
  onValues(
    'uniqueItems refuses equal elements',
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
  onValues('uniqueItems: false has no effect', { uniqueItems: false }, [[1, 1]]),
  onValues(
    'items with a schema applies to every element',
    { items: { type: 'string' } },
    [[], ['a', 'b'], 5, {}],
    [['a', 1], [null], [['a']]]
  ),
  onValues(
    'items with a list applies to the first elements, one by one',
    { items: [{ maximum: 1 }, { type: 'string' }] },
    [[], [1], [0, 'x', 9], ['x', 'x']],
    [[2], [1, 2]]
  ),
  onValues(
    'additionalItems applies to all elements after those of the list',
    { items: [{}], additionalItems: { type: 'string' } },
    [[], [1], [1, 'x']],
    [
      [1, 2],
      [1, 'x', 2]
    ]
  ),
  onValues(
    'additionalItems: false refuses more elements than the list',
    { items: [{}, {}], additionalItems: false },
    [[], [1, 2]],
    [[1, 2, 3]]
  ),
  onValues('additionalItems: true has no effect', { items: [{}], additionalItems: true }, [[1, 2, 3]]),
  onValues('additionalItems has no effect without items', { additionalItems: false }, [[1]]),
  onValues('additionalItems has no effect if items is one schema', { items: {}, additionalItems: false }, [[1]]),
  onValues('an undefined element is null', { items: { type: 'null' } }, [[undefined]], [[1]]),

  claim(
    'required means own keys',
    { required: ['a', 'b'] },
    [{ a: null, b: [] }],
    [{ a: 1 }, { b: 1 }, { c: { a: 1, b: 1 } }]
  ),
  claim('inherited properties are missing', { required: ['constructor'] }, [{ constructor: 1 }], [{}]),
  claim('undefined is missing', { required: ['a'] }, [], [{ a: undefined }]),
  claim('a dotted name is one key', { required: ['a.b'] }, [{ 'a.b': 1 }], [{ a: { b: 1 } }]),
  claim(
    'digits are a key like any other',
    { properties: { a: { required: ['0'] } }, required: ['a'] },
    [{ a: { 0: 1 } }, { a: [] }],
    [{ a: {} }]
  ),
  claim('the empty key can be required', { required: [''] }, [{ '': 1 }], [{}]),
  claim('names may begin with $', { properties: { $x: { type: 'string' } } }, [{}, { $x: 'a' }], [{ $x: 1 }]),
  onValues('required applies to objects only', { required: ['b'] }, [{ b: 1 }, 5, [{}], null], [{}, { c: 1 }]),
  onValues(
    'required applies to objects if they are one of several types',
    { type: ['object', 'null'], required: ['b'] },
    [{ b: 1 }, null],
    [{}, 5]
  ),
  onValues(
    'a limit applies to numbers if they are one of several types',
    { bsonType: ['null', 'int'], minimum: 5 },
    [5, null],
    [4, 5n, [5]]
  ),
  claim(
    'properties apply to objects only, level by level',
    { properties: { a: { properties: { b: { type: 'string' } } } } },
    [{ a: { b: 'x' } }, { a: {} }, { a: 3 }, { a: [{ b: 3 }] }],
    [{ a: { b: 3 } }]
  ),
  claim(
    'elements of arrays are not searched for properties',
    { required: ['a'], properties: { a: { type: 'object', required: ['b'] } } },
    [{ a: { b: 1 } }],
    [{ a: [{ b: 1 }] }, { a: {} }, {}]
  ),
  claim(
    'patternProperties apply to all matching names',
    { patternProperties: { '^s': { type: 'string' }, x$: { minimum: 1 } } },
    [{ s: 'a', sx: 'b', x: 1, y: 0 }],
    [{ s: 1 }, { sx: 1 }, { ax: 0 }]
  ),
  claim(
    'properties and patternProperties may apply to the same name',
    { properties: { s: { minLength: 2 } }, patternProperties: { s: { maxLength: 3 } } },
    [{ s: 'ab', st: 'a' }],
    [{ s: 'a' }, { s: 'abcd' }, { st: 'abcd' }]
  ),
  claim(
    'additionalProperties: false refuses all other names',
    { properties: { _id: {}, a: {} }, patternProperties: { '^b': {} }, additionalProperties: false },
    [{ _id: 1 }, { a: 1, bc: 1 }, { a: 1, c: undefined }],
    [{ c: 1 }, { a: 1, cb: 1 }]
  ),
  claim(
    'additionalProperties may be a schema for all other names',
    { properties: { _id: {} }, additionalProperties: { type: 'number' } },
    [{ _id: 'x', b: 1 }],
    [{ b: 'x' }]
  ),
  claim('additionalProperties: true has no effect', { additionalProperties: true }, [{ a: 1 }]),
  onValues(
    'additionalProperties: false applies to nested objects only',
    { properties: { b: {} }, additionalProperties: false },
    [{ b: 1 }, {}, 5, [{ c: 1 }]],
    [{ c: 1 }]
  ),
  claim(
    'minProperties and maxProperties count fields that are not undefined',
    { minProperties: 1, maxProperties: 2 },
    [{ a: 1 }, { a: 1, b: 2, c: undefined }],
    [{}, { a: 1, b: 2, c: 3 }]
  ),
  claim(
    'dependencies may require other names',
    { dependencies: { a: ['b', 'c'] } },
    [{}, { b: 1 }, { a: 1, b: 1, c: 1 }],
    [{ a: 1 }, { a: 1, b: 1 }]
  ),
  claim(
    'dependencies may require a schema',
    { dependencies: { a: { required: ['b'], properties: { c: { type: 'string' } } } } },
    [{ c: 1 }, { a: 1, b: 1 }, { a: 1, b: 1, c: 'x' }],
    [{ a: 1 }, { a: 1, b: 1, c: 1 }]
  ),
  onValues(
    'dependencies apply to objects only',
    { dependencies: { b: ['c'] } },
    [5, [{ b: 1 }], { b: 1, c: 1 }],
    [{ b: 1 }]
  ),
  claim('empty dependencies have no effect', { dependencies: {} }, [{}]),

  onValues('allOf needs all its schemas', { allOf: [{ type: 'number' }, { minimum: 0 }] }, [0], [-1, 'x', [0]]),
  onValues(
    'anyOf needs one of its schemas',
    { anyOf: [{ type: 'string' }, { type: 'number', minimum: 1 }] },
    ['x', 1],
    [0, ['x']]
  ),
  onValues('oneOf needs exactly one of its schemas', { oneOf: [{ minimum: 0 }, { maximum: 3 }] }, [4, -1], [1, 'x']),
  onValues('not negates a schema', { not: { type: 'number' } }, ['x', [1]], [1]),
  claim(
    'not of optional properties does not match if they are missing',
    { not: { properties: { a: { type: 'string' } } } },
    [{ a: 1 }],
    [{}, { a: 'x' }]
  ),
  claim('not of an empty schema matches nothing', { not: {} }, [], [{}]),
  claim('oneOf of two empty schemas matches nothing', { oneOf: [{}, {}] }, [], [{}]),
  claim(
    'schemas of allOf may require and describe a property separately',
    { allOf: [{ required: ['a'] }, { properties: { a: { bsonType: 'int' } } }] },
    [{ a: 1 }],
    [{}, { a: 'x' }]
  )
]

testClaims(claims.flat())

testClaims([
  {
    claim: '$jsonSchema can be used wherever top-level operators can',
    filter: {
      $or: [{ b: 1 }, { $jsonSchema: { required: ['a'] }, c: 2 }],
      $nor: [{ $jsonSchema: { required: ['z'] } }]
    },
    matches: [{ b: 1 }, { a: 1, c: 2 }],
    rejects: [{ a: 1 }, { b: 1, z: 1 }]
  },
  {
    claim: '$jsonSchema in $elemMatch applies to the element',
    filter: { a: { $elemMatch: { $jsonSchema: { required: ['b'], properties: { b: { type: 'string' } } } } } },
    matches: [{ a: [{ b: 1 }, { b: 'x' }] }],
    rejects: [{ a: { b: 'x' } }, { a: [{ b: 1 }, { c: 'x' }] }, { a: ['b'] }]
  }
])

test('a schema is copied, so that changing it later has no effect', () => {
  const required = ['a']
  const { matches } = compileFilter({ $jsonSchema: { required } })
  required.push('b')
  assert.ok(matches({ a: 1 }))
})

test('schemas may be deep, and have thousands of properties', () => {
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
