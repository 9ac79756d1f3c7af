/** Slices of matches: how many documents a reader that stops early has paid for. */
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { encodeRecord } from '../../src/docstore/documents/record.ts'
import { Confirmer } from '../../src/docstore/read/confirmer.ts'
import { Meter } from '../../src/docstore/read/meter.ts'
import { compileFilter } from '../../src/query/filter.ts'

/** Takes slices when they are full, or after as many matches as `takenAfter` says; returns their lengths. */
function sliceLengths(matches: number, takenAfter: readonly number[]): number[] {
  const confirmer = new Confirmer(compileFilter({}), new Meter(), Number.POSITIVE_INFINITY)
  const lengths: number[] = []
  for (let ordinal = 0, length = 0; ordinal < matches; ordinal++) {
    confirmer.offer(ordinal, encodeRecord({ _id: ordinal }, true), true)
    length++
    if (!confirmer.isSliceFull && length !== takenAfter[lengths.length]) continue
    lengths.push(confirmer.take().length)
    length = 0
  }
  return lengths
}

test('slices grow from 32 documents to a thousand', () => {
  assert.equal(sliceLengths(3000, []), [32, 128, 512, 1000, 1000])
})

test('a slice taken before it is full is followed by one of at most four times its length, or 32', () => {
  assert.equal(sliceLengths(3000, [1, 1, 5, 20]), [1, 1, 5, 20, 80, 320, 1000, 1000])
})

test('a slice taken early does not make later ones smaller than they were', () => {
  assert.equal(sliceLengths(2000, [32, 128, 1]), [32, 128, 1, 512, 1000])
})

test.run()
