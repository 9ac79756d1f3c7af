import { BSONRegExp, Code } from 'bson'
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { compileFilter } from '../../src/query/filter.ts'
import { maxFilterDepth } from '../../src/query/sanitize.ts'
import { assertRefused } from '../support/claims.ts'

test('undefined is refused, and the error names the path', () => {
  const error = assertRefused({ a: { b: undefined } }, 'BadValue', /undefined.*'a\.b'|'a\.b'.*undefined/)
  assert.equal(error.details, { operator: undefined, path: 'a.b' })
  assertRefused({ user: undefined }, 'BadValue', /'user'/)
  assertRefused({ a: { $in: [1, undefined] } }, 'BadValue', /\$in at 'a'/)
  assertRefused({ $or: [{ a: 1 }, { b: undefined }] }, 'BadValue', /at 'b'/)
  // biome-ignore lint/suspicious/noSparseArray: a hole is undefined too
  assertRefused({ a: [1, , 2] }, 'BadValue', /at 'a'/)
})

test('a filter that is not a plain object is refused', () => {
  for (const filter of [undefined, null, 1, 'x', [], new Map(), new Date(), /x/, () => true, new (class Query {})()]) {
    assertRefused(filter, 'TypeMismatch', /A filter must be a plain object/)
  }
})

test('values that cannot be stored are refused', () => {
  assertRefused({ a: new Map() }, 'BadValue', /Map/)
  assertRefused({ a: () => true }, 'BadValue', /at 'a': .*function/)
  assertRefused({ a: Symbol('x') }, 'BadValue', /symbol/)
  assertRefused({ a: new (class Point {})() }, 'BadValue', /class Point/)
  assertRefused({ a: new Date(Number.NaN) }, 'BadValue', /invalid Date/)
  assertRefused({ a: { $gt: new Error('x') } }, 'BadValue', /\$gt at 'a': .*Error/)
})

test('__proto__ is refused as a key and in a path', () => {
  assertRefused(JSON.parse('{"__proto__": {"a": 1}}'), 'BadValue', /__proto__/)
  assertRefused(JSON.parse('{"a": {"__proto__": 1}}'), 'BadValue', /__proto__/)
  assertRefused({ 'a.__proto__.b': 1 }, 'BadValue', /__proto__/)
})

test('cycles and excessive nesting are refused', () => {
  const cyclic: Record<string, unknown> = {}
  cyclic.$and = [{ a: 1 }, cyclic]
  assertRefused(cyclic, 'BadValue', /contains itself/)
  let deep: unknown = 1
  for (let i = 0; i < 100_000; i++) deep = { a: deep }
  assertRefused({ deep }, 'BadValue', new RegExp(`deeper than ${maxFilterDepth}`))
  let wide: Record<string, unknown> = { a: 1 }
  for (let i = 0; i < 40; i++) wide = { $or: [wide] }
  assert.ok(compileFilter(wide).matches({ a: 1 }))
  const shared = { b: 1 }
  assert.ok(compileFilter({ $or: [shared, shared] }).matches({ b: 1 }), 'an object may occur twice')
})

test('a filter is copied, so that changing it later has no effect', () => {
  const list = [1]
  const date = new Date(5)
  const bytes = Buffer.from([1, 2])
  const { matches } = compileFilter({ a: { $in: list }, b: date })
  const { matches: matchesBytes } = compileFilter({ a: bytes })
  list.push(2)
  date.setTime(6)
  bytes[0] = 9
  assert.ok(matchesBytes({ a: new Uint8Array([1, 2]) }))
  assert.ok(matches({ a: 1, b: new Date(5) }))
  assert.not.ok(matches({ a: 2, b: new Date(5) }))
})

const refused: readonly (readonly [filter: unknown, codeName: string, message: RegExp])[] = [
  [{ $foo: 1 }, 'BadValue', /\$foo: unknown top level operator/],
  [{ $not: { a: 1 } }, 'BadValue', /\$not/],
  [{ $eq: 1 }, 'BadValue', /unknown top level/],
  [{ a: { $foo: 1 } }, 'BadValue', /\$foo at 'a': unknown operator/],
  [{ a: { $gt: 1, b: 2 } }, 'BadValue', /b at 'a': unknown operator/],
  [{ a: { $and: [{ b: 1 }] } }, 'BadValue', /\$and at 'a'/],
  [{ $and: [] }, 'BadValue', /\$and: .*empty/],
  [{ $or: [] }, 'BadValue', /\$or: .*empty/],
  [{ $nor: [] }, 'BadValue', /\$nor: .*empty/],
  [{ $or: { a: 1 } }, 'BadValue', /\$or: needs an array, not object/],
  [{ $and: [1] }, 'BadValue', /\$and: entries must be objects, not number/],
  [{ a: { $ne: /x/ } }, 'BadValue', /\$ne at 'a'/],
  [{ a: { $gt: /x/ } }, 'BadValue', /\$gt at 'a'/],
  [{ a: { $in: 1 } }, 'BadValue', /\$in at 'a': needs an array, not number/],
  [{ a: { $in: [{ $gt: 1 }] } }, 'BadValue', /\$in at 'a'/],
  [{ a: { $nin: 'x' } }, 'BadValue', /\$nin at 'a'/],
  [{ a: { $all: 1 } }, 'BadValue', /\$all at 'a'/],
  [{ a: { $all: [{ $gt: 1 }] } }, 'BadValue', /\$all at 'a'/],
  [{ a: { $all: [{ $elemMatch: { $gt: 1 } }, 2] } }, 'BadValue', /\$all at 'a'/],
  [{ a: { $elemMatch: 1 } }, 'BadValue', /\$elemMatch at 'a': needs an object, not number/],
  [{ a: { $elemMatch: [1] } }, 'BadValue', /not array/],
  [{ a: { $elemMatch: { b: { $foo: 1 } } } }, 'BadValue', /\$foo at 'a\.b'/],
  [{ a: { $elemMatch: { $expr: true } } }, 'BadValue', /\$expr at 'a': .*top-level/],
  [{ a: { $not: 1 } }, 'BadValue', /\$not at 'a'/],
  [{ a: { $not: {} } }, 'BadValue', /\$not at 'a': cannot be empty/],
  [{ a: { $not: { b: 1 } } }, 'BadValue', /unknown operator/],
  [{ a: { $size: -1 } }, 'FailedToParse', /\$size at 'a'/],
  [{ a: { $size: 1.5 } }, 'FailedToParse', /\$size at 'a'/],
  [{ a: { $size: '1' } }, 'FailedToParse', /\$size at 'a': .*string/],
  [{ a: { $type: 'text' } }, 'BadValue', /unknown type name 'text'/],
  [{ a: { $type: 'constructor' } }, 'BadValue', /unknown type name/],
  [{ a: { $type: 99 } }, 'BadValue', /invalid type number 99/],
  [{ a: { $type: 0 } }, 'BadValue', /invalid type number/],
  [{ a: { $type: [] } }, 'FailedToParse', /at least one/],
  [{ a: { $type: true } }, 'TypeMismatch', /not bool/],
  [{ a: { $mod: 4 } }, 'BadValue', /\$mod at 'a': needs an array/],
  [{ a: { $mod: [4] } }, 'BadValue', /two elements/],
  [{ a: { $mod: [4, 1, 2] } }, 'BadValue', /two elements/],
  [{ a: { $mod: [0, 1] } }, 'BadValue', /divisor cannot be 0/],
  [{ a: { $mod: [0.5, 1] } }, 'BadValue', /divisor cannot be 0/],
  [{ a: { $mod: ['4', 1] } }, 'BadValue', /divisor must be a number, not string/],
  [{ a: { $mod: [Number.NaN, 1] } }, 'BadValue', /divisor/],
  [{ a: { $bitsAllSet: -1 } }, 'FailedToParse', /\$bitsAllSet at 'a'/],
  [{ a: { $bitsAnySet: [1.5] } }, 'FailedToParse', /\$bitsAnySet at 'a'/],
  [{ a: { $bitsAllClear: 'x' } }, 'BadValue', /\$bitsAllClear at 'a': .*string/],
  [{ a: { $bitsAnyClear: ['x'] } }, 'BadValue', /integers, not string/],
  [{ a: { $regex: 1 } }, 'BadValue', /\$regex at 'a': .*number/],
  [{ a: { $regex: '(' } }, 'BadValue', /invalid regular expression/],
  ...[
    '\\Aa',
    'a\\z',
    'a\\Z',
    '\\Qa',
    'a\\E',
    '\\h',
    '[\\H]',
    '\\R',
    '\\X',
    'a\\Kb',
    '\\Ga',
    '\\x{61}',
    '\\e',
    '\\p{Nope}'
  ].map(
    ($regex) =>
      [
        { a: { $regex } },
        'BadValue',
        /^\$regex at 'a': invalid regular expression: (?:the PCRE syntax \\(?:[AzZQEhHRXKGe]|x\{) is|\\p needs) /
      ] as const
  ),
  [{ a: { $regex: '[[:alpha:]_]' } }, 'BadValue', /the PCRE syntax \[:alpha:\]/],
  [{ a: { $regex: '[a[:^digit:]]' } }, 'BadValue', /the PCRE syntax \[:\^digit:\]/],
  [{ a: { $regex: '\\p{L}{' } }, 'BadValue', /\\p needs a pattern that is valid with/],
  [{ a: { $not: new BSONRegExp('\\Aa', '') } }, 'BadValue', /the PCRE syntax \\A/],
  [{ $jsonSchema: { properties: { a: { pattern: '\\Aa' } } } }, 'BadValue', /the PCRE syntax \\A/],
  [{ a: { $regex: 'a-{', $options: 'u' } }, 'BadValue', /invalid regular expression \/a-\{\/u/],
  [{ a: { $regex: 'a\0' } }, 'BadValue', /null byte/],
  [{ a: { $regex: 'a', $options: 'q' } }, 'BadValue', /invalid regex option 'q'/],
  [{ a: { $regex: 'a', $options: 1 } }, 'BadValue', /\$options at 'a'/],
  [{ a: { $regex: /a/i, $options: 'm' } }, 'BadValue', /both/],
  [{ a: { $options: 'i' } }, 'BadValue', /\$options at 'a': needs a \$regex/],
  [{ $where: new Code('return true') }, 'BadValue', /\$where: needs a function/],
  [{ $text: { $search: 'x' } }, 'CommandNotSupported', /\$text/],
  [{ a: { $near: [0, 0] } }, 'CommandNotSupported', /\$near at 'a'/],
  [{ a: { $geoWithin: {} } }, 'CommandNotSupported', /\$geoWithin at 'a'/]
]

test('malformed operators are refused with MongoDB’s codes, and errors name operator and path', () => {
  for (const [filter, codeName, message] of refused) {
    const error = assertRefused(filter, codeName, message)
    assert.ok('path' in error.details && 'operator' in error.details)
  }
  const tooLong = Array.from({ length: 201 }, () => 'a').join('.')
  assertRefused({ [tooLong]: { $ne: 1 } }, 'BadValue', /^A path has at most 200 components, not 201/)
  const { details } = assertRefused({ 'a.b': { $size: 'x' } }, 'FailedToParse', /\$size/)
  assert.equal(details, { operator: '$size', path: 'a.b' })
})

test.run()
