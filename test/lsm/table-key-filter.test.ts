import fc from 'fast-check'
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { optimalHashes } from '../../src/bloom/sizing.ts'
import { KeyFilter, KeyFilterBuilder, keyHash } from '../../src/lsm/format/key-filter.ts'
import { seedOfRun } from '../support/values.ts'

const seed = seedOfRun()

function hashOf(key: Uint8Array): number {
  return keyHash(key, 0, key.length)
}

function filterOf(keys: readonly Uint8Array[], bitsPerKey: number): KeyFilter {
  const builder = new KeyFilterBuilder(bitsPerKey)
  for (const key of keys) builder.add(hashOf(key))
  const section = builder.finish()
  assert.ok(section !== undefined && section.length === builder.bytes)
  const filter = KeyFilter.read(section)
  assert.ok(filter !== undefined)
  return filter
}

test('a filter never denies a key that was added', () => {
  fc.assert(
    fc.property(
      fc.array(fc.uint8Array({ maxLength: 40 })),
      fc.double({ min: 0.1, max: 30, noNaN: true }),
      (keys, bits) => {
        const filter = filterOf(keys, bits)
        for (const key of keys) assert.ok(filter.mayContain(hashOf(key)))
      }
    ),
    { seed, numRuns: 1000 }
  )
})

test('keyHash() does not depend on the bytes around the key', () => {
  fc.assert(
    fc.property(fc.uint8Array(), fc.uint8Array(), fc.uint8Array(), (before, key, after) => {
      const bytes = Buffer.concat([before, key, after])
      const hash = keyHash(bytes, before.length, before.length + key.length)
      assert.is(hash, hashOf(key))
      assert.ok(Number.isSafeInteger(hash) && hash >= 0)
    }),
    { seed, numRuns: 1000 }
  )
})

/** Common kinds of keys, each made from a number. */
const kinds: Record<string, (number: number) => Buffer> = {
  decimal: (number) => Buffer.from(String(number).padStart(16, '0')),
  binary: (number) => {
    const bytes = Buffer.alloc(8)
    bytes.writeUInt32BE(number, 4)
    return bytes
  },
  'one word': (number) => {
    const bytes = Buffer.alloc(4)
    bytes.writeUInt32LE(number)
    return bytes
  },
  prefixed: (number) => Buffer.from(`!users!${number}:name`)
}

for (const [kind, keyOf] of Object.entries(kinds)) {
  test(`the rate of false positives of ${kind} keys is as predicted`, () => {
    const added = 20_000
    const asked = 100_000
    for (const bits of [5, 9.5, 14.3]) {
      const filter = filterOf(
        Array.from({ length: added }, (_, i) => keyOf(i)),
        bits
      )
      let falsePositives = 0
      for (let i = 0; i < asked; i++) if (filter.mayContain(hashOf(keyOf(added + i)))) falsePositives++
      const hashes = optimalHashes(bits)
      const expected = asked * (-Math.expm1((-hashes * added) / Math.ceil(added * bits))) ** hashes
      // Five standard deviations, plus a tenth for double hashing.
      const most = expected * 1.1 + 5 * Math.sqrt(expected)
      assert.ok(
        falsePositives <= most,
        `${bits} bits: ${falsePositives} false positives, ${expected.toFixed(0)} expected`
      )
    }
  })
}

test('zero bits per key make no filter, and filters of another kind or without bits are not read', () => {
  const builder = new KeyFilterBuilder(0)
  builder.add(1)
  assert.is(builder.finish(), undefined)
  assert.is(builder.bytes, 0)
  assert.is(KeyFilter.read(Buffer.from([2, 7, 64, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0])), undefined)
  assert.is(KeyFilter.read(Buffer.from([1, 7, 0, 0, 0, 0])), undefined)
})

test.run()
