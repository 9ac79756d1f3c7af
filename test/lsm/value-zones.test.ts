import fc from 'fast-check'
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { compareKeys } from '../../src/lsm/format/entry.ts'
import { Decoder } from '../../src/lsm/value/decoder.ts'
import type { ZoneValue } from '../../src/lsm/value/extractor.ts'
import {
  encodeBlockZones,
  encodeRange,
  isInRange,
  mayOverlap,
  overlappingBlocks,
  ZoneCollector
} from '../../src/lsm/value/zone-maps.ts'
import {
  compareZoneValues,
  encodeZoneValue,
  lowerBound,
  maxBoundBytes,
  upperBound
} from '../../src/lsm/value/zone-value.ts'
import { testSeed } from '../support/arbitraries.ts'

/** Surrogates, paired and alone; characters after them in UTF-16 but before them in UTF-8; long common prefixes. */
const strings = fc.oneof(
  fc.string({ maxLength: 5 }),
  fc.string({
    unit: fc.constantFrom('a', 'b', 'ü', '\ud7ff', '\ue000', '\uffff', '\ud800', '\udc00', '😀', '\u{10ffff}')
  }),
  fc.string({ maxLength: 4 }).map((end) => `${'long beginning '.repeat(3)}${end}`),
  fc.string({ maxLength: 4 }).map((end) => `${'\u{10ffff}'.repeat(9)}${end}`)
)
const numbers = fc.oneof(
  fc.double({ noNaN: true }),
  fc.integer({ min: -3, max: 3 }),
  fc.constantFrom(0, -0, Infinity, -Infinity, 5e-324, -5e-324, Number.MAX_VALUE)
)
const zoneValues: fc.Arbitrary<ZoneValue> = fc.oneof(strings, numbers)

const seed = testSeed()

const sign = (n: number): number => Math.sign(n)

test('encoded zone values sort like the values: numbers, then strings by their UTF-8 bytes', () => {
  fc.assert(
    fc.property(zoneValues, zoneValues, (a, b) => {
      assert.is(sign(compareKeys(encodeZoneValue(a), encodeZoneValue(b))), sign(compareZoneValues(a, b)))
      if (typeof a === 'string' && typeof b === 'string') {
        assert.is(sign(compareZoneValues(a, b)), sign(Buffer.compare(Buffer.from(a), Buffer.from(b))))
      }
    }),
    { seed, numRuns: 5000 }
  )
})

test('bounds are short; a lower one is never above the value, and an upper one never below', () => {
  fc.assert(
    fc.property(zoneValues, (value) => {
      const encoded = encodeZoneValue(value)
      assert.ok(compareKeys(lowerBound(value), encoded) <= 0)
      assert.ok(compareKeys(upperBound(value), encoded) >= 0)
      assert.ok(lowerBound(value).length <= maxBoundBytes && upperBound(value).length <= maxBoundBytes)
    }),
    { seed, numRuns: 2000 }
  )
})

test('a zone overlaps every range that contains one of its values', () => {
  fc.assert(
    fc.property(
      fc.array(zoneValues, { minLength: 1, maxLength: 6 }),
      fc.option(zoneValues, { nil: undefined }),
      fc.option(zoneValues, { nil: undefined }),
      (values, low, high) => {
        const collector = new ZoneCollector(1)
        for (const value of values) collector.add(0, value)
        const [zone] = collector.zones()
        const range = { low, high }
        if (values.some((value) => isInRange(value, range))) assert.ok(mayOverlap(zone, encodeRange(range)))
      }
    ),
    { seed, numRuns: 5000 }
  )
})

test('NaN is in no zone and in no range; a field without values overlaps nothing', () => {
  const collector = new ZoneCollector(2)
  collector.add(0, Number.NaN)
  assert.equal(collector.zones(), [undefined, undefined])
  assert.not.ok(isInRange(Number.NaN, { low: undefined, high: undefined }))
  assert.not.ok(mayOverlap(undefined, encodeRange({ low: undefined, high: undefined })))
})

test('overlappingBlocks() returns the blocks whose zones overlap the range', () => {
  const collector = new ZoneCollector(2)
  const blocks = [10, 20, 'text', 30].map((value) => {
    collector.reset()
    collector.add(1, value)
    return collector.zones()
  })
  const bytes = encodeBlockZones(blocks, 2)
  const found = (field: number, low: ZoneValue | undefined, high: ZoneValue | undefined): number[] =>
    overlappingBlocks(new Decoder(bytes, 'x'), field, 4, encodeRange({ low, high }))
  assert.equal(found(1, 15, 25), [1])
  assert.equal(found(1, 20, undefined), [1, 2, 3])
  assert.equal(found(1, 'a', 'z'), [2])
  assert.equal(found(0, undefined, undefined), [])
})

test.run()
