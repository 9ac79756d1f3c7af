/**
 * lower ⊆ matches ⊆ upper for ranges, over values chosen to break the order of keys: zeros of both signs, NaN,
 * infinities, integers that are not doubles, the ends of time, texts that differ late or in surrogates, values of many
 * types on one path, arrays. The matcher over a full scan is the oracle.
 */
import { Decimal128, Long } from 'bson'
import fc from 'fast-check'
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import type { Document } from '../../src/model/types.ts'
import { type CompiledFilter, compileFilter } from '../../src/query/filter.ts'
import { testSeed } from '../support/arbitraries.ts'
import { type HarnessOptions, IndexHarness } from '../support/index-harness.ts'

const seed = testSeed()

const numbers = fc.oneof(
  { weight: 4, arbitrary: fc.integer({ min: -20, max: 20 }) },
  { weight: 2, arbitrary: fc.double({ noNaN: true }) },
  {
    weight: 2,
    arbitrary: fc.constantFrom<unknown>(
      0,
      -0,
      Number.POSITIVE_INFINITY,
      Number.NEGATIVE_INFINITY,
      Number.MIN_VALUE,
      -Number.MIN_VALUE,
      Number.MAX_VALUE,
      2 ** 53,
      2 ** 53 + 2,
      -(2 ** 53)
    )
  },
  {
    weight: 1,
    arbitrary: fc.constantFrom<unknown>(
      2n ** 53n + 1n,
      -(2n ** 53n) - 1n,
      Long.fromBigInt(2n ** 62n + 1n),
      Decimal128.fromString('0.1'),
      Decimal128.fromString('1E400'),
      Decimal128.fromString('-1E400')
    )
  }
)

const dates = fc.oneof(
  fc.date({ noInvalidDate: true }),
  fc.constantFrom(0, -1, 1, 8.64e15, -8.64e15).map((time) => new Date(time))
)

const texts = fc
  .tuple(
    fc.constantFrom(
      '',
      '',
      'a',
      'same',
      'same-prefix-',
      'same-prefix-',
      '\u{1f600}',
      '\ud83d',
      '\uffee',
      '\udc00',
      '\0'
    ),
    fc.string({
      unit: fc.constantFrom(
        '\0',
        '\x01',
        'a',
        'b',
        '\x7f',
        '\x80',
        'é',
        '\ud7ff',
        '\ud800',
        '\udc00',
        '\ue000',
        '\u{10ffff}',
        '"'
      ),
      maxLength: 10
    })
  )
  .map(([head, tail]) => head + tail)

const values = fc.oneof(numbers, dates, texts)
const rare = fc.constantFrom<unknown>(null, true, Number.NaN, Decimal128.fromString('NaN'), {}, { x: 1 }, /^same/)

/** Mostly one usual value; sometimes values that no column holds. */
function mixed(usual: fc.Arbitrary<unknown>): fc.Arbitrary<unknown> {
  return fc.oneof(
    { weight: 12, arbitrary: usual },
    { weight: 1, arbitrary: rare },
    { weight: 1, arbitrary: usual.map((value) => [value]) },
    { weight: 1, arbitrary: fc.array(fc.oneof(values, rare), { maxLength: 3 }) },
    { weight: 1, arbitrary: fc.array(usual, { maxLength: 2 }).map((inner) => [inner, 1]) },
    { weight: 1, arbitrary: usual.map((value) => ({ 0: value })) }
  )
}

const paths = ['n', 's', 'd', 'm', 'o.n', 'o.s', 'grown', 'loose', 'time', 'nearly', 'late'] as const
/** Distance of the numbers of one sample of documents from those of the next. */
const ordinalsApart = 10_000

function documentsOf(count: number, offset: number): Document[] {
  const parts = fc.record(
    {
      n: mixed(numbers),
      s: mixed(texts),
      d: mixed(dates),
      m: mixed(values),
      o: mixed(fc.record({ n: numbers, s: texts }))
    },
    { requiredKeys: ['n'] }
  )
  const sampled = fc.sample(parts, { numRuns: count, seed: seed + offset })
  return sampled.map((part, i) => {
    const ordinal = offset * ordinalsApart + i
    const time = new Date(Date.UTC(2024, 0) + ordinal * 3_333_333).toISOString()
    const dotted = i % 19 === 0 ? { 'o.n': i } : {}
    // The lists are not in the column, and their values lie beyond all values in it.
    const loose = i % 41 === 0 ? [ordinal, -1 - ordinal] : ordinal
    // Neighbours out of order; and two series that grow, one after the other.
    const nearly = i % 29 === 0 ? { nearly: Number.NaN } : { nearly: ordinal + ((i * 7) % 23) }
    const late = new Date(Date.UTC(2024, 0) + (ordinal % 225) * 6_666_666 + (i < 225 ? 0 : 3_333_333)).toISOString()
    return { ...part, ...dotted, grown: ordinal >> 2, loose, ...nearly, late, ...(i % 7 === 0 ? {} : { time }) }
  })
}

const ends = fc.oneof(
  values,
  values,
  fc.integer({ min: -40_000, max: 40_000 }),
  // Within a sealed segment, in the middle of a group of its documents.
  fc.tuple(fc.nat(3), fc.nat(450)).map(([offset, i]) => offset * ordinalsApart + i),
  fc.tuple(fc.nat(3), fc.nat(450)).map(([offset, i]) => (offset * ordinalsApart + i) >> 2),
  fc.constantFrom('2024-', '2024-03-01', '2025', 'T')
)
const operators = fc.constantFrom('$gt', '$gte', '$lt', '$lte')
const comparison = fc.tuple(operators, ends).map(([operator, end]) => ({ [operator]: end }))
const between = fc.tuple(ends, ends).map(([low, high]) => ({ $gte: low, $lt: high }))
const patterns = fc.constantFrom(/^same/, /^same-prefix-a/, /^a.*b/, /^\0/, /^\ud83d/, /^2024-0[12]/, /^2024-01/, /^é+/)
const condition = fc.oneof(
  comparison,
  between,
  patterns,
  comparison.map((inner) => ({ $not: inner })),
  comparison.map((inner) => ({ $elemMatch: inner }))
)
const leaf = fc.tuple(fc.constantFrom(...paths, 'n.0', 'o.0.n'), condition).map(([path, inner]) => ({ [path]: inner }))
const filters = fc.oneof(
  { weight: 4, arbitrary: leaf },
  { weight: 1, arbitrary: fc.tuple(leaf, leaf).map((list) => ({ $and: list })) },
  { weight: 1, arbitrary: fc.tuple(leaf, leaf).map((list) => ({ $or: list })) },
  { weight: 1, arbitrary: fc.tuple(leaf, leaf).map((list) => ({ $nor: list })) }
)

function filtersOf(count: number, offset: number): CompiledFilter[] {
  return fc.sample(filters, { numRuns: count, seed: seed + 5000 + offset }).map((filter) => compileFilter(filter))
}

async function checkLife(options: HarnessOptions, isAsync = false, usesBytes = false): Promise<void> {
  const harness = new IndexHarness(options)
  harness.records.isAsync = isAsync
  harness.usesBytes = usesBytes
  await harness.open()
  let certain = 0
  for (let round = 0; round < 4; round++) {
    await harness.insert(documentsOf(round < 3 ? 450 : 100, round))
    await harness.remove([round * 300, round * 300 + 5, round * 300 + 64])
    certain += (await harness.check(filtersOf(40, round))).certain
    if (round % 2 === 1) await harness.reopen()
    certain += (await harness.check(filtersOf(20, round + 10))).certain
  }
  const crashed = harness.crashed()
  await crashed.open()
  await crashed.check(filtersOf(40, 99))
  await crashed.close()
  const { parameters, bytes } = harness.index.stats()
  assert.ok(parameters.at(-1)!.columns >= 3, `${parameters.at(-1)!.columns} columns`)
  assert.ok(bytes.rangeCodes > 0)
  assert.ok(certain > 1000, `${certain} certain`)
  await harness.close()
}

test('ranges are sound over numbers, dates and texts', () => checkLife({ segmentDocuments: 512, rangeCodes: 'all' }))

test('texts that have the same key as the end of a range are not taken for certain matches', async () => {
  const harness = await IndexHarness.open({ segmentDocuments: 512, rangeCodes: 'all' })
  // A key has the eight bytes after the common prefix.
  const textOf = (i: number): string => `${i % 2 === 0 ? 'even' : 'odd'} and so on ${i}`
  await harness.insert(Array.from({ length: 800 }, (_, i) => ({ s: textOf(i) })))
  const { parameters } = harness.index.stats()
  assert.ok(parameters.at(-1)!.columns >= 1)
  const ends = Array.from({ length: 20 }, (_, i) => textOf(i * 41))
  await harness.check(
    ends.flatMap((end) => ['$gt', '$gte', '$lt', '$lte'].map((operator) => compileFilter({ s: { [operator]: end } })))
  )
  await harness.close()
})

test('ranges are sound when rows are read asynchronously, through the smallest cache', () =>
  checkLife({ segmentDocuments: 512, rangeCodes: 'all', cacheBytes: 0 }, true))

test('ranges are sound when documents are indexed from their bytes', () =>
  checkLife({ segmentDocuments: 512, rangeCodes: 'all' }, false, true))

test('ranges are sound with codes of numbers and dates only', () =>
  checkLife({ segmentDocuments: 512, rangeCodes: 'numbers' }))

test('ranges are sound where no codes are kept', async () => {
  const harness = await IndexHarness.open({ segmentDocuments: 512, rangeCodes: 'none' })
  await harness.insert(documentsOf(1100, 0))
  await harness.check(filtersOf(30, 0))
  assert.is(harness.index.stats().bytes.rangeCodes, 0)
  await harness.close()
})

test('ranges are sound in a segment that is tuned and sealed with thousands of documents', async () => {
  const harness = await IndexHarness.open({ segmentDocuments: 4096, rangeCodes: 'all' })
  await harness.insert([...documentsOf(4000, 0), ...documentsOf(2000, 1)])
  await harness.check(filtersOf(60, 0))
  await harness.close()
})

test.run()
