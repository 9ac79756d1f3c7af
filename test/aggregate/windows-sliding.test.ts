/** Whatever is kept while a window moves, the results are bit by bit those of each window computed separately. */
import { Decimal128 } from 'bson'
import fc from 'fast-check'
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { accumulatorClass } from '../../src/aggregate/accumulators.ts'
import { ExactSum } from '../../src/aggregate/exact-sum.ts'
import { Expressions } from '../../src/aggregate/expression.ts'
import { compileFieldPath } from '../../src/aggregate/field-path.ts'
import { compileGroupAccumulator, type GroupAccumulator } from '../../src/aggregate/operators/group-accumulators.ts'
import { Covariance } from '../../src/aggregate/windows/covariance.ts'
import { Queue } from '../../src/aggregate/windows/sliding.ts'
import { SlidingSum } from '../../src/aggregate/windows/sliding-sum.ts'
import { runSteps } from '../../src/model/time-slice.ts'
import type { Document } from '../../src/model/types.ts'
import { same } from '../docstore/aggregate-over.ts'
import { testSeed } from '../support/arbitraries.ts'
import { decimal, int64, number } from '../support/values.ts'
import { windowed } from './windowed.ts'

/** Functions by name that compute a result from all documents of a window. */
type Anew = Readonly<Record<string, (documents: readonly Document[]) => unknown>>

const inputOf = compileFieldPath('v')
const pairOf = (document: Document): unknown => [inputOf(document) ?? null, document.w]

const classes = ['$sum', '$avg', '$min', '$max', '$push', '$addToSet', '$first', '$last', '$stdDevPop', '$stdDevSamp']
const selections: Document = {
  $firstN: { input: '$v', n: 2 },
  $lastN: { input: '$v', n: 2 },
  $minN: { input: '$v', n: 3 },
  $maxN: { input: '$v', n: 3 },
  $top: { sortBy: { v: 1, w: -1 }, output: ['$v', '$i'] },
  $topN: { sortBy: { v: -1 }, output: '$i', n: 3 },
  $bottom: { sortBy: { v: 1 }, output: '$i' },
  $bottomN: { sortBy: { v: 1, w: 1 }, output: '$i', n: 3 },
  $median: { input: '$v', method: 'approximate' },
  $percentile: { input: '$v', p: [0, 0.25, 0.9, 1], method: 'approximate' }
}

async function anewByName(): Promise<Anew> {
  const anew: Record<string, Anew[string]> = { $count: (documents) => documents.length }
  for (const name of classes) {
    const Class = accumulatorClass(name)!
    anew[name] = (documents) => {
      const accumulator = new Class()
      for (const document of documents) accumulator.add(inputOf(document))
      return accumulator.result()
    }
  }
  for (const name of ['$covariancePop', '$covarianceSamp']) {
    anew[name] = (documents) => {
      const accumulator = new Covariance(name === '$covarianceSamp')
      for (const document of documents) accumulator.add(pairOf(document))
      return accumulator.result()
    }
  }
  const expressions = new Expressions()
  expressions.require({ stage: '$group', position: 0 }, (compiler) => {
    for (const [name, argument] of Object.entries(selections)) {
      const accumulate = compileGroupAccumulator(name, argument, compiler) as GroupAccumulator
      anew[name] = (documents) => runSteps(accumulate(documents, {}))
    }
  })
  await expressions.load()
  return anew
}

function argumentOf(name: string): unknown {
  if (name === '$count') return {}
  if (name.startsWith('$covariance')) return ['$v', '$w']
  return selections[name] ?? '$v'
}

const integer = fc.integer({ min: -20, max: 20 })
const price = fc.integer({ min: -100_000, max: 100_000 }).map((cents) => cents / 100)
const third = fc.integer({ min: -1000, max: 1000 }).map((n) => n / 3)
const none = fc.constantFrom(undefined, null)
const text = fc.constantFrom('', 'a', 'b')

/** Columns of one kind, for which the sum usually slides, and of mixed kinds. */
const columns = [
  integer,
  fc.oneof({ weight: 4, arbitrary: price }, none),
  third,
  fc.oneof(third, fc.constantFrom(1e300, -1e300, 5e-324, 2 ** 53, 1e17)),
  fc.oneof({ weight: 6, arbitrary: third }, fc.constantFrom(1e16, 1e-9, -0, 2 ** 53 - 1)),
  fc.oneof(int64, integer),
  fc.oneof(int64, price),
  fc.oneof({ weight: 3, arbitrary: decimal }, integer),
  fc.oneof({ weight: 8, arbitrary: third }, fc.constantFrom(Number.NaN, Number.POSITIVE_INFINITY, 1n)),
  fc.oneof(text, none, integer, fc.constantFrom(Decimal128.fromString('1.0'), 1n, 1)),
  fc.oneof(number, text, none, fc.constantFrom([1], { a: 1 }, true))
].map((value) => fc.array(fc.tuple(value, integer), { maxLength: 40 }))

const end = fc.oneof({ weight: 4, arbitrary: fc.integer({ min: -6, max: 6 }) }, fc.constantFrom('unbounded', 'current'))
const offset = (bound: unknown, infinity: number): number =>
  bound === 'unbounded' ? infinity : bound === 'current' ? 0 : (bound as number)
const isAscending = ([lower, upper]: readonly unknown[]): boolean =>
  offset(lower, Number.NEGATIVE_INFINITY) <= offset(upper, Number.POSITIVE_INFINITY)
const ends = fc.tuple(end, end).filter(isAscending)

const seed = testSeed()

test('windows of documents are computed right for values of every kind', async () => {
  const anew = await anewByName()
  const property = fc.asyncProperty(fc.oneof(...columns), ends, async (column, bounds) => {
    const documents = column.map(([v, w], i) => (v === undefined ? { i, w } : { i, v, w }))
    const output = Object.fromEntries(
      Object.keys(anew).map((name) => [name.slice(1), { [name]: argumentOf(name), window: { documents: bounds } }])
    )
    const found = await windowed(documents, { sortBy: { i: 1 }, output })
    const [lower, upper] = [offset(bounds[0], -1e9), offset(bounds[1], 1e9)]
    for (const [i, { i: _i, v: _v, w: _w, ...fields }] of found.entries()) {
      const window = documents.slice(Math.max(0, i + lower), Math.max(0, i + upper + 1))
      for (const [name, compute] of Object.entries(anew)) {
        same(fields[name.slice(1)], compute(window), `${name} of ${JSON.stringify(bounds)} at ${i}`)
      }
    }
  })
  await fc.assert(property, { numRuns: 400, seed })
})

test('windows of a range are computed right for numbers with ties and gaps', async () => {
  const anew = await anewByName()
  const quarter = fc.integer({ min: -40, max: 40 }).map((n) => n / 4)
  const distance = fc.oneof(quarter, fc.constantFrom('unbounded', 'current'))
  const property = fc.asyncProperty(
    fc.array(fc.tuple(quarter, third), { maxLength: 40 }),
    fc.tuple(distance, distance).filter(isAscending),
    async (column, bounds) => {
      const documents = column.map(([at, v], i) => ({ i, at, v, w: i % 5 }))
      documents.sort((a, b) => a.at - b.at)
      const output = Object.fromEntries(
        Object.keys(anew).map((name) => [name.slice(1), { [name]: argumentOf(name), window: { range: bounds } }])
      )
      const found = await windowed(documents, { sortBy: { at: 1 }, output })
      const [lower, upper] = bounds
      for (const [i, fields] of found.entries()) {
        const { at } = documents[i]!
        const window = documents.filter((other, j) => {
          const isAbove = lower === 'current' ? j >= i : other.at >= at + offset(lower, Number.NEGATIVE_INFINITY)
          const isBelow = upper === 'current' ? j <= i : other.at <= at + offset(upper, Number.POSITIVE_INFINITY)
          return isAbove && isBelow
        })
        for (const [name, compute] of Object.entries(anew)) {
          same(fields[name.slice(1)], compute(window), `${name} of ${JSON.stringify(bounds)} at ${i}`)
        }
      }
    }
  )
  await fc.assert(property, { numRuns: 200, seed })
})

test('$integral is computed right for numbers with rounding and gaps', async () => {
  const property = fc.asyncProperty(
    fc.array(fc.tuple(fc.integer({ min: 0, max: 9 }), fc.oneof(third, integer)), { maxLength: 30 }),
    ends,
    async (column, bounds) => {
      let at = 0
      const documents = column.map(([distance, y]) => {
        at += distance / 4
        return { at, y }
      })
      const field = { $integral: { input: '$y' }, window: { documents: bounds } }
      const found = await windowed(documents, { sortBy: { at: 1 }, output: { area: field } })
      const [lower, upper] = [offset(bounds[0], -1e9), offset(bounds[1], 1e9)]
      for (const [i, { area }] of found.entries()) {
        const window = documents.slice(Math.max(0, i + lower), Math.max(0, i + upper + 1))
        const sum = new ExactSum()
        for (const [j, { at: x, y }] of window.entries()) {
          const before = window[j - 1]
          if (before !== undefined) sum.add(((y + before.y) * (x - before.at)) / 2)
        }
        same(area, window.length === 0 ? null : sum.total(), `${JSON.stringify(bounds)} at ${i}`)
      }
    }
  )
  await fc.assert(property, { numRuns: 200, seed })
})

/** A window that counts how often it was read. */
class Watched extends Queue {
  reads = 0

  override *[Symbol.iterator](): Generator<unknown> {
    this.reads++
    yield* super[Symbol.iterator]()
  }
}

function readsOf(values: readonly unknown[], length: number): number {
  const window = new Watched()
  const sum = new SlidingSum(false)
  for (const value of values) {
    window.push(value)
    sum.push(value)
    if (window.length > length) sum.shift(window.shift())
    for (const step of sum.result(window)) assert.is(step, undefined)
  }
  return window.reads
}

test('sums of prices, of integers of all kinds and of rounded numbers slide without reading the window again', () => {
  const many = (value: (i: number) => unknown): unknown[] => Array.from({ length: 5000 }, (_, i) => value(i))
  assert.is(
    readsOf(
      many((i) => (i * 7919) % 1000),
      1000
    ),
    0
  )
  assert.is(
    readsOf(
      many((i) => ((i * 7919) % 100_000) / 100),
      1000
    ),
    0
  )
  assert.is(
    readsOf(
      many((i) => Math.sin(i) * 1e6),
      1000
    ),
    0
  )
  assert.is(
    readsOf(
      many((i) => (i % 3 === 0 ? BigInt(i) * 10n ** 12n : i / 8)),
      1000
    ),
    0
  )
  // The window is read only while it contains a number too large for the errors of the others to be kept.
  const reads = readsOf(
    many((i) => (i === 100 ? 1e80 : Math.sin(i))),
    10
  )
  assert.ok(reads > 0 && reads <= 12, `${reads} reads`)
  const specials = readsOf(
    many((i) => (i === 100 ? Number.NaN : i === 200 ? Decimal128.fromString('1') : i)),
    10
  )
  assert.is(specials, 20)
})

test('a queue returns its values in order, and only those not shifted yet', () => {
  const queue = new Queue()
  for (let i = 0; i < 1000; i++) {
    queue.push(i)
    if (i >= 10) assert.is(queue.shift(), i - 10)
  }
  assert.is(queue.length, 10)
  assert.equal([...queue], [990, 991, 992, 993, 994, 995, 996, 997, 998, 999])
})

test.run()
