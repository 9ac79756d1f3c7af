import fc from 'fast-check'
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { OutputBoundaries } from '../../src/lsm/compaction/output-boundaries.ts'
import { isSamePartition, partitionName, partitionPrefixEnd } from '../../src/lsm/compaction/partition.ts'
import { seedOfRun } from '../support/values.ts'
import { partitionsOf } from './compaction-helpers.ts'

const seed = seedOfRun()

const ends: readonly (readonly [key: string, depth: number, group: string])[] = [
  ['!a!k', 1, '!a!'],
  ['!a!', 1, '!a!'],
  ['!a!!b!k', 1, '!a!'],
  ['!a!!b!k', 2, '!a!!b!'],
  ['!a!!b!k', 3, '!a!!b!'],
  ['!a!k!b!', 2, '!a!'],
  ['!!k', 1, '!!'],
  ['!a', 1, ''],
  ['k!a!', 1, ''],
  ['', 1, ''],
  ['!a!k', 0, '']
]

test('a partition is named by the leading groups of a key, at most depth of them', () => {
  for (const [key, depth, group] of ends) {
    assert.is(key.slice(0, partitionPrefixEnd(Buffer.from(key), depth)), group, `${key} at depth ${depth}`)
  }
})

test('keys before and after the groups are partitions of their own', () => {
  const names = ['', ' z', '!a!', '!a!\u0001', '!a!!b!1', '!a!!b!2', '!a!k', '!c!!b!1', 'x'].map((key) =>
    partitionName(Buffer.from(key), 2)
  )
  assert.is(names[0], names[1])
  assert.is(names[2], names[3])
  assert.is(names[4], names[5])
  assert.is(new Set(names).size, 6)
})

test('partitions are contiguous if no key has an unclosed bang', () => {
  const part = fc.constantFrom('', ' ', 'a', '~', '!a!', '!b!', '!ab!')
  const keys = fc.array(
    fc.tuple(part, part, part).map((parts) => parts.join('')),
    { maxLength: 50 }
  )
  fc.assert(
    fc.property(keys, fc.integer({ min: 0, max: 3 }), (unsorted, depth) => {
      const names = unsorted
        .filter((key) => key.split('!').length % 2 === 1)
        .map((key) => Buffer.from(key))
        .sort(Buffer.compare)
        .map((key) => partitionName(key, depth))
      const changes = names.filter((name, i) => i === 0 || name !== names[i - 1])
      assert.is(changes.length, new Set(names).size)
    }),
    { seed, numRuns: 500 }
  )
})

test('two keys are in the same partition exactly if the names of their partitions are equal', () => {
  const key = fc.array(fc.constantFrom('!', 'a', 'b', ' ', '~'), { maxLength: 8 }).map((letters) => letters.join(''))
  fc.assert(
    fc.property(key, key, fc.integer({ min: 0, max: 3 }), (a, b, depth) => {
      const [first, second] = [Buffer.from(a), Buffer.from(b)]
      const isSame = isSamePartition(first, first.length, second, 0, second.length, depth)
      assert.is(isSame, partitionName(first, depth) === partitionName(second, depth))
    }),
    { seed, numRuns: 2000 }
  )
})

test('an output ends exactly where two neighbouring keys are in different partitions', () => {
  const part = fc.constantFrom('', '!', ' ', 'a', '~', '!a!', '!b!', '!ab!')
  const keys = fc.uniqueArray(
    fc.tuple(part, part, part, part).map((parts) => parts.join('')),
    { maxLength: 50 }
  )
  fc.assert(
    fc.property(keys, fc.nat(3), fc.nat(3), (unsorted, partitionDepth, start) => {
      const partitions = partitionsOf(partitionDepth)
      const rules = { partitions, endAfter: [], grandparents: [], maxGrandparentBytes: 0 }
      const borders = new OutputBoundaries(rules, { rawBytes: 0 })
      let last: Buffer | undefined
      for (const key of unsorted.map((key) => Buffer.from(key)).sort(Buffer.compare)) {
        const placed = Buffer.concat([Buffer.alloc(start, '!'), key])
        let shared = 0
        while (last !== undefined && shared < last.length && last[shared] === key[shared]) shared++
        borders.advance(last ?? key, last?.length ?? -1, placed, start, placed.length, shared)
        const isBorder =
          last !== undefined && partitionName(last, partitionDepth) !== partitionName(key, partitionDepth)
        assert.is(borders.isDue, isBorder, `${last} ${key}`)
        borders.begin()
        last = key
      }
    }),
    { seed, numRuns: 500 }
  )
})

test.run()
