import { Decimal128, Long, MaxKey, MinKey } from 'bson'
import { test } from 'uvu'
import { testClaims } from '../support/claims.ts'

testClaims([
  {
    claim: 'ranges compare numbers of every kind',
    filter: { a: { $gt: 1, $lte: 5 } },
    matches: [{ a: 1.5 }, { a: 5n }, { a: Long.fromNumber(2) }, { a: Decimal128.fromString('4.9') }],
    rejects: [
      { a: 1 },
      { a: 6 },
      { a: '3' },
      { a: null },
      {},
      { a: true },
      { a: Number.NaN },
      { a: Decimal128.fromString('NaN') }
    ]
  },
  {
    claim: 'ranges are exact beyond 2^53',
    filter: { a: { $gt: 2 ** 53 } },
    matches: [{ a: 2n ** 53n + 1n }],
    rejects: [{ a: 2n ** 53n }]
  },
  {
    claim: 'a 64-bit bound is compared with doubles exactly',
    filter: { a: { $lt: 2n ** 53n + 1n } },
    matches: [{ a: 2 ** 53 }, { a: 0 }],
    rejects: [{ a: 2 ** 53 + 2 }, { a: Number.NaN }]
  },
  {
    claim: 'several elements may satisfy the parts of a range',
    filter: { a: { $gt: 5, $lt: 3 } },
    matches: [{ a: [1, 9] }],
    rejects: [{ a: [4] }, { a: 4 }]
  },
  {
    claim: 'strings compare by code point, not by UTF-16 unit',
    filter: { a: { $gt: '\uffee' } },
    matches: [{ a: '\u{1f600}' }],
    rejects: [{ a: 'z' }, { a: '\uffee' }, { a: 1 }]
  },
  {
    claim: '$gte: NaN matches only NaN',
    filter: { a: { $gte: Number.NaN } },
    matches: [{ a: Number.NaN }],
    rejects: [{ a: 1 }, {}]
  },
  { claim: '$lt: NaN matches nothing', filter: { a: { $lt: Number.NaN } }, rejects: [{ a: Number.NaN }, { a: 1 }, {}] },
  {
    claim: 'an array bound is compared with arrays only',
    filter: { a: { $gt: [1, 5] } },
    matches: [{ a: [2] }, { a: [1, 6] }, { a: [[1, 5, 0]] }],
    rejects: [{ a: [1, 5] }, { a: 9 }, { a: [1] }]
  },
  {
    claim: 'an object bound is compared with objects only',
    filter: { a: { $gte: { b: 1 } } },
    matches: [{ a: { b: 1 } }, { a: { b: 2 } }],
    rejects: [{ a: { b: 0 } }, { a: 9 }]
  },
  {
    claim: 'dates compare with dates only',
    filter: { a: { $lt: new Date(10) } },
    matches: [{ a: new Date(9) }],
    rejects: [{ a: 9 }, { a: new Date(10) }]
  },
  {
    claim: 'false is below true',
    filter: { a: { $gt: false } },
    matches: [{ a: true }],
    rejects: [{ a: false }, { a: 1 }]
  },
  {
    claim: '$gt: MinKey matches every other type and missing',
    filter: { a: { $gt: new MinKey() } },
    matches: [{ a: 1 }, { a: null }, {}, { a: [] }],
    rejects: [{ a: new MinKey() }]
  },
  {
    claim: '$lte: MaxKey matches everything',
    filter: { a: { $lte: new MaxKey() } },
    matches: [{ a: 1 }, {}, { a: new MaxKey() }]
  },
  {
    claim: '$gt: MaxKey matches nothing',
    filter: { a: { $gt: new MaxKey() } },
    rejects: [{ a: new MaxKey() }, { a: 1 }, {}]
  }
])

test.run()
