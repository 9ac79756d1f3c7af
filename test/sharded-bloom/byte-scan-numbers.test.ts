/**
 * Numbers in a document's bytes are read as the doubles that JSON.parse() yields.
 */
import fc from 'fast-check'
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import type { JsonForm } from '../../src/sharded-bloom/byte-scan/json-form.ts'
import { initialParameters } from '../../src/sharded-bloom/tune/segment-parameters.ts'
import { checkTuning } from '../../src/sharded-bloom/tune/tuning-options.ts'
import { testSeed } from '../support/arbitraries.ts'
import { SegmentPair, SegmentTools } from '../support/scanned-segments.ts'

const seed = testSeed()
const tools = new SegmentTools(seed)
const encoder = new TextEncoder()

/** Feeds each numeral as a document; returns the share that was scanned. A wrong double has other rows. */
function feed(numerals: readonly string[], form: JsonForm = 'json'): number {
  const ingest = tools.ingest()
  const pair = new SegmentPair(tools, ingest, initialParameters(checkTuning({ rangeCodes: 'all' })))
  // Teaches the scanner the path, so that the next documents are scanned.
  pair.add({ n: 0 })
  let scanned = 0
  for (const numeral of numerals) {
    const text = `{"n":${numeral}}`
    if (pair.addText(JSON.parse(text), encoder.encode(text), form)) scanned++
  }
  pair.assertEqual()
  pair.free()
  ingest.close()
  return scanned / numerals.length
}

function sample(arbitrary: fc.Arbitrary<string>, count: number): string[] {
  return fc.sample(arbitrary, { numRuns: count, seed })
}

const isText = (value: number): boolean => Number.isFinite(value) && !Object.is(value, -0)

test('doubles written by JSON.stringify() are read exactly', () => {
  const moderate = fc.double({ min: -1e30, max: 1e30, noNaN: true }).filter(isText).map(String)
  const fractions = fc.double({ min: 0, max: 1, noNaN: true }).map(String)
  const any = fc.double({ noNaN: true, noDefaultInfinity: true }).filter(isText).map(String)
  feed(sample(any, 10_000))
  feed(sample(moderate, 10_000))
  const share = feed(
    sample(
      fractions.filter((text) => !/e-[4-9]\d|e-\d\d\d/.test(text)),
      5000
    )
  )
  assert.ok(share > 0.999, `${share} were scanned`)
  // In the range of usual measurements.
  const measured = Array.from({ length: 20_000 }, (_, i) => String(Math.sin(i + seed) * 10 ** (i % 7)))
  assert.is(feed(measured), 1)
})

test('numerals with any digits and any exponent are read exactly', () => {
  const digits = fc.bigInt({ min: 1n, max: 10n ** 19n - 1n }).map(String)
  const numerals = fc
    .tuple(fc.constantFrom('', '-'), digits, fc.nat(18), fc.constantFrom('', 'e', 'E+', 'e-'), fc.nat(70))
    .map(([sign, text, point, mark, exponent]) => {
      const whole = text.slice(0, -point) || '0'
      const fraction = text.length > point ? text.slice(text.length - point) : text
      return `${sign}${point === 0 ? text : `${whole}.${fraction}`}${mark}${mark === '' ? '' : exponent}`
    })
    .filter((text) => !/^-?0\d/.test(text))
  const share = feed(sample(numerals, 30_000))
  assert.ok(share > 0.8, `${share} were scanned`)
})

test('numerals halfway between two doubles, or next to that, are rounded correctly', () => {
  const numerals: string[] = []
  for (let i = 0n; i < 4000n; i++) {
    // Halfway between two doubles of 54 to 60 bits.
    const bits = 54n + (i % 7n)
    const odd = (2n ** bits / 2n + i * 7919n * 2n ** (bits - 53n) + 2n ** (bits - 54n)) | 0n
    for (const near of [odd - 1n, odd, odd + 1n]) numerals.push(`${near}`, `${near}.0`, `${near}e0`, `${near}e-3`)
  }
  assert.ok(feed(numerals) > 0.7)
})

test('powers of ten, and coefficients at the limits of each conversion, are read exactly', () => {
  const numerals: string[] = []
  for (let power = -70; power <= 70; power++) {
    for (const coefficient of [
      '1',
      '9007199254740992',
      '9007199254740993',
      '18014398509481985',
      '9999999999999999999'
    ]) {
      numerals.push(`${coefficient}e${power}`, `-${coefficient}e${power}`)
    }
  }
  feed(numerals)
})

test('integers beyond 2^53 are doubles in JSON and refused in Extended JSON', () => {
  const long = ['9007199254740993', '-9007199254740993', '1234567890123456789', '9223372036854775808']
  assert.is(feed(long), 1)
  assert.is(feed(long, 'extended'), 0)
  assert.is(feed(['9007199254740992', '-9007199254740992', '9007199254740993.25', '9007199254740995e1'], 'extended'), 1)
})

test('−0, and numerals that JSON does not allow, are refused', () => {
  for (const numeral of [
    '-0',
    '-0.0',
    '-0e5',
    '01',
    '1.',
    '.5',
    '+1',
    '1e',
    '1e+',
    '-',
    '0x1',
    '00',
    '1.e5',
    'NaN',
    '--1'
  ]) {
    const ingest = tools.ingest()
    const pair = new SegmentPair(tools, ingest, {
      shards: 64,
      rowsPerPair: 4,
      privatePairs: [],
      columns: [],
      upperFrames: 0
    })
    pair.add({ n: 0 })
    assert.ok(pair.add({ n: 1 }))
    const bytes = encoder.encode(`{"n":${numeral}}`)
    assert.not.ok(ingest.add(pair.scanned, bytes, 0, bytes.length, 'json'), numeral)
    pair.free()
    ingest.close()
  }
})

test.run()
