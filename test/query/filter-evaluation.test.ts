import { Binary, BSONRegExp, BSONSymbol, Decimal128, Long } from 'bson'
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { compileFilter } from '../../src/query/filter.ts'
import { testClaims } from '../support/claims.ts'

testClaims([
  {
    claim: 'a pattern searches strings and elements',
    filter: { a: /b+/ },
    matches: [{ a: 'abbc' }, { a: ['x', 'b'] }, { a: new BSONSymbol('b') }],
    rejects: [{ a: 'x' }, { a: 1 }, {}, { a: [['b']] }]
  },
  {
    claim: 'a pattern matches the stored pattern that equals it',
    filter: { a: /b/i },
    matches: [{ a: /b/i }, { a: new BSONRegExp('b', 'i') }],
    rejects: [{ a: /b/ }, { a: /b+/i }]
  },
  {
    claim: '$regex and $options may come in either order',
    filter: { a: { $options: 'i', $regex: '^X' } },
    matches: [{ a: 'xy' }],
    rejects: [{ a: 'yx' }]
  },
  {
    claim: '$regex accepts a RegExp, and $options may add flags',
    filter: { a: { $regex: /^x/, $options: 'im' } },
    matches: [{ a: 'y\nX' }]
  },
  {
    claim: '$regex can be combined with other operators',
    filter: { a: { $regex: '^x', $ne: 'xx' } },
    matches: [{ a: 'x' }],
    rejects: [{ a: 'xx' }]
  },
  {
    claim: 's lets the dot match a line break',
    filter: { a: { $regex: 'a.b', $options: 's' } },
    matches: [{ a: 'a\nb' }]
  },
  {
    claim: 'x ignores white space and comments',
    filter: { a: { $regex: 'a\\ [ #] b # end', $options: 'x' } },
    matches: [{ a: 'a #b' }, { a: 'a  b' }],
    rejects: [{ a: 'ab' }]
  },
  { claim: 'a pattern may start with inline flags', filter: { a: { $regex: '(?i)abc' } }, matches: [{ a: 'ABC' }] },
  {
    claim: 'a pattern given as a string matches code points',
    filter: { a: { $regex: '^.$' } },
    matches: [{ a: '😀' }, { a: 'x' }],
    rejects: [{ a: '😀😀' }, { a: '' }]
  },
  { claim: 'a RegExp matches UTF-16 units', filter: { a: /^.$/ }, matches: [{ a: 'x' }], rejects: [{ a: '😀' }] },
  {
    claim: 'a RegExp matches UTF-16 units with $options, too',
    filter: { a: { $regex: /^k.$/, $options: 'i' } },
    matches: [{ a: 'Kx' }],
    rejects: [{ a: 'K😀' }, { a: '\u212ax' }]
  },
  { claim: 'a BSONRegExp matches code points', filter: { a: new BSONRegExp('^.$', '') }, matches: [{ a: '😀' }] },
  {
    claim: 'a pattern may use properties of code points',
    filter: { a: { $regex: '^\\p{L}+\\-\\P{L}$' } },
    matches: [{ a: 'größe-1' }],
    rejects: [{ a: 'p{L}-1' }]
  },
  {
    claim: 'a pattern may have ranges of code points beyond 16 bits',
    filter: { a: { $regex: '^[😀-😂]$' } },
    matches: [{ a: '😁' }],
    rejects: [{ a: '😃' }]
  },
  {
    claim: 'with the option i, letters are compared by Unicode case folding',
    filter: { a: { $regex: '^ks$', $options: 'i' } },
    matches: [{ a: 'KS' }, { a: '\u212a\u017f' }]
  },
  {
    claim: 'characters may be escaped needlessly, in a class or not',
    filter: { a: { $regex: '^\\-\\@\\#[\\-\\"\\ ]+.$' } },
    matches: [{ a: '-@#-" 😀' }]
  },
  {
    claim: 'a pattern that is valid only without the flag u matches UTF-16 units',
    filter: { a: { $regex: '^{"a"}.$' } },
    matches: [{ a: '{"a"}x' }],
    rejects: [{ a: '{"a"}😀' }]
  },
  {
    claim: 'an escaped backslash does not start an escape',
    filter: { a: { $regex: '^\\\\A\\\\Q\\[:alpha:]\\\\x{2}$' } },
    matches: [{ a: '\\A\\Q[:alpha:]\\xx' }]
  },
  {
    claim: 'a comment in a pattern may contain unsupported syntax',
    filter: { a: { $regex: 'a # \\A', $options: 'x' } },
    matches: [{ a: 'a' }]
  },
  { claim: 'a BSONRegExp is used as a pattern', filter: { a: new BSONRegExp('^x', 'i') }, matches: [{ a: 'Xy' }] }
])

test('a global or sticky pattern keeps no state between documents', () => {
  const { matches } = compileFilter({ a: /x/gy })
  assert.ok(matches({ a: 'x' }))
  assert.ok(matches({ a: 'x' }))
  assert.ok(matches({ a: 'yx' }))
})

testClaims([
  {
    claim: '$mod compares the remainder of a division',
    filter: { a: { $mod: [4, 1] } },
    matches: [{ a: 5 }, { a: 5n }, { a: [2, 9] }, { a: Decimal128.fromString('5.9') }, { a: 5.9 }],
    rejects: [{ a: 4 }, { a: '5' }, {}, { a: null }]
  },
  {
    claim: '$mod keeps the sign of the dividend',
    filter: { a: { $mod: [4, -1] } },
    matches: [{ a: -5 }],
    rejects: [{ a: 3 }, { a: 5 }]
  },
  { claim: '$mod truncates its arguments', filter: { a: { $mod: [4.9, 1.9] } }, matches: [{ a: 5 }] },
  {
    claim: '$mod is exact for 64 bits',
    filter: { a: { $mod: [10, 3] } },
    matches: [{ a: 2n ** 60n + 7n }, { a: Long.fromBigInt(2n ** 60n + 7n) }],
    rejects: [{ a: 2n ** 60n + 8n }]
  },
  {
    claim: '$mod does not match numbers beyond 64-bit integers',
    filter: { a: { $mod: [1, 0] } },
    matches: [{ a: -0 }],
    rejects: [{ a: Number.NaN }, { a: Number.POSITIVE_INFINITY }, { a: 2 ** 63 }, { a: 1e300 }]
  }
])

testClaims([
  {
    claim: '$bitsAllSet needs all given bits to be set',
    filter: { a: { $bitsAllSet: [0, 2] } },
    matches: [{ a: 5 }, { a: 7n }, { a: -1 }, { a: new Uint8Array([5]) }],
    rejects: [{ a: 4 }, { a: 5.5 }, { a: '5' }, {}]
  },
  {
    claim: '$bitsAnySet needs one of the given bits to be set',
    filter: { a: { $bitsAnySet: 5 } },
    matches: [{ a: 4 }, { a: new Binary(new Uint8Array([1])) }],
    rejects: [{ a: 2 }]
  },
  {
    claim: '$bitsAllClear needs all given bits to be clear',
    filter: { a: { $bitsAllClear: new Uint8Array([5]) } },
    matches: [{ a: 2 }, { a: 0 }],
    rejects: [{ a: 4 }]
  },
  {
    claim: '$bitsAnyClear needs one of the given bits to be clear',
    filter: { a: { $bitsAnyClear: [0, 2] } },
    matches: [{ a: 4 }, { a: 0 }],
    rejects: [{ a: 5 }]
  },
  {
    claim: 'bits beyond 63 repeat the sign of a number',
    filter: { a: { $bitsAllSet: [63, 200] } },
    matches: [{ a: -1 }],
    rejects: [{ a: 1 }]
  },
  {
    claim: 'bits beyond the end of binary data are clear',
    filter: { a: { $bitsAllClear: [8, 100] } },
    matches: [{ a: new Uint8Array([255]) }]
  },
  {
    claim: 'an empty list of positions is all set and not any set',
    filter: { a: { $bitsAllSet: [] }, b: { $not: { $bitsAnySet: [] } } },
    matches: [{ a: 1, b: 1 }]
  },
  {
    claim: 'bit tests need 64-bit integers',
    filter: { a: { $bitsAllClear: [1] } },
    rejects: [{ a: 2 ** 63 }, { a: Number.NaN }, { a: Decimal128.fromString('1.5') }],
    matches: [{ a: Decimal128.fromString('1.0') }]
  }
])

test.run()
