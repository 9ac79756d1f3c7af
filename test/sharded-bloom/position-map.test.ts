/** A position map behaves like a sorted list of ordinals, in whichever form it is stored. */
import fc from 'fast-check'
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import {
  consecutive,
  decodePositions,
  encodeOffsets,
  maxSpan,
  ofOffsets,
  type PositionMap
} from '../../src/sharded-bloom/segment/position-map.ts'
import { testSeed } from '../support/arbitraries.ts'

const seed = testSeed()

/** Dead ordinals between documents: from none to as many as take five bytes as a varint. */
const gap = fc.oneof(
  { weight: 8, arbitrary: fc.nat(3) },
  { weight: 4, arbitrary: fc.nat(300) },
  { weight: 1, arbitrary: fc.constantFrom(126, 127, 128, 16_383, 16_384, 2 ** 21 - 1, 2 ** 21, 2 ** 28) }
)
const maps = fc.tuple(fc.array(gap, { maxLength: 60 }), fc.nat(40)).map(([gaps, behind]) => {
  const offsets: number[] = []
  for (const dead of gaps) {
    const next = (offsets.at(-1) ?? -1) + 1 + dead
    if (next < maxSpan - behind) offsets.push(next)
  }
  return { offsets: Uint32Array.from(offsets), span: (offsets.at(-1) ?? -1) + 1 + behind }
})
/** Many ordinals of a short span, which take fewer bytes as a bitmap. */
const crowded = fc
  .tuple(fc.array(fc.boolean(), { minLength: 1, maxLength: 300 }), fc.nat(9))
  .map(([isLive, behind]) => ({
    offsets: Uint32Array.from(isLive.flatMap((live, offset) => (live ? [offset] : []))),
    span: isLive.length + behind
  }))

function assertMap(map: PositionMap, ordinals: readonly number[], asked: readonly number[]): void {
  for (const [position, ordinal] of ordinals.entries()) assert.is(map.ordinalAt(position), ordinal)
  for (const ordinal of asked) {
    assert.is(map.positionOf(ordinal), ordinals.indexOf(ordinal), `${ordinal}`)
    const below = ordinals.filter((other) => other < ordinal).length
    assert.is(map.positionsBelow(ordinal, ordinals.length), below, `below ${ordinal}`)
  }
}

test('a stored map is read back, and maps ordinals to positions and back', () => {
  fc.assert(
    fc.property(fc.oneof(maps, crowded), fc.nat(2 ** 40), ({ offsets, span }, firstOrdinal) => {
      const bytes = encodeOffsets(offsets, span)
      assert.ok(bytes.length <= 1 + Math.ceil(span / 8))
      const decoded = decodePositions(bytes, firstOrdinal, offsets.length, span)
      assert.ok(decoded)
      const ordinals = [...offsets].map((offset) => firstOrdinal + offset)
      const beside = ordinals.flatMap((ordinal) => [ordinal - 1, ordinal, ordinal + 1])
      const asked = [...beside, firstOrdinal, firstOrdinal + span - 1].filter(
        (ordinal) => ordinal >= firstOrdinal && ordinal < firstOrdinal + span
      )
      assertMap(ofOffsets(firstOrdinal, offsets), ordinals, asked)
      assertMap(decoded, ordinals, asked)
      for (const away of [firstOrdinal - 1, firstOrdinal + span + 40, firstOrdinal + 2 ** 32]) {
        assert.is(decoded.positionOf(away), -1)
      }
      // Backwards, too, since a map may remember where it looked last.
      for (const i of [...ordinals.keys()].reverse()) assert.is(decoded.ordinalAt(i), ordinals[i])
    }),
    { seed, numRuns: 1500 }
  )
})

test('documents added one after the other are at consecutive positions', () => {
  const ordinals = [70, 71, 72, 73]
  assertMap(consecutive(70), ordinals, ordinals)
  assert.is(consecutive(70).positionsBelow(60, 4), 0)
  assert.is(consecutive(70).positionsBelow(90, 4), 4)
})

test('damaged bytes, and maps of another number of documents, are refused or are a consistent map', () => {
  fc.assert(
    fc.property(
      fc.oneof(maps, crowded),
      fc.nat(),
      fc.integer({ min: 1, max: 255 }),
      ({ offsets, span }, at, change) => {
        const bytes = encodeOffsets(offsets, span)
        const count = offsets.length
        for (const documents of [count - 1, count + 1]) {
          if (documents >= 0) assert.is(decodePositions(bytes, 0, documents, span), undefined)
        }
        if (bytes.length > 1) assert.is(decodePositions(bytes.subarray(0, -1), 0, count, span), undefined)
        bytes[at % bytes.length]! ^= change
        const map = decodePositions(bytes, 0, count, span)
        const read = map === undefined ? [] : Array.from({ length: count }, (_, i) => map.ordinalAt(i))
        for (const [i, offset] of read.entries()) {
          assert.ok(offset < span && (i === 0 || offset > read[i - 1]!))
          assert.is(map?.positionOf(offset), i)
        }
      }
    ),
    { seed, numRuns: 1500 }
  )
})

test.run()
