/** Promises of the standalone structure beyond those tested for every codec. */
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { checksum } from '../../src/sharded-bloom/records/checksum.ts'
import {
  and,
  type Expression,
  loadHasher,
  not,
  or,
  type Pair,
  PetalError,
  ShardedBloom,
  type ShardedBloomOptions
} from '../../src/sharded-bloom/standalone/index.ts'
import { BitRows } from '../../src/sharded-bloom/standalone/tail/bit-rows.ts'

/** Large enough that these tests have no false positives. */
const roomy = { shards: 512, bits: 4096, rowsPerPair: 8 } as const

function isError(codeName: string, message?: RegExp): (error: unknown) => boolean {
  return (error) =>
    error instanceof PetalError && error.codeName === codeName && (message === undefined || message.test(error.message))
}

function tweets(options: ShardedBloomOptions = roomy): ShardedBloom {
  const structure = new ShardedBloom(options)
  structure.add('a', Object.entries({ lang: 'en', verified: true, likes: 3 }))
  structure.add('b', Object.entries({ lang: 'en', verified: false }))
  structure.add('c', [
    ['lang', 'de'],
    ['tag', 'bloom'],
    ['tag', 'filter']
  ])
  return structure
}

function found(structure: ShardedBloom, expression: Expression): unknown[] {
  return structure.query(expression).candidates().sort()
}

test('query() answers AND and OR at any depth', () => {
  const structure = tweets()
  assert.equal(found(structure, ['lang', 'en']), ['a', 'b'])
  assert.equal(found(structure, and(['tag', 'bloom'], ['tag', 'filter'])), ['c'])
  assert.equal(found(structure, and(['lang', 'en'], or(['verified', true], ['tag', 'bloom']))), ['a'])
  assert.equal(found(structure, or(and(['lang', 'de'], ['tag', 'bloom']), ['likes', 3])), ['a', 'c'])
  assert.equal(found(structure, and()), ['a', 'b', 'c'])
  assert.equal(found(structure, or()), [])
})

test('NOT of a pair excludes no id, because matches are never certain, and proves ids without the pair', () => {
  const structure = tweets()
  const result = structure.query(and(['lang', 'en'], not(['verified', true])))
  assert.equal(result.candidates().sort(), ['a', 'b'])
  assert.equal(
    result.candidates().filter((id) => result.isCertain(id)),
    []
  )
  const untagged = structure.query(not(['tag', 'bloom']))
  assert.equal(untagged.candidates().sort(), ['a', 'b', 'c'])
  assert.equal(
    untagged
      .candidates()
      .filter((id) => untagged.isCertain(id))
      .sort(),
    ['a', 'b']
  )
  // The inner NOT is certain of a and b, so the outer one excludes them.
  assert.equal(found(structure, not(not(['tag', 'bloom']))), ['c'])
  assert.equal(found(structure, not(or(not(['tag', 'bloom']), not(['lang', 'de'])))), ['c'])
  assert.equal(found(structure, not(and())), [])
  assert.equal(found(structure, not(or())), ['a', 'b', 'c'])
})

test('values of different types differ, and values are equal that are equal in a query', () => {
  const structure = new ShardedBloom(roomy)
  structure.add(1, [['v', 1]])
  structure.add(2, [['v', '1']])
  structure.add(3, [['v', true]])
  structure.add(4, [['v', new Date(1)]])
  structure.add(5, [['v', null]])
  assert.equal(found(structure, ['v', 1n]), [1])
  assert.equal(found(structure, ['v', '1']), [2])
  assert.equal(found(structure, ['v', true]), [3])
  assert.equal(found(structure, ['v', new Date(1)]), [4])
  assert.equal(found(structure, ['v', null]), [5])
  assert.equal(found(structure, ['w', 1]), [])
  assert.ok(structure.mayContain(1, ['v', 1]))
  assert.not(structure.mayContain(1, ['v', '1']))
  assert.not(structure.mayContain(6, ['v', 1]))
})

test('toBitSet() returns the bits as an npm bitset', () => {
  const structure = tweets()
  const english = structure.query(['lang', 'en']).toBitSet()
  const verified = structure.query(['verified', true]).toBitSet()
  assert.is(english.cardinality(), 2)
  assert.is(english.and(verified).cardinality(), 1)
})

test('positions by order are not shared by up to M ids, and those of removed ids are reused', () => {
  const structure = new ShardedBloom({ shards: 512, bits: 100, counting: true })
  for (let i = 0; i < 100; i++) structure.add(i, [['number', i]])
  assert.is(structure.query(and()).upper.count(), 100)
  structure.remove(40, [['number', 40]])
  assert.is(structure.query(and()).upper.count(), 99)
  structure.add('new', [['number', 'new']])
  assert.is(structure.query(and()).upper.count(), 100)
  assert.equal(found(structure, ['number', 'new']), ['new'])
  assert.equal(found(structure, ['number', 40]), [])
})

test('an id outside the domain of reversible ids is refused, and changes nothing', () => {
  const structure = new ShardedBloom({ ...roomy, ids: { codec: 'reversible', from: -10, to: 10 } })
  structure.add(-10, [['a', 1]])
  const bytes = structure.serialise()
  for (const id of [10, -11, 0.5, 'x', Number.NaN, 2 ** 53]) {
    assert.throws(() => structure.add(id, [['a', 1]]), isError('BadValue', /integers in \[-10, 10\)/))
    assert.throws(() => structure.mayContain(id, ['a', 1]), isError('BadValue', /integers in \[-10, 10\)/))
  }
  assert.equal(structure.serialise(), bytes)
  assert.equal(found(structure, ['a', 1]), [-10])
})

test('with rehash, candidates() needs the ids; with other codecs it chooses from those given', () => {
  const structure = tweets({ ...roomy, ids: 'rehash', bitsPerId: 2 })
  const result = structure.query(['lang', 'en'])
  assert.throws(() => result.candidates(), isError('BadValue', /pass all of them/))
  assert.equal(result.candidates(new Set(['a', 'b', 'c', 'd'])), ['a', 'b'])
  assert.is(structure.stats().falsePositives.observed, undefined)
  assert.equal(tweets().query(['lang', 'en']).candidates(['b', 'c', 'unknown']), ['b'])
})

test('a result refuses to answer after a change, because an id might be missed', () => {
  const structure = tweets({ ...roomy, counting: true })
  const result = structure.query(['lang', 'en'])
  structure.remove('b', Object.entries({ lang: 'en', verified: false }))
  for (const late of [() => result.candidates(), () => result.mayMatch('a'), () => result.isCertain('a')]) {
    assert.throws(late, isError('IllegalOperation', /run the query again/))
  }
  assert.is(result.upper.count(), 2)
})

test('remove() without a matching add() is refused and changes nothing', () => {
  for (const tail of ['bloom', 'fingerprint'] as const) {
    const rows = tail === 'bloom' ? {} : { rowsPerPair: 1 }
    const structure = tweets({ ...roomy, ...rows, counting: true, tail })
    const bytes = structure.serialise()
    const wrong: [string, Pair[]][] = [
      ['a', [['lang', 'en']]],
      ['b', Object.entries({ lang: 'en', verified: true })],
      ['x', Object.entries({ lang: 'en', verified: false })]
    ]
    for (const [id, pairs] of wrong) {
      assert.throws(() => structure.remove(id, pairs), isError('BadValue', /was not added with these pairs/))
    }
    assert.equal(structure.serialise(), bytes)
  }
})

test('a counter that reaches 15 stays there, so that no bit is cleared that may still be needed', () => {
  const rows = new BitRows(2, 40, true)
  for (let i = 0; i < 20; i++) rows.set(1, 33)
  for (let i = 0; i < 20; i++) assert.ok(rows.unset(1, 33))
  assert.ok(rows.isSet(1, 33))
  for (let i = 0; i < 14; i++) rows.set(1, 32)
  for (let i = 0; i < 14; i++) assert.ok(rows.unset(1, 32))
  assert.not(rows.isSet(1, 32))
  assert.not(rows.unset(1, 32))
  assert.not(rows.isSet(0, 33))
  assert.is(rows.countSet(), 1)

  const structure = new ShardedBloom({ shards: 16, bits: 1, counting: true })
  for (let i = 0; i < 30; i++) structure.add(i, [['a', 1]])
  for (let i = 0; i < 29; i++) structure.remove(i, [['a', 1]])
  assert.equal(found(structure, ['a', 1]), [29])
})

test('invalid pairs, ids and expressions are refused, and nothing is added', () => {
  const structure = tweets()
  const bytes = structure.serialise()
  for (const pair of [['a'], ['a', { b: 1 }], ['a', [1]], [1, 1], ['a', undefined], 'a', null]) {
    const good: Pair = ['good', 1]
    assert.throws(() => structure.add('d', [good, pair as unknown as Pair]), isError('BadValue'), JSON.stringify(pair))
  }
  for (const id of [undefined, null, Number.NaN, {}, 1n]) {
    assert.throws(() => structure.add(id as string, []), isError('BadValue', /An id must be/))
  }
  for (const expression of [null, 'a', { kind: 'xor' }, and(null as unknown as Pair)]) {
    assert.throws(() => structure.query(expression as Expression), isError('BadValue'))
  }
  assert.equal(structure.serialise(), bytes)
})

test('invalid options are refused by name', () => {
  const bad: [Partial<ShardedBloomOptions> & Record<string, unknown>, RegExp][] = [
    [{ shards: 0 }, /^shards/],
    [{ shards: 65_537 }, /^shards/],
    [{ shards: 65_536, bits: 2 ** 20 }, /^shards/],
    [{ bits: 0.5 }, /^bits/],
    [{ shards: 4, rowsPerPair: 5 }, /^rowsPerPair/],
    [{ tail: 'fingerprint', rowsPerPair: 2 }, /^rowsPerPair/],
    [{ bitsPerId: 2 }, /^bitsPerId/],
    [{ bitsPerId: 2, ids: { codec: 'reversible', to: 10 } }, /^bitsPerId/],
    [{ bitsPerId: 17, ids: 'rehash' }, /^bitsPerId/],
    [{ tail: 'fingerprint', rowsPerPair: 1, fingerprintBits: 7 }, /^fingerprintBits/],
    [{ tail: 'fingerprint', rowsPerPair: 1, bits: 2 ** 21, fingerprintBits: 12 }, /^fingerprintBits/],
    [{ ids: { codec: 'reversible', from: 5, to: 5 } }, /^ids\.to/],
    [{ ids: { codec: 'reversible', from: 0.5, to: 5 } }, /^ids\.from/],
    [{ ids: 'other' as 'table' }, /^ids/],
    [{ ids: { codec: 'table', positions: 'other' as 'hash' } }, /^ids\.positions/],
    [{ hash: 'other' as 'murmur' }, /^hash/],
    [{ tail: 'other' as 'bloom' }, /^tail/],
    [{ seed: 0.5 }, /^seed/]
  ]
  for (const [options, message] of bad) {
    assert.throws(() => new ShardedBloom({ ...roomy, ...options }), isError('InvalidOptions', message))
  }
})

test('a structure with farmhash survives serialisation, and the seed determines the rows of pairs', async () => {
  await loadHasher('farmhash')
  const structure = tweets({ ...roomy, hash: 'farmhash', seed: -(2 ** 40) })
  const copy = ShardedBloom.deserialise(structure.serialise())
  assert.is(copy.parameters.hash, 'farmhash')
  assert.equal(found(copy, and(['lang', 'de'], ['tag', 'filter'])), ['c'])
  const others = [0, 1, 2 ** 32, -1].map((seed) => String(tweets({ ...roomy, seed }).query(['lang', 'en']).upper.words))
  assert.is(new Set(others).size, 1, 'positions by order do not depend on the seed')
  const rows = [0, 1, 2 ** 32, -1].map((seed) =>
    String(
      tweets({ ...roomy, seed })
        .serialise()
        .slice(400)
    )
  )
  assert.is(new Set(rows).size, 4)
})

test('the format does not change', () => {
  const structure = new ShardedBloom({
    shards: 3,
    bits: 33,
    rowsPerPair: 2,
    bitsPerId: 2,
    ids: { codec: 'table', positions: 'hash' },
    seed: 7
  })
  structure.add('a', [['k', 1]])
  structure.add(2, [['k', 'v']])
  const bytes = structure.serialise()
  assert.is(new TextDecoder().decode(bytes.subarray(0, 4)), 'PSBF')
  assert.is(checksum(bytes, 0).toString(16), '4352d41c')
  const fingerprints = new ShardedBloom({ shards: 2, bits: 33, tail: 'fingerprint', counting: true })
  fingerprints.add('a', [['k', 1]])
  fingerprints.add('a', [['k', 1]])
  fingerprints.add('b', [['k', 1]])
  assert.is(checksum(fingerprints.serialise(), 0).toString(16), '8e3a2295')
})

test('a bit beyond the last position is damage, since it would be found and belong to no id', () => {
  const words = new Uint32Array([0, 1, 0, 2])
  const rows = (isCounting: boolean) => new BitRows(2, 33, isCounting)
  assert.throws(() => rows(false).load(new Uint8Array(words.buffer)), isError('DataCorruption', /beyond the 33/))
  const counters = new Uint8Array(64)
  counters[32 + 16] = 0x10
  assert.throws(() => rows(true).load(counters), isError('DataCorruption', /beyond the 33/))
  counters[32 + 16] = 0x0f
  const loaded = rows(true)
  loaded.load(counters)
  assert.ok(loaded.isSet(1, 32))
  assert.equal(loaded.toBytes(), counters)
})

test('a crafted header with a valid checksum is refused if the bytes do not fit it', () => {
  const bytes = tweets({ shards: 8, bits: 64 }).serialise()
  const view = new DataView(bytes.buffer)
  const headerBytes = view.getUint32(12, true)
  const header = JSON.parse(new TextDecoder().decode(bytes.subarray(16, 16 + headerBytes)))
  const craft = (changes: object, tail = bytes.subarray(16 + headerBytes)): Uint8Array => {
    const text = new TextEncoder().encode(JSON.stringify({ ...header, ...changes }))
    const crafted = new Uint8Array(16 + text.length + tail.length)
    crafted.set(bytes.subarray(0, 16))
    crafted.set(text, 16)
    crafted.set(tail, 16 + text.length)
    new DataView(crafted.buffer).setUint32(12, text.length, true)
    return sealed(crafted)
  }
  const sealed = (crafted: Uint8Array): Uint8Array => {
    new DataView(crafted.buffer).setUint32(8, checksum(crafted.subarray(12), 1), true)
    return crafted
  }
  assert.equal(ShardedBloom.deserialise(craft({})).serialise(), bytes)
  const changes = [
    { bits: 2 ** 30 },
    { shards: 65_536 },
    { shards: 65_536, tail: 'fingerprint', rowsPerPair: 1 },
    { counting: true },
    { pairCounts: [[1, -1]] },
    { pairCounts: undefined },
    { ids: { codec: 'rehash' } },
    { rowsPerPair: 100 }
  ]
  for (const change of changes) {
    assert.throws(() => ShardedBloom.deserialise(craft(change)), isError('DataCorruption'), JSON.stringify(change))
  }
  for (let length = 0; length < bytes.length - 12; length += 7) {
    const cut = sealed(bytes.slice(0, 12 + length))
    assert.throws(() => ShardedBloom.deserialise(cut), isError('DataCorruption'))
  }
  const later = bytes.slice()
  later[4] = 2
  assert.throws(() => ShardedBloom.deserialise(later), isError('UnsupportedFormat', /expected format 1, got 2/))
  assert.throws(() => ShardedBloom.deserialise(craft({}, new Uint8Array(24).fill(255))), isError('DataCorruption'))
})

test.run()
