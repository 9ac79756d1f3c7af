/** Tests for every kind of filter index, run by filter-index-linear, -tree and -sliced.test.ts. */
import type { Test } from 'uvu'
import * as assert from 'uvu/assert'
import { BitSet } from '../../src/bloom/bit-set.ts'
import type { FilterIndex } from '../../src/bloom/filter-index/filter-index.ts'
import { hasAll, saturatedFill } from '../../src/bloom/filter-index/slotted-index.ts'
import { rowNumbers } from '../../src/bloom/hash.ts'
import { type Random, seededRandom } from './random.ts'

export interface Shape {
  readonly bits: number
  readonly hashes: number
}

/** In the second one, m is no power of two; in the third, bits fill no whole number of words or bytes. */
export const shapes: readonly Shape[] = [
  { bits: 1 << 13, hashes: 6 },
  { bits: 10_000, hashes: 3 },
  { bits: 37, hashes: 2 }
]

/** The hash of a pair is computed from its number. */
export function positionsOf(values: readonly number[], { bits, hashes }: Shape): Int32Array {
  const all = new Int32Array(values.length * hashes)
  const one = new Int32Array(hashes)
  values.forEach((value, i) => {
    rowNumbers(Math.imul(value, 0x9e3779b1), Math.imul(value + 1, 0x85ebca6b), bits, hashes, one)
    all.set(one, i * hashes)
  })
  return all
}

export function filterOf(values: readonly number[], shape: Shape): Uint8Array {
  const filter = new Uint8Array(Math.ceil(shape.bits / 8))
  for (const position of positionsOf(values, shape))
    filter[position >> 3] = (filter[position >> 3] ?? 0) | (1 << (position & 7))
  return filter
}

export function candidatesOf(index: FilterIndex, positions: Int32Array): number[] {
  const into = new BitSet(index.capacity)
  // Earlier content must not matter.
  into.words.fill(0xffffffff)
  index.candidates(positions, into)
  const slots: number[] = []
  into.forEach((slot) => {
    slots.push(slot)
  })
  return slots
}

/** Values of a table that shares one of a few topics with others, or that resembles no other. */
export function someValues(random: Random, count: number): number[] {
  const base = random.below(2) === 0 ? random.below(5) * 1000 : random.below(1_000_000)
  return Array.from({ length: count }, () => base + random.below(300))
}

/** Registers the tests. */
export function filterIndexCases(test: Test, create: (bits: number) => FilterIndex): void {
  for (const shape of shapes) {
    const name = `m = ${shape.bits}, k = ${shape.hashes}`

    test(`candidates() finds exactly the filters with all positions, through insertions and removals (${name})`, () => {
      const random = seededRandom()
      const index = create(shape.bits)
      const filters = new Map<number, Uint8Array | undefined>()
      const capacity = Math.floor(shape.bits / shape.hashes)
      for (let step = 0; step < 1500; step++) {
        const slot = random.below(step < 700 ? 1200 : 100)
        if (filters.has(slot)) {
          index.remove(slot)
          filters.delete(slot)
        } else {
          const filter =
            random.below(20) === 0 ? undefined : filterOf(someValues(random, random.below(capacity)), shape)
          index.insert(slot, filter)
          filters.set(slot, filter)
        }
        assert.is(index.size, filters.size)
        if (step % 10 !== 0) continue
        const asked = someValues(random, 1 + random.below(2))
        const positions = positionsOf(asked, shape)
        assert.equal(candidatesOf(index, positions), expected(filters, positions, shape))
      }
      for (const slot of [...filters.keys()]) index.remove(slot)
      assert.equal(candidatesOf(index, positionsOf([1], shape)), [])
      assert.is(index.size, 0)
    })
  }

  const shape: Shape = { bits: 1 << 12, hashes: 4 }

  test('a query for several pairs finds the filters that may hold all of them', () => {
    const index = create(shape.bits)
    index.insert(0, filterOf([1, 2, 3], shape))
    index.insert(1, filterOf([2, 3, 4], shape))
    index.insert(2, filterOf([5], shape))
    assert.equal(candidatesOf(index, positionsOf([2, 3], shape)), [0, 1])
    assert.equal(candidatesOf(index, positionsOf([1, 2], shape)), [0])
    assert.equal(candidatesOf(index, positionsOf([1, 5], shape)), [])
    assert.equal(candidatesOf(index, new Int32Array(0)), [0, 1, 2])
  })

  test('slots without a filter or with a saturated one are candidates for every value', () => {
    const index = create(shape.bits)
    index.insert(7, undefined)
    index.insert(40, new Uint8Array(shape.bits / 8).fill(255))
    index.insert(900, filterOf([1], shape))
    assert.equal(candidatesOf(index, positionsOf([2], shape)), [7, 40])
    assert.is(index.unfiltered, 2)
    index.remove(40)
    index.insert(40, filterOf([3], shape))
    assert.equal(candidatesOf(index, positionsOf([2], shape)), [7])
    index.remove(7)
    assert.is(index.unfiltered, 0)
  })

  test('a reused slot keeps nothing of the removed filter', () => {
    const index = create(shape.bits)
    for (let slot = 0; slot < 40; slot++) index.insert(slot, filterOf([slot], shape))
    for (let slot = 0; slot < 40; slot += 2) index.remove(slot)
    for (let slot = 0; slot < 40; slot += 2) index.insert(slot, filterOf([slot + 1000], shape))
    assert.equal(candidatesOf(index, positionsOf([8], shape)), [])
    assert.equal(candidatesOf(index, positionsOf([1008], shape)), [8])
    assert.equal(candidatesOf(index, positionsOf([9], shape)), [9])
  })

  test('insert() copies the filter', () => {
    const index = create(shape.bits)
    const filter = filterOf([1], shape)
    index.insert(0, filter)
    filter.fill(0)
    assert.equal(candidatesOf(index, positionsOf([1], shape)), [0])
  })

  test('memoryBytes grows with insertions and shrinks with removals', () => {
    const index = create(shape.bits)
    for (let slot = 0; slot < 100; slot++) index.insert(slot, filterOf([slot], shape))
    assert.ok(index.memoryBytes >= (100 * shape.bits) / 8, `${index.memoryBytes}`)
    const full = index.memoryBytes
    for (let slot = 0; slot < 100; slot++) index.remove(slot)
    assert.ok(index.memoryBytes < full / 3, `${index.memoryBytes} of ${full}`)
  })

  test('used slots, free slots, filters of another length and too small sets are refused', () => {
    const index = create(shape.bits)
    index.insert(3, undefined)
    assert.throws(() => index.insert(3, undefined), /slot 3 is in use/)
    assert.throws(() => index.remove(4), /slot 4 is not in use/)
    assert.throws(() => index.insert(-1, undefined), /slot is an integer/)
    assert.throws(() => index.insert(5, new Uint8Array(3)), /expected 512 bytes, got 3/)
    const small = new BitSet(index.capacity)
    index.insert(9999, undefined)
    assert.throws(() => index.candidates(new Int32Array(0), small), /cannot hold/)
  })
}

function expected(filters: Map<number, Uint8Array | undefined>, positions: Int32Array, shape: Shape): number[] {
  const slots: number[] = []
  for (const [slot, filter] of filters) {
    if (filter === undefined || ones(filter) > saturatedFill * shape.bits || hasAll(filter, positions)) slots.push(slot)
  }
  return slots.sort((a, b) => a - b)
}

function ones(filter: Uint8Array): number {
  let count = 0
  for (const byte of filter) for (let rest = byte; rest !== 0; rest &= rest - 1) count++
  return count
}
