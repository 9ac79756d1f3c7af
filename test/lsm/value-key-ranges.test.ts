import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { compareKeys } from '../../src/lsm/format/entry.ts'
import { type KeyRanges, keyRanges, mergeRanges } from '../../src/lsm/value/key-ranges.ts'
import { seededRandom } from '../bloom/random.ts'
import { hasPair, ValueStore } from './value-store.ts'

function covers({ ranges }: KeyRanges, key: string): boolean {
  const bytes = Buffer.from(key)
  return ranges.some((range) => compareKeys(range.smallest, bytes) <= 0 && compareKeys(range.largest, bytes) >= 0)
}

function texts({ ranges }: KeyRanges): string[] {
  return ranges.map(({ smallest, largest }) => `${Buffer.from(smallest)}…${Buffer.from(largest)}`)
}

const key = (n: number): string => String(n).padStart(6, '0')

test('every entry with all of the pairs is within the key ranges', async () => {
  const random = seededRandom()
  for (const options of [{}, { filterMemory: 0 }, { index: 'tree' }, { filterBits: 8 }] as const) {
    const store = await ValueStore.create(options)
    for (let step = 0; step < 1500; step++) {
      const n = random.below(2000)
      if (random.below(5) === 0) store.delete(key(n))
      else store.put(key(n), { color: `c${random.below(30)}`, tags: [random.below(20), random.below(20)] })
      if (random.below(100) === 0) await store.flush()
      if (step % 25 !== 0) continue
      const pairs = [
        ['color', `c${random.below(32)}`],
        ['tags', random.below(22)]
      ] as const
      const asked = pairs.slice(0, 1 + random.below(2))
      const prefix = random.below(3) === 0 ? Buffer.from('0001') : undefined
      const ranges = await keyRanges(store.values, store.view(), asked, { prefix })
      for (const [found] of store.scan((value) => asked.every((pair) => hasPair(value, pair)), { prefix })) {
        assert.ok(covers(ranges, found), `${found} has ${JSON.stringify(asked)}, ranges are ${texts(ranges)}`)
      }
      assert.ok(ranges.pruned >= 0 && ranges.pruned <= ranges.tables)
    }
  }
})

test('key ranges are those of the tables that filters do not rule out, and single keys of memtables', async () => {
  const store = await ValueStore.create()
  for (let n = 0; n < 100; n++) {
    store.put(key(n), { color: n < 50 ? 'red' : 'blue' })
    if (n % 10 === 9) await store.flush()
  }
  store.put(key(500), { color: 'red' })
  store.put(key(501), { color: 'green' })
  store.put(key(700), { color: 'red' })
  const red = await keyRanges(store.values, store.view(), [['color', 'red']])
  assert.equal(texts(red), [
    `${key(0)}…${key(9)}`,
    `${key(10)}…${key(19)}`,
    `${key(20)}…${key(29)}`,
    `${key(30)}…${key(39)}`,
    `${key(40)}…${key(49)}`,
    `${key(500)}…${key(500)}`,
    `${key(700)}…${key(700)}`
  ])
  assert.equal([red.tables, red.pruned], [10, 5])

  const none = await keyRanges(store.values, store.view(), [['color', 'violet']])
  assert.equal([texts(none), none.tables, none.pruned], [[], 10, 10])
  const both = await keyRanges(store.values, store.view(), [
    ['color', 'red'],
    ['color', 'green']
  ])
  assert.equal(texts(both), [])
})

test('with a prefix, only tables that may have such keys yield key ranges', async () => {
  const store = await ValueStore.create()
  for (const prefix of ['!a!', '!b!', '!c!']) {
    for (let n = 0; n < 5; n++) store.put(`${prefix}${n}`, { color: 'red' })
    await store.flush()
    store.put(`${prefix}x`, { color: 'red' })
  }
  const { ranges, tables } = await keyRanges(store.values, store.view(), [['color', 'red']], {
    prefix: Buffer.from('!b!')
  })
  // The x of the previous prefix is in this table.
  assert.equal(
    ranges.map(({ smallest, largest }) => `${Buffer.from(smallest)}…${Buffer.from(largest)}`),
    ['!a!x…!b!4', '!b!x…!c!4']
  )
  assert.is(tables, 2)
})

test('unite() joins overlapping ranges', () => {
  const range = (smallest: string, largest: string) => ({
    smallest: Buffer.from(smallest),
    largest: Buffer.from(largest)
  })
  assert.equal(mergeRanges([range('m', 'p'), range('a', 'c'), range('c', 'd'), range('n', 'o'), range('x', 'x')]), [
    range('a', 'd'),
    range('m', 'p'),
    range('x', 'x')
  ])
})

test.run()
