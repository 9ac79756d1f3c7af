/** A stored table of pairs finds exactly what a table in memory finds; bytes that are not a table are refused. */
import fc from 'fast-check'
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { createHasher } from '../../src/bloom/hash.ts'
import { PairHash } from '../../src/sharded-bloom/pairs/pair-hash.ts'
import { Tag, type TaggedPair } from '../../src/sharded-bloom/pairs/pair-tags.ts'
import { PathTable } from '../../src/sharded-bloom/pairs/path-table.ts'
import { rewriteEarlierPairTable } from '../../src/sharded-bloom/segment/earlier-pair-table.ts'
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

/** JSON has no NaN. */
function sorted(pairs: readonly TaggedPair[]): string[] {
  return pairs.map(({ path, tag, key }) => JSON.stringify([path, tag, typeof key, String(key)])).sort()
}

test('a stored table finds what a table in memory finds', () => {
  fc.assert(
    fc.property(fc.array(taggedPair), fc.array(taggedPair), fc.boolean(), (some, others, collides) => {
      const pairs = distinct(some.map((pair) => hashed(pair, collides)))
      const rows = pairs.map((_, i) => i - 2)
      const { bytes, paths } = encodePairTable(pairs, rows)
      const padded = new Uint8Array(bytes.length + 1)
      padded.set(bytes, 1)
      const table = PairTable.decode({ bytes: padded.subarray(1), paths }, pairs.length, pairs.length)
      assert.ok(table)
      assert.is(table.size, pairs.length)
      const memory = new PrivateTable(pairs)
      for (const pair of [...pairs, ...others.map((other) => hashed(other, collides))]) {
        const slot = memory.find(pair.lo, pair.hi, pair.path, pair.tag, pair.key)
        assert.is(table.find(pair), rows[slot])
      }
      const byKey = (a: HashedPair, b: HashedPair): number => (JSON.stringify(a) < JSON.stringify(b) ? -1 : 1)
      if (!collides) assert.equal(table.pairs(pairHash).sort(byKey), [...pairs].sort(byKey))
      const plain = pairs.map(({ path, tag, key }) => ({ path, tag, key }))
      for (const path of ['', 'a', 'a.b', 'none']) {
        assert.equal(sorted(table.pairsOn(path)), sorted(plain.filter((pair) => pair.path === path)))
      }
      assert.equal(sorted(table.typePairs()), sorted(plain.filter(({ tag }) => tag === Tag.type)))
    }),
    { seed, numRuns: 500 }
  )
})

test('bytes that are not a table of the given number of pairs are refused', () => {
  const pairs = distinct(['a', 'b', 'c'].map((path) => hashed({ path, tag: 3, key: 'x' }, false)))
  const { bytes, paths } = encodePairTable(pairs, [0, 1, -2])
  const decode = (count: number, content = bytes, pathCount = paths): PairTable | undefined =>
    PairTable.decode({ bytes: content, paths: pathCount }, count, 2)
  assert.ok(decode(3))
  for (const count of [0, 2, 4, 1000]) assert.not.ok(decode(count), `${count} pairs`)
  for (const count of [0, 2, 4]) assert.not.ok(decode(3, bytes, count), `${count} paths`)
  for (let length = 0; length < bytes.length; length++) assert.not.ok(decode(3, bytes.subarray(0, length)))
  const damaged = bytes.slice()
  damaged[3 * 12] = 3
  assert.not.ok(decode(3, damaged), 'a path that is not in the list')
  const none = encodePairTable([], [])
  const empty = PairTable.decode(none, 0, 0)
  assert.is(empty?.find(pairs[0]!), undefined)
  assert.equal(empty?.pairsOn('a'), [])
})

test('a table stored before format 8 is read, and other bytes are refused', () => {
  const pairs = distinct(
    ['a', 'b"]\\', 'a', 'b\\",1,', '', '\ud800é'].map((path, i) => hashed({ path, tag: 3 * i, key: `"${i}` }, false))
  )
  const count = pairs.length
  const rows = pairs.map((_, i) => i - 2)
  pairs.sort((a, b) => a.lo - b.lo)
  const texts = pairs.map(({ path, tag, key: text }) => Buffer.from(JSON.stringify([path, tag, text])))
  const ends = texts.map((_, i) => Buffer.concat(texts.slice(0, i + 1)).length)
  const numbers = Int32Array.from([...pairs.map(({ lo }) => lo), ...rows, ...ends])
  const bytes = Buffer.concat([Buffer.from(numbers.buffer), ...texts])
  const table = PairTable.decode(rewriteEarlierPairTable(bytes, count)!, count, count)
  assert.equal(
    pairs.map((pair) => table?.find(pair)),
    rows
  )
  assert.is(table?.pairsOn('a').length, 2)
  for (const other of [0, count - 1, count + 1, 1000]) assert.not.ok(rewriteEarlierPairTable(bytes, other))
  for (let length = 0; length < bytes.length; length++) {
    assert.not.ok(rewriteEarlierPairTable(bytes.subarray(0, length), count))
  }
  const garbage = Buffer.concat([Buffer.from(numbers.buffer), Buffer.alloc(ends.at(-1)!, '"')])
  assert.not.ok(rewriteEarlierPairTable(garbage, count))
})

test.run()
