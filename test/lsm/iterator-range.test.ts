import fc from 'fast-check'
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { compareKeys, EntryKind } from '../../src/lsm/format/entry.ts'
import { ArenaPool } from '../../src/lsm/memtable/arena.ts'
import { seedOfRun } from '../support/values.ts'
import { keys, operations } from './cursor-cases.ts'
import { levelWith, MemtableLevel } from './iterator-level.ts'

const seed = seedOfRun()

const buffers = { keyEncoding: 'buffer', valueEncoding: 'buffer' } as const

const ranges = fc.record(
  { gt: keys, gte: keys, lt: keys, lte: keys, reverse: fc.boolean(), limit: fc.integer({ min: -1, max: 12 }) },
  { requiredKeys: [] }
)

interface Range {
  readonly gt?: Buffer
  readonly gte?: Buffer
  readonly lt?: Buffer
  readonly lte?: Buffer
  readonly reverse?: boolean
  readonly limit?: number
}

type Pair = readonly [key: Buffer, value: Buffer]

function inRange(pairs: readonly Pair[], { gt, gte, lt, lte, reverse }: Range): Pair[] {
  const isWithin = ([key]: Pair): boolean => {
    if (gte !== undefined ? compareKeys(key, gte) < 0 : gt !== undefined && compareKeys(key, gt) <= 0) return false
    return lte !== undefined ? compareKeys(key, lte) <= 0 : lt === undefined || compareKeys(key, lt) < 0
  }
  const found = pairs.filter(isWithin)
  return reverse ? found.reverse() : found
}

async function filledLevel(
  added: readonly { key: Buffer; kind: EntryKind; value: Buffer }[]
): Promise<{ level: MemtableLevel; pairs: Pair[] }> {
  const level = new MemtableLevel()
  await level.open()
  const model = new Map<string, Pair>()
  for (const operation of added) {
    level.filled.add(operation)
    if (operation.kind === EntryKind.put) model.set(operation.key.toString('latin1'), [operation.key, operation.value])
    else model.delete(operation.key.toString('latin1'))
  }
  return { level, pairs: [...model.values()].sort(([a], [b]) => compareKeys(a, b)) }
}

test('all() returns exactly the range, in either direction, up to the limit', async () => {
  await fc.assert(
    fc.asyncProperty(operations, ranges, async (added, range) => {
      const { level, pairs } = await filledLevel(added)
      const limit = range.limit === undefined || range.limit < 0 ? pairs.length : range.limit
      const expected = inRange(pairs, range).slice(0, limit)
      assert.equal(await level.iterator({ ...range, ...buffers }).all(), expected)
      assert.equal(
        await level.keys({ ...range, ...buffers }).all(),
        expected.map(([key]) => key)
      )
      assert.equal(
        await level.values({ ...range, ...buffers }).all(),
        expected.map(([, value]) => value)
      )
      assert.is(level.openViews, 0)
    }),
    { seed, numRuns: 500 }
  )
})

test('next(), nextv() and seek() in any order stay within the range', async () => {
  const reads = fc.array(
    fc.oneof(
      fc.constant({ kind: 'next' as const }),
      fc.record({ kind: fc.constant('nextv' as const), size: fc.integer({ min: 1, max: 6 }) }),
      fc.record({ kind: fc.constant('seek' as const), target: keys })
    ),
    { maxLength: 15 }
  )
  await fc.assert(
    fc.asyncProperty(operations, ranges, reads, async (added, { limit: _, ...range }, calls) => {
      const { level, pairs } = await filledLevel(added)
      const iterator = level.iterator({ ...range, ...buffers })
      let rest = inRange(pairs, range)
      for (const call of calls) {
        if (call.kind === 'next') {
          const expected = rest.shift()
          assert.equal(await iterator.next(), expected)
        } else if (call.kind === 'nextv') {
          assert.equal(await iterator.nextv(call.size), rest.splice(0, call.size))
        } else {
          iterator.seek(call.target, { keyEncoding: 'buffer' })
          const isWithin = inRange([[call.target, call.target]], range).length > 0
          const bound = range.reverse === true ? { lte: call.target } : { gte: call.target }
          rest = isWithin ? inRange(inRange(pairs, { ...range, reverse: false }), { ...bound, ...range, ...bound }) : []
          rest = isWithin ? rest.filter((pair) => inRange([pair], { ...range, reverse: false }).length > 0) : []
        }
      }
      await iterator.close()
      assert.is(level.openViews, 0)
    }),
    { seed, numRuns: 500 }
  )
})

test('gte and lte take precedence over gt and lt', async () => {
  const level = await levelWith(['a', 'b', 'c', 'd'].map((key) => [key, '']))
  assert.equal(await level.keys({ gt: 'c', gte: 'b', lt: 'b', lte: 'c' }).all(), ['b', 'c'])
})

test('keys and values are undefined where the options exclude them', async () => {
  const level = await levelWith([['a', '1']])
  const all = (options: object) => level.iterator(options).all() as Promise<unknown>
  assert.equal(await all({ keys: false }), [[undefined, '1']])
  assert.equal(await all({ values: false }), [['a', undefined]])
  assert.equal(await all({ keys: false, values: false }), [[undefined, undefined]])
})

test('an iterator sees the state at its creation', async () => {
  const level = await levelWith([
    ['a', '1'],
    ['b', '2']
  ])
  const iterator = level.iterator()
  level.filled.put('a', 'new')
  level.filled.put('c', 'new')
  level.filled.delete('b')
  assert.equal(await iterator.all(), [
    ['a', '1'],
    ['b', '2']
  ])
})

test('changing the buffers of bounds and targets later does not affect the iterator', async () => {
  const level = await levelWith(['a', 'b', 'c', 'd'].map((key) => [key, '']))
  const gte = Buffer.from('b')
  const iterator = level.keys({ gte, ...buffers })
  gte.fill('z')
  const target = Buffer.from('c')
  iterator.seek(target)
  target.fill('z')
  assert.equal((await iterator.all()).map(String), ['c', 'd'])
})

/** Values read as buffers have the type of the database's default, string. */
function textOf(bytes: unknown): string {
  return (bytes as Buffer).toString('utf8')
}

test('keys and values are decoded as abstract-level decodes them', async () => {
  const values = ['', 'ascii', 'é中😀\0', '{"a":["é"]}', '\ufeffmark'].map((text) => Buffer.from(text))
  values.push(Buffer.from([0x61, 0xff, 0xc3, 0x28, 0xe4, 0xb8]))
  const level = new MemtableLevel()
  await level.open()
  for (const value of values) level.filled.add({ key: value, value, kind: EntryKind.put })
  const raw = await level.iterator(buffers).all()
  const text = raw.map(([key, value]) => [textOf(key), textOf(value)])
  assert.equal(await level.iterator().all(), text)
  assert.equal(
    await level.keys().all(),
    text.map(([key]) => key)
  )
  assert.equal(
    await level.values().all(),
    text.map(([, value]) => value)
  )
  assert.equal(
    await level.iterator({ keyEncoding: 'buffer' }).all(),
    raw.map(([key], i) => [key, text[i]?.[1]])
  )
  const json = { gte: '{', lt: '|', valueEncoding: 'json' } as const
  assert.equal(await level.iterator(json).all(), [['{"a":["é"]}', { a: ['é'] }]])
  const hex = await level.values<string, string>({ valueEncoding: 'hex' }).all()
  assert.equal(
    hex,
    raw.map(([, value]) => Buffer.from(value).toString('hex'))
  )
  const view = await level.values<string, Uint8Array>({ valueEncoding: 'view' }).all()
  assert.equal(
    view.map((bytes) => Buffer.from(bytes).toString('hex')),
    hex
  )
})

test('returned entries do not change when the arena is reused', async () => {
  const pool = new ArenaPool(2 ** 24)
  const level = new MemtableLevel(pool)
  await level.open()
  for (let i = 0; i < 1000; i++) level.filled.put(`key ${i}`, `value ${'x'.repeat(i % 100)} ${i}`)
  const entries = await level.iterator(buffers).all()
  const shown = entries.map(String)
  for (let chunk = 0; chunk < level.filled.memtable.arena.chunkCount; chunk++) {
    level.filled.memtable.arena.chunk(chunk).fill('!')
  }
  assert.equal(entries.map(String), shown)
})

test.run()
