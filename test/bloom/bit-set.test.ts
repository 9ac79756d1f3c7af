/** BitSet compared with Set and npm bitset. */
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { BitSet, popcount32 } from '../../src/bloom/bit-set.ts'
import { PetalError } from '../../src/model/errors.ts'
import { seededRandom } from './random.ts'

const random = seededRandom()
const sizes = [0, 1, 31, 32, 33, 64, 1000, 65_536]

function randomSet(size: number, share: number): { bits: BitSet; members: Set<number> } {
  const bits = new BitSet(size)
  const members = new Set<number>()
  for (let i = 0; i < size * share; i++) {
    const member = random.below(size)
    bits.set(member)
    members.add(member)
  }
  return { bits, members }
}

const sorted = (members: Iterable<number>) => [...members].sort((a, b) => a - b)

function listOf(bits: BitSet): number[] {
  const list: number[] = []
  bits.forEach((i) => {
    list.push(i)
  })
  return list
}

test('a BitSet holds the members that were set and not cleared', () => {
  for (const size of sizes) {
    for (const share of [0, 0.01, 0.5, 3]) {
      const { bits, members } = randomSet(size, share)
      for (const member of sorted(members).filter((_, i) => i % 3 === 0)) {
        bits.clear(member)
        members.delete(member)
      }
      assert.is(bits.count(), members.size)
      assert.is(bits.isEmpty(), members.size === 0)
      assert.equal(listOf(bits), sorted(members))
      const descending: number[] = []
      bits.forEachDescending((i) => {
        descending.push(i)
      })
      assert.equal(descending.reverse(), sorted(members))
      for (let i = 0; i < Math.min(size, 2000); i++) assert.is(bits.get(i), members.has(i))
    }
  }
})

test('and(), or() and andNot() work in place and agree with npm bitset', () => {
  for (const size of sizes) {
    const a = randomSet(size, 0.6).bits
    const b = randomSet(size, 0.6).bits
    const before = listOf(b)
    assert.equal(listOf(a.clone().and(b)), a.toBitSet().and(b.toBitSet()).toArray())
    assert.equal(listOf(a.clone().or(b)), a.toBitSet().or(b.toBitSet()).toArray())
    assert.equal(listOf(a.clone().andNot(b)), a.toBitSet().andNot(b.toBitSet()).toArray())
    assert.equal(listOf(b), before)
    const copy = a.clone()
    assert.is(copy.or(b), copy)
  }
})

test('toBitSet() returns a copy with the same members', () => {
  const { bits, members } = randomSet(1000, 0.3)
  const copy = bits.toBitSet()
  assert.is(copy.cardinality(), members.size)
  assert.equal(copy.toArray(), sorted(members))
  copy.set(5, bits.get(5) ? 0 : 1)
  assert.is(bits.get(5), members.has(5))
})

test('indexes and sizes out of range are refused, and get() is false for them', () => {
  const isBadValue = (error: unknown) => error instanceof PetalError && error.codeName === 'BadValue'
  const bits = new BitSet(40)
  for (const index of [-1, 40, 63, 1.5, Number.NaN, 2 ** 32]) {
    assert.throws(() => bits.set(index), isBadValue)
    assert.throws(() => bits.clear(index), isBadValue)
    assert.not(bits.get(index))
  }
  for (const size of [-1, 1.5, 2 ** 33, Number.NaN]) assert.throws(() => new BitSet(size), isBadValue)
  for (const combine of ['and', 'or', 'andNot'] as const) assert.throws(() => bits[combine](new BitSet(41)), isBadValue)
})

test('popcount32() counts the bits of any word', () => {
  for (const [word, expected] of [
    [0, 0],
    [1, 1],
    [-1, 32],
    [0xffffffff, 32],
    [0x80000001 | 0, 2],
    [0x55555555, 16]
  ] as const) {
    assert.is(popcount32(word), expected)
  }
})

test.run()
