/** The keyed permutation behind reversible ids. */
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { KeyedPermutation } from '../../src/sharded-bloom/standalone/index.ts'
import { seededRandom } from '../bloom/random.ts'

test('forward() is a permutation of the domain, and inverse() undoes it, whatever the size and the key', () => {
  const random = seededRandom()
  const sizes = [...Array.from({ length: 300 }, (_, i) => i + 1), 1023, 1024, 1025, 4093, 65_535, 65_536, 65_537]
  for (let i = 0; i < 10; i++) sizes.push(1 + random.below(100_000))
  for (const size of sizes) {
    const permutation = new KeyedPermutation(size, random.next(), random.next())
    const seen = new Uint8Array(size)
    for (let value = 0; value < size; value++) {
      const image = permutation.forward(value)
      if (seen[image] !== 0) assert.unreachable(`${size}: ${image} is reached twice`)
      seen[image] = 1
      if (permutation.inverse(image) !== value) assert.unreachable(`${size}: ${value} is not computed back`)
    }
  }
})

test('inverse() undoes forward() exactly in domains of up to 2^53', () => {
  const random = seededRandom()
  for (const size of [2 ** 31, 2 ** 32 - 1, 2 ** 32 + 1, 2 ** 52 + 12_345, 2 ** 53 - 1, 2 ** 53]) {
    const permutation = new KeyedPermutation(size, random.next(), random.next())
    for (const value of [0, 1, size - 1, size - 2, ...Array.from({ length: 2000 }, () => random.below(size))]) {
      const image = permutation.forward(value)
      assert.ok(Number.isSafeInteger(image) && image >= 0 && image < size)
      assert.is(permutation.inverse(image), value)
    }
  }
})

test('forward() spreads consecutive ids, or ids a stride apart, evenly over the positions', () => {
  for (const stride of [1, 64, 1000]) {
    const permutation = new KeyedPermutation(1_000_000, 1, 2)
    const counts = new Uint32Array(100)
    for (let i = 0; i < 1000; i++) {
      const position = permutation.forward(i * stride) % 100
      counts[position] = counts[position]! + 1
    }
    const chiSquared = counts.reduce((sum, count) => sum + (count - 10) ** 2 / 10, 0)
    // 99 degrees of freedom: beyond 170 once in a hundred thousand.
    assert.ok(chiSquared < 170, `stride ${stride}: ${chiSquared}`)
  }
})

test('different keys lead to different permutations', () => {
  const images = (lo: number, hi: number) => {
    const permutation = new KeyedPermutation(1000, lo, hi)
    return Array.from({ length: 1000 }, (_, i) => permutation.forward(i))
  }
  const one = images(1, 2)
  for (const other of [images(2, 2), images(1, 3), images(2, 1)]) {
    const equal = other.filter((image, i) => image === one[i]).length
    assert.ok(equal < 10, `${equal} of 1000 are alike`)
  }
})

test('the permutation never changes, since it is part of the file format', () => {
  const of = (size: number, lo: number, hi: number) => {
    const permutation = new KeyedPermutation(size, lo, hi)
    return [0, 1, 2, size - 1].map((value) => permutation.forward(value))
  }
  assert.equal([of(1000, 0, 0), of(65_536, 1, 2), of(2 ** 53, -1, 7)], golden)
})

test('invalid sizes and values are refused', () => {
  for (const size of [0, -1, 1.5, 2 ** 53 + 2, Number.NaN]) {
    assert.throws(() => new KeyedPermutation(size, 0, 0), /size must be an integer/)
  }
  const permutation = new KeyedPermutation(10, 0, 0)
  for (const value of [-1, 10, 0.5, Number.NaN]) {
    assert.throws(() => permutation.forward(value), /expected an integer in \[0, 10\)/)
    assert.throws(() => permutation.inverse(value), /expected an integer in \[0, 10\)/)
  }
})

const golden: readonly (readonly number[])[] = [
  [155, 393, 122, 890],
  [30_440, 32_430, 14_899, 13_504],
  [7_071_079_400_725_019, 2_034_922_838_983_905, 4_098_028_797_672_701, 8_029_808_500_757_827]
]

test.run()
