/** Recent versions are merged when they are many, and on close if that spares the next open more than it costs. */
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { isMergeDue, isWorthMergingOnClose, spanOf } from '../../src/sharded-bloom/scattered/policy.ts'

const segmentDocuments = 65_536

test('recent versions are merged at one segment and an eighth of the collection, or at four segments', () => {
  const cases: [recent: number, live: number, expected: boolean][] = [
    [0, 0, false],
    [segmentDocuments - 1, segmentDocuments - 1, false],
    [segmentDocuments, segmentDocuments, true],
    [segmentDocuments, 8 * segmentDocuments, true],
    [segmentDocuments, 8 * segmentDocuments + 8, false],
    [4 * segmentDocuments - 1, 1e9, false],
    [4 * segmentDocuments, 1e9, true]
  ]
  for (const [recent, live, expected] of cases) {
    assert.is(isMergeDue(recent, segmentDocuments, { liveCount: () => live }), expected, `${recent} of ${live}`)
  }
})

test('documents are not counted while recent versions are few', () => {
  const index = {
    liveCount: (): number => {
      throw new Error('counted')
    }
  }
  assert.is(isMergeDue(segmentDocuments - 1, segmentDocuments, index), false)
})

test('on close they are merged if they are many and few documents would be rebuilt for each', () => {
  const parameters = [
    { firstOrdinal: 0, documents: 20_000 },
    { firstOrdinal: 100_000, documents: 10_000 },
    { firstOrdinal: 200_000, documents: 65_536 }
  ].map((segment) => ({
    ...segment,
    sealed: true,
    tail: 'bloom' as const,
    shards: 3072,
    rowsPerPair: 8,
    privatePairs: 0,
    columns: 0,
    density: 0,
    crowded: 0.5
  }))
  const cases: [recent: number, from: number, to: number, expected: boolean][] = [
    [0, 0, 0, false],
    [4095, 100_000, 100_001, false],
    [4096, 100_000, 200_000, true],
    [4096, 99_999, 200_000, false],
    [7500, 99_999, 200_000, true],
    [7499, 99_999, 200_000, false],
    [10_000, 150_000, 200_001, false],
    [10_000, 300_000, 300_001, false],
    [16_384, 300_000, 300_001, true]
  ]
  for (const [recent, from, to, expected] of cases) {
    const isWorth = isWorthMergingOnClose(recent, segmentDocuments, { from, to }, parameters)
    assert.is(isWorth, expected, `${recent} in ${from} to ${to}`)
  }
  assert.is(isWorthMergingOnClose(512, 512, { from: 100_000, to: 100_001 }, []), true, 'a small segment full of them')
})

test('the span of recent versions reaches from their least ordinal to just after the greatest', () => {
  assert.equal(spanOf([]), { from: 0, to: 0 })
  assert.equal(spanOf([{ ordinals: [] }, { ordinals: [] }]), { from: 0, to: 0 })
  assert.equal(spanOf([{ ordinals: [7, 3, 9] }, { ordinals: [] }, { ordinals: [12, 5] }]), { from: 3, to: 13 })
})

test.run()
