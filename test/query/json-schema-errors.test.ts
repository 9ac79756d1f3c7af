/** Which schemas are refused, and how: MongoDB's codes, and the place in the schema. */
import { Decimal128 } from 'bson'
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { compileFilter } from '../../src/query/filter.ts'
import { assertRefused } from '../support/claims.ts'

/** Each is also refused as the schema of a property. */
const refused: readonly (readonly [schema: unknown, codeName: string, message: RegExp])[] = [
  ['x', 'TypeMismatch', /needs a schema object, not string/],
  [[], 'TypeMismatch', /not array/],
  [null, 'TypeMismatch', /not null/],
  [{ unknown: 1 }, 'FailedToParse', /the keyword 'unknown' is unknown/],
  [{ constructor: 1 }, 'FailedToParse', /the keyword 'constructor' is unknown/],
  [{ const: 1 }, 'FailedToParse', /the keyword 'const' is unknown/],
  ...['$ref', '$schema', 'default', 'definitions', 'format', 'id'].map((keyword) => {
    return [
      { [keyword]: 'x' },
      'FailedToParse',
      new RegExp(`'${keyword.replace('$', '\\$')}' is not supported`)
    ] as const
  }),
  [{ title: 1 }, 'TypeMismatch', /title'?: needs a string, not number/],
  [{ description: {} }, 'TypeMismatch', /description'?: needs a string, not object/],
  [{ type: 1 }, 'TypeMismatch', /type'?: needs a string, not number/],
  [{ type: {} }, 'TypeMismatch', /not object/],
  [{ type: 'integer' }, 'FailedToParse', /'integer' is not supported/],
  [{ bsonType: ['string', 'integer'] }, 'FailedToParse', /'integer' is not supported/],
  [{ type: 'int' }, 'BadValue', /unknown type name 'int'/],
  [{ type: 'bool' }, 'BadValue', /unknown type name 'bool'/],
  [{ bsonType: 'boolean' }, 'BadValue', /unknown type name 'boolean'/],
  [{ bsonType: 'constructor' }, 'BadValue', /unknown type name/],
  [{ type: ['number', 2] }, 'TypeMismatch', /needs a string, not number/],
  [{ bsonType: 16 }, 'TypeMismatch', /needs a string, not number/],
  [{ type: [] }, 'FailedToParse', /at least one/],
  [{ bsonType: [] }, 'FailedToParse', /at least one/],
  [{ type: ['number', 'string', 'number'] }, 'FailedToParse', /contains 'number' twice/],
  [{ type: 'object', bsonType: 'object' }, 'FailedToParse', /'type' and 'bsonType' cannot be combined/],
  [{ enum: 1 }, 'TypeMismatch', /enum'?: needs an array, not number/],
  [{ enum: [] }, 'FailedToParse', /enum'?: .*non-empty/],
  [{ enum: [1, 'x', 1n] }, 'FailedToParse', /enum'?: contains a value twice/],
  [
    {
      enum: [
        { a: 1, b: 2 },
        { b: 2, a: 1 }
      ]
    },
    'FailedToParse',
    /contains a value twice/
  ],
  [{ minimum: 'x' }, 'TypeMismatch', /minimum'?: needs a number, not string/],
  [{ maximum: {} }, 'TypeMismatch', /maximum'?: needs a number, not object/],
  [{ minimum: 1, exclusiveMinimum: 1 }, 'TypeMismatch', /exclusiveMinimum'?: needs a boolean, not number/],
  [{ exclusiveMinimum: true }, 'FailedToParse', /exclusiveMinimum'?: needs 'minimum'/],
  [{ exclusiveMaximum: 5 }, 'FailedToParse', /needs 'maximum'/],
  [{ multipleOf: 'x' }, 'TypeMismatch', /multipleOf'?: needs a number, not string/],
  [{ multipleOf: 0 }, 'FailedToParse', /greater than 0/],
  [{ multipleOf: Decimal128.fromString('-1') }, 'FailedToParse', /greater than 0/],
  [{ multipleOf: Number.NEGATIVE_INFINITY }, 'FailedToParse', /greater than 0/],
  [{ multipleOf: Number.NaN }, 'BadValue', /finite/],
  [{ multipleOf: Number.POSITIVE_INFINITY }, 'BadValue', /finite/],
  [{ minLength: '1' }, 'FailedToParse', /minLength'?: needs an integer, not string/],
  [{ maxLength: -1 }, 'FailedToParse', /maxLength'?: .*non-negative/],
  [{ minItems: 1.5 }, 'FailedToParse', /minItems'?: needs a non-negative integer/],
  [{ maxItems: [1] }, 'FailedToParse', /maxItems'?: needs an integer, not array/],
  [{ minProperties: null }, 'FailedToParse', /minProperties'?: needs an integer, not null/],
  [{ maxProperties: -2 }, 'FailedToParse', /maxProperties'?: /],
  [{ pattern: 6 }, 'TypeMismatch', /pattern'?: needs a string, not number/],
  [{ pattern: /x/ }, 'TypeMismatch', /needs a string, not RegExp/],
  [{ pattern: '(' }, 'BadValue', /invalid regular expression/],
  [{ uniqueItems: 1 }, 'TypeMismatch', /uniqueItems'?: needs a boolean, not number/],
  [{ items: true }, 'TypeMismatch', /items'?: needs a schema or an array of schemas, not bool/],
  [{ items: [{}, 'x'] }, 'TypeMismatch', /items\.1'?: needs a schema/],
  [{ items: { foo: 1 } }, 'FailedToParse', /items'?: the keyword 'foo' is unknown/],
  [{ additionalItems: 1 }, 'TypeMismatch', /additionalItems'?: needs a schema or a boolean, not number/],
  [{ additionalItems: { foo: 1 } }, 'FailedToParse', /'foo' is unknown/],
  [{ required: 'a' }, 'TypeMismatch', /required'?: needs an array, not string/],
  [{ required: [] }, 'FailedToParse', /required'?: .*non-empty/],
  [{ required: ['a', 1] }, 'TypeMismatch', /needs a string, not number/],
  [{ required: ['a', 'b', 'a'] }, 'FailedToParse', /contains 'a' twice/],
  [{ required: ['__proto__'] }, 'BadValue', /__proto__/],
  [{ properties: 1 }, 'TypeMismatch', /properties'?: needs an object, not number/],
  [{ properties: [], additionalProperties: false }, 'TypeMismatch', /properties'?: needs an object, not array/],
  [{ properties: { foo: 1 } }, 'TypeMismatch', /properties\.foo'?: needs a schema/],
  [{ patternProperties: 1 }, 'TypeMismatch', /patternProperties'?: needs an object/],
  [{ patternProperties: { a: 1 } }, 'TypeMismatch', /patternProperties\.a'?: needs a schema/],
  [{ patternProperties: { '(': {} } }, 'BadValue', /invalid regular expression/],
  [{ additionalProperties: 1 }, 'TypeMismatch', /additionalProperties'?: needs a schema or a boolean, not number/],
  [{ dependencies: [] }, 'TypeMismatch', /dependencies'?: needs an object, not array/],
  [{ dependencies: { a: 1 } }, 'TypeMismatch', /dependencies\.a'?: needs a schema/],
  [{ dependencies: { a: [] } }, 'FailedToParse', /dependencies\.a'?: .*non-empty/],
  [{ dependencies: { a: ['b', 'b'] } }, 'FailedToParse', /contains 'b' twice/],
  [{ dependencies: { a: [1] } }, 'TypeMismatch', /needs a string, not number/],
  [{ allOf: {} }, 'TypeMismatch', /allOf'?: needs an array, not object/],
  [{ anyOf: [] }, 'BadValue', /anyOf'?: .*non-empty/],
  [{ oneOf: [0] }, 'TypeMismatch', /oneOf\.0'?: needs a schema/],
  [{ not: [{}] }, 'TypeMismatch', /not'?: needs a schema/],
  [{ allOf: [{ foo: 1 }] }, 'FailedToParse', /allOf\.0'?: the keyword 'foo' is unknown/]
]

test('malformed schemas are refused with MongoDB’s codes, and errors name the place in the schema', () => {
  for (const [schema, codeName, message] of refused) {
    const { details } = assertRefused({ $jsonSchema: schema }, codeName, message)
    assert.ok('path' in details && 'operator' in details)
    const inside = assertRefused({ $jsonSchema: { properties: { p: schema } } }, codeName, message)
    assert.match(inside.message, /at 'properties\.p/)
  }
})

test('the details of an error have the path of the malformed keyword', () => {
  const filter = { $jsonSchema: { properties: { age: { minimum: 'x' } } } }
  const { details, message } = assertRefused(filter, 'TypeMismatch', /minimum/)
  assert.equal(details, { operator: '$jsonSchema', path: 'properties.age.minimum' })
  assert.is(message, "$jsonSchema at 'properties.age.minimum': needs a number, not string")
})

test('$jsonSchema is refused as an operator of a field', () => {
  assertRefused({ a: { $jsonSchema: {} } }, 'BadValue', /\$jsonSchema at 'a': unknown operator/)
  assertRefused({ a: { $not: { $jsonSchema: {} } } }, 'BadValue', /unknown operator/)
})

test('undefined, __proto__ and cycles in a schema are refused like anywhere in a filter', () => {
  assertRefused({ $jsonSchema: { enum: [undefined] } }, 'BadValue', /\$jsonSchema at 'enum': undefined/)
  assertRefused(JSON.parse('{"$jsonSchema": {"properties": {"__proto__": {}}}}'), 'BadValue', /__proto__/)
  const deep = { not: {} }
  deep.not = deep
  assertRefused({ $jsonSchema: deep }, 'BadValue', /contains itself/)
})

test('a count may be greater than 32 bits', () => {
  assert.ok(compileFilter({ $jsonSchema: { maxProperties: 2n ** 40n } }).matches({}))
})

test.run()
