/**
 * The hash and the rows of a hash are part of the file format. If one of these values changes, the format version of
 * every file that holds rows must change too.
 */
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { type HashName, loadHasher, rowNumbers } from '../../src/bloom/hash.ts'

type Case<T> = readonly [seedLo: number, seedHi: number, tag: number, value: T, results: Record<HashName, string>]

const strings: readonly Case<string>[] = [
  [0, 0, 0, '', { murmur: '0000000000000000', farmhash: 'a19b2d0fb448a5cc' }],
  [0, 0, 3, '', { murmur: 'a90e50ba77cc8d4f', farmhash: '1e34825e67691980' }],
  [0, 0, 3, 'a', { murmur: '9e121b0de0d2ecd2', farmhash: 'c0860737f7e0504d' }],
  [0, 0, 3, 'ab', { murmur: '05bbdc44c4e78896', farmhash: '522d5b777c6ae334' }],
  [0, 0, 3, 'abc', { murmur: '5ac46cfe30576c17', farmhash: 'bc8d06918c780512' }],
  [0, 0, 3, 'abcd', { murmur: '7de7f80cf61ea4aa', farmhash: '8526b0f4eb47d5d2' }],
  [0, 0, 3, 'abcde', { murmur: '8c39fbc00e7abfc7', farmhash: '691a55bc423005b2' }],
  [1, -2, 3, 'petal', { murmur: '5d73cff758076bbe', farmhash: '43a3b3f2aeab61d3' }],
  [
    -0x80000000,
    0x7fffffff,
    255,
    'entities.hashtags.text',
    { murmur: 'ace5065d5cedb4af', farmhash: 'c091a02827981e1c' }
  ],
  [1, 2, 3, '日本語😀', { murmur: '96234f4214846584', farmhash: 'b09b13ffd3668dd4' }],
  [1, 2, 3, '\ud83d', { murmur: 'fcc4ffeeedd0ef74', farmhash: '54867676ffca69ca' }],
  [1, 2, 3, 'x'.repeat(1000), { murmur: '55b6a03d8dfe12c0', farmhash: '651fc0d6261fd48c' }]
]

const numbers: readonly Case<number>[] = [
  [0, 0, 2, 0, { murmur: 'e41f72ca71a7ddb0', farmhash: '0381f65251674ef6' }],
  [0, 0, 2, 1, { murmur: 'b606aff49c105a08', farmhash: '2754ece82b1b1e65' }],
  [0, 0, 2, -1, { murmur: '734fbd831752f114', farmhash: '0d08dc54647f57a1' }],
  [0, 0, 2, 0.1, { murmur: '357eb068b044e33b', farmhash: '805d8e2a2a376d4f' }],
  [1, -2, 2, 2 ** 53, { murmur: '12871614f1e333df', farmhash: '7ae6c03d33b11ce7' }],
  [1, -2, 2, Number.NaN, { murmur: '44a2700bb7ba7719', farmhash: '68547f8eb2a004fc' }],
  [1, -2, 9, 1_600_000_000_000, { murmur: '9638e17ef642d2d5', farmhash: 'b42d38f3bdf1da96' }],
  [1, 2, 2, Number.POSITIVE_INFINITY, { murmur: 'c637674d12a97d40', farmhash: '180245540d197096' }]
]

const hex = ({ lo, hi }: { readonly lo: number; readonly hi: number }) =>
  [hi, lo].map((half) => (half >>> 0).toString(16).padStart(8, '0')).join('')

for (const name of ['murmur', 'farmhash'] as const) {
  test(`${name}: the hashes of strings and numbers are pinned`, async () => {
    const hasher = await loadHasher(name)
    for (const [seedLo, seedHi, tag, text, results] of strings) {
      hasher.hashString(seedLo, seedHi, tag, text)
      assert.is(hex(hasher), results[name], text)
    }
    for (const [seedLo, seedHi, tag, value, results] of numbers) {
      hasher.hashNumber(seedLo, seedHi, tag, value)
      assert.is(hex(hasher), results[name], String(value))
    }
  })
}

test('the rows of a hash are pinned', () => {
  const cases: readonly (readonly [lo: number, hi: number, shards: number, rows: readonly number[]])[] = [
    [0, 0, 64, [0, 16, 32, 48]],
    [1, 2, 64, [4, 15, 20, 31, 36, 42, 49, 58]],
    [-1, -1, 3008, [162, 617, 1061, 1213, 1599, 2060, 2369, 2780]],
    [305419896, -305419896, 4096, [251, 378, 875, 1282, 1537, 1753, 2363, 2634, 3063, 3082, 3753, 3931]],
    [5, 7, 3, [2, 2, 1, 0, 0, 0, 1, 1]],
    [99, -99, 1000, [31, 273, 414, 455, 578, 833, 992]],
    [
      123456789,
      -987654321,
      65536,
      [1985, 7843, 8984, 15774, 18758, 20667, 27483, 32751, 33777, 37039, 41635, 47467, 49972, 57123, 57821, 63719]
    ]
  ]
  for (const [lo, hi, shards, expected] of cases) {
    for (const rows of [new Int32Array(expected.length), new Uint16Array(expected.length)]) {
      rowNumbers(lo, hi, shards, expected.length, rows)
      assert.equal([...rows], expected)
    }
  }
})

test.run()
