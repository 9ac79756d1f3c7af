/** BloomFilter: no false negatives, predicted rates, conversion to and from bytes, refusal of damaged bytes. */
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { BloomFilter } from '../../src/bloom/bloom-filter.ts'
import { rowNumbers } from '../../src/bloom/hash.ts'
import { type ErrorName, PetalError } from '../../src/model/errors.ts'
import { seededRandom } from './random.ts'

const random = seededRandom()

const codeIs = (code: ErrorName) => (error: unknown) => error instanceof PetalError && error.codeName === code

function randomFilter(bits: number, hashes: number, count: number): { filter: BloomFilter; keys: [number, number][] } {
  const filter = new BloomFilter(bits, hashes)
  const keys = Array.from({ length: count }, (): [number, number] => [random.next(), random.next()])
  for (const [lo, hi] of keys) filter.add(lo, hi)
  return { filter, keys }
}

test('mayContain() is true for every added key, in filters of every shape, unions and copies', () => {
  for (const bits of [64, 128, 192, 1024, 65_536, 1_000_000 - (1_000_000 % 64)]) {
    for (const hashes of [1, 2, 3, 7, 8, 16, 32]) {
      const { filter, keys } = randomFilter(bits, hashes, 100)
      const { filter: other, keys: otherKeys } = randomFilter(bits, hashes, 50)
      const both = filter.clone().union(other)
      const copy = BloomFilter.fromBytes(both.toBytes())
      for (const [lo, hi] of keys) assert.ok(filter.mayContain(lo, hi))
      for (const [lo, hi] of [...keys, ...otherKeys]) {
        assert.ok(both.mayContain(lo, hi))
        assert.ok(copy.mayContain(lo, hi))
      }
      assert.is(copy.fillRatio(), both.fillRatio())
      assert.ok(both.fillRatio() >= filter.fillRatio())
    }
  }
})

test('an empty filter contains nothing, and changing a clone leaves the original unchanged', () => {
  const filter = new BloomFilter(128, 4)
  for (let i = 0; i < 1000; i++) assert.not(filter.mayContain(random.next(), random.next()))
  const copy = filter.clone()
  copy.add(1, 2)
  assert.not(filter.mayContain(1, 2))
  assert.is(copy.fillRatio(), 4 / 128)
})

test('the bits of a key are those that rowNumbers() returns', () => {
  for (const [bits, hashes] of [
    [64, 7],
    [4096, 8],
    [1_048_576, 13]
  ] as const) {
    const filter = new BloomFilter(bits, hashes)
    const expected = new Uint8Array(bits / 8)
    const rows = new Int32Array(hashes)
    for (let i = 0; i < 20; i++) {
      const lo = random.next()
      const hi = random.next()
      filter.add(lo, hi)
      rowNumbers(lo, hi, bits, hashes, rows)
      for (const bit of rows) expected[bit >> 3] = (expected[bit >> 3] as number) | (1 << (bit & 7))
    }
    assert.equal(filter.toBytes().subarray(8), expected)
  }
})

test('forKeys() makes a filter with the requested rate of false positives', () => {
  const filter = BloomFilter.forKeys(5000, 0.01)
  for (let i = 0; i < 5000; i++) filter.add(random.next(), random.next())
  let wrong = 0
  for (let i = 0; i < 100_000; i++) if (filter.mayContain(random.next(), random.next())) wrong++
  assert.ok(wrong < 1300, `${wrong} of 100,000`)
  assert.is(BloomFilter.forKeys(0, 0.01).bits, 64)
})

test('the largest filter works up to its last bit', () => {
  const filter = new BloomFilter(2 ** 30, 1)
  filter.add(0, -1)
  assert.ok(filter.mayContain(0, -1))
  assert.is(filter.toBytes().at(-1), 0x80)
})

test('numbers of bits and hashes out of range, and unions of different shapes, are refused', () => {
  for (const bits of [0, 63, 65, 96, -64, 2 ** 31, Number.NaN, 64.5]) {
    assert.throws(() => new BloomFilter(bits, 4), codeIs('BadValue'))
  }
  for (const hashes of [0, -1, 33, 1.5, Number.NaN])
    assert.throws(() => new BloomFilter(64, hashes), codeIs('BadValue'))
  assert.throws(() => new BloomFilter(64, 4).union(new BloomFilter(128, 4)), codeIs('BadValue'))
  assert.throws(() => new BloomFilter(64, 4).union(new BloomFilter(64, 5)), codeIs('BadValue'))
})

test('damaged bytes cause typed errors that name the source', () => {
  const { filter } = randomFilter(192, 5, 10)
  const good = filter.toBytes()
  const damage: [string, ErrorName, (bytes: Uint8Array) => Uint8Array][] = [
    ['empty', 'DataCorruption', () => new Uint8Array()],
    ['header cut', 'DataCorruption', (bytes) => bytes.subarray(0, 7)],
    ['bits cut', 'DataCorruption', (bytes) => bytes.subarray(0, bytes.length - 1)],
    ['bits added', 'DataCorruption', (bytes) => Uint8Array.of(...bytes, 0)],
    ['another format', 'UnsupportedFormat', (bytes) => bytes.with(0, 2)],
    ['no hashes', 'DataCorruption', (bytes) => bytes.with(1, 0)],
    ['too many hashes', 'DataCorruption', (bytes) => bytes.with(1, 33)],
    ['reserved bytes', 'DataCorruption', (bytes) => bytes.with(3, 1)],
    ['no bits', 'DataCorruption', (bytes) => bytes.with(4, 0)],
    ['gigabytes of bits', 'DataCorruption', (bytes) => bytes.with(7, 255)],
    ['more bits than there are', 'DataCorruption', (bytes) => bytes.with(6, 100)]
  ]
  for (const [what, code, change] of damage) {
    assert.throws(
      () => BloomFilter.fromBytes(change(good.slice()), 'table 7'),
      (error: unknown) => codeIs(code)(error) && (error as Error).message.startsWith('table 7: '),
      what
    )
  }
  for (let round = 0; round < 5000; round++) {
    const bytes = Uint8Array.from({ length: random.below(40) }, () => random.next())
    try {
      BloomFilter.fromBytes(bytes)
    } catch (error) {
      assert.instance(error, PetalError)
    }
  }
})

test('fromBytes() copies bytes at an odd offset of a larger buffer', () => {
  const { filter, keys } = randomFilter(256, 3, 20)
  const bytes = filter.toBytes()
  const larger = new Uint8Array(bytes.length + 9)
  larger.set(bytes, 3)
  const copy = BloomFilter.fromBytes(larger.subarray(3, 3 + bytes.length))
  for (const [lo, hi] of keys) assert.ok(copy.mayContain(lo, hi))
  larger.fill(0)
  for (const [lo, hi] of keys) assert.ok(copy.mayContain(lo, hi), 'it is a copy')
})

test.run()
