/** A stored table of pairs finds exactly what a table in memory finds; bytes that are not a table are refused. */
import fc from 'fast-check'
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { createHasher } from '../../src/bloom/hash.ts'
import { PairHash } from '../../src/sharded-bloom/pairs/pair-hash.ts'
import type { TaggedPair } from '../../src/sharded-bloom/pairs/pair-tags.ts'
import { PathTable } from '../../src/sharded-bloom/pairs/path-table.ts'
import { encodePairTable, PairTable } from '../../src/sharded-bloom/segment/pair-table.ts'
import { type HashedPair, PrivateTable } from '../../src/sharded-bloom/segment/private-table.ts'
import { testSeed } from '../support/arbitraries.ts'

const seed = testSeed()
const hasher = createHasher('murmur')
const paths = new PathTable(hasher, 1, 2)
const pairHash = new PairHash(hasher, (path) => paths.seedOf(path))

const key = fc.oneof(
  fc.constantFrom(0, 1, 2, Number.NaN, Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY, '', '0', '\ud800', '"\0'),
  fc.string({ unit: 'binary' }),
  fc.double().map((value) => value + 0)
)
const taggedPair: fc.Arbitrary<TaggedPair> = fc.record({
  path: fc.constantFrom('', 'a', 'a.b', 'a.\udc00', 'é'),
  tag: fc.constantFrom(2, 3, 9, 17, 18),
  key
})

/** With `collides`, all pairs have the same hash, and must be distinguished otherwise. */
function hashed(pair: TaggedPair, collides: boolean): HashedPair {
  return collides ? { ...pair, lo: 7, hi: 7 } : pairHash.hash(pair)
}

function distinct(pairs: readonly HashedPair[]): HashedPair[] {
  const table = new PrivateTable()
  for (const pair of pairs) if (table.find(pair.lo, pair.hi, pair.path, pair.tag, pair.key) < 0) table.add(pair)
  return [...table.pairs]
}

test('a stored table finds what a table in memory finds', () => {
  fc.assert(
    fc.property(fc.array(taggedPair), fc.array(taggedPair), fc.boolean(), (some, others, collides) => {
      const pairs = distinct(some.map((pair) => hashed(pair, collides)))
      const rows = pairs.map((_, i) => i - 2)
      const bytes = encodePairTable(pairs, rows)
      const padded = new Uint8Array(bytes.length + 1)
      padded.set(bytes, 1)
      const table = PairTable.decode(padded.subarray(1), pairs.length)
      assert.ok(table)
      assert.is(table.size, pairs.length)
      const memory = new PrivateTable(pairs)
      for (const pair of [...pairs, ...others.map((other) => hashed(other, collides))]) {
        const slot = memory.find(pair.lo, pair.hi, pair.path, pair.tag, pair.key)
        assert.is(table.find(pair), rows[slot])
      }
      const byKey = (a: HashedPair, b: HashedPair): number => (JSON.stringify(a) < JSON.stringify(b) ? -1 : 1)
      if (!collides) assert.equal(table.pairs(pairHash).sort(byKey), [...pairs].sort(byKey))
    }),
    { seed, numRuns: 500 }
  )
})

test('bytes that are not a table of the given number of pairs are refused', () => {
  const pairs = distinct(['a', 'b', 'c'].map((path) => hashed({ path, tag: 3, key: 'x' }, false)))
  const bytes = encodePairTable(pairs, [0, 1, -2])
  assert.ok(PairTable.decode(bytes, 3))
  assert.not.ok(PairTable.decode(bytes, 2))
  assert.not.ok(PairTable.decode(bytes, 4))
  assert.not.ok(PairTable.decode(bytes, 1000))
  for (let length = 0; length < bytes.length; length++) {
    assert.not.ok(PairTable.decode(bytes.subarray(0, length), 3))
  }
  const table = PairTable.decode(new Uint8Array(0), 0)
  assert.is(table?.find(pairs[0]!), undefined)
})

test.run()
