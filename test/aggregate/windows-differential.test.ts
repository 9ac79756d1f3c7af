/**
 * Compares `$setWindowFields` with npm mingo where that follows MongoDB: integers and null, documents with different
 * sort values, regardless of the order of partitions.
 */
import fc from 'fast-check'
import { aggregate } from 'mingo'
import { test } from 'uvu'
import type { Document } from '../../src/model/types.ts'
import { same } from '../docstore/aggregate-over.ts'
import { testSeed } from '../support/arbitraries.ts'
import { windowed } from './windowed.ts'

// Fixed by default, since a new error found in the library must not fail an unrelated change.
const seed = testSeed(20_261_126)

/** Windows always contain the document itself, because mingo computes some others wrongly. */
const end = (min: number, max: number): fc.Arbitrary<unknown> =>
  fc.oneof({ weight: 3, arbitrary: fc.integer({ min, max }) }, fc.constantFrom('unbounded', 'current'))
const bounds = fc.tuple(end(-5, 0), end(0, 5))

const documents = fc
  .uniqueArray(
    fc.record({
      at: fc.integer({ min: 0, max: 60 }),
      part: fc.integer({ min: 0, max: 2 }),
      n: fc.integer({ min: -9, max: 9 }),
      m: fc.option(fc.integer({ min: -9, max: 9 }))
    }),
    { selector: ({ at }) => at, maxLength: 25 }
  )
  .map((list) => list.map((document, _id) => ({ _id, ...document })))

const overWindows: Readonly<Record<string, Document>> = {
  sum: { $sum: '$m' },
  average: { $avg: '$n' },
  least: { $min: '$n' },
  greatest: { $max: '$n' },
  count: { $count: {} },
  pushed: { $push: '$m' }
}
const overPartitions: Readonly<Record<string, Document>> = {
  first: { $first: '$n' },
  last: { $last: '$n' },
  total: { $sum: '$n' },
  rank: { $rank: {} },
  dense: { $denseRank: {} },
  number: { $documentNumber: {} },
  next: { $shift: { output: '$n', by: 1, default: 'none' } },
  before: { $shift: { output: '$n', by: -2 } },
  carried: { $locf: '$m' },
  slope: { $derivative: { input: '$n' }, window: { documents: [-1, 0] } }
}

test('mingo computes the same values for windows of documents and of ranges', () =>
  fc.assert(
    fc.asyncProperty(documents, bounds, bounds, async (list, ofDocuments, ofRange) => {
      const output: Record<string, Document> = { ...overPartitions }
      for (const [name, field] of Object.entries(overWindows)) {
        output[`${name}OfDocuments`] = { ...field, window: { documents: ofDocuments } }
        output[`${name}OfRange`] = { ...field, window: { range: ofRange } }
      }
      const spec = { partitionBy: '$part', sortBy: { at: 1 }, output }
      const byId = (found: readonly Document[]): Document[] => found.toSorted((a, b) => Number(a._id) - Number(b._id))
      const theirs = aggregate(structuredClone(list), [{ $setWindowFields: spec }]) as Document[]
      const ours = await windowed(list, spec)
      same(byId(ours), byId(theirs), JSON.stringify({ ofDocuments, ofRange }))
    }),
    { numRuns: 300, seed }
  ))

test.run()
