import { test } from 'uvu'
import * as assert from 'uvu/assert'
import type { ValueOptions } from '../../src/lsm/options.ts'
import type { Filled } from '../../src/model/filled.ts'
import { type Random, seededRandom } from '../bloom/random.ts'
import { cpuMilliseconds } from '../support/cpu-time.ts'
import { assertSame, hasPair, ValueStore, valuesAt } from './value-store.ts'

const optionSets: Readonly<Record<string, Partial<Filled<ValueOptions>>>> = {
  'sliced index': {},
  'linear index, block filters': { index: 'linear', blockFilterBits: 10 },
  'tree, side files, block filters': { index: 'tree', placement: 'side-file', blockFilterBits: 6 },
  'tree, leaves on disk': { index: 'tree', filterMemory: 0 },
  'no memory for filters': { filterMemory: 0 },
  'filters of no use: 8 bits': { filterBits: 8, filterHashes: 2 },
  'm = 10,000, k = 3': { filterBits: 10_000, filterHashes: 3, blockFilterBits: 2 },
  'filters in side files, no memory': { placement: 'side-file', filterMemory: 600 }
}

const colors = ['red', 'green', 'blue', 'ünïcödé', 'with "quotes" and \\', '']

function someKey(random: Random): string {
  return `${random.below(4) === 0 ? '!other!' : ''}key ${random.below(60)}`
}

function someValue(random: Random): unknown {
  if (random.below(15) === 0) return 'no JSON'
  return {
    color: random.below(6) === 0 ? undefined : colors[random.below(colors.length)],
    n: random.below(8) === 0 ? `text ${random.below(9)}` : random.below(100) - 50,
    tags: Array.from({ length: random.below(4) }, () => `tag ${random.below(40)}`)
  }
}

async function act(store: ValueStore, random: Random, snapshots: readonly number[]): Promise<void> {
  const what = random.below(100)
  if (what < 60) store.put(someKey(random), someValue(random))
  else if (what < 85) store.delete(someKey(random))
  else if (what < 89) store.freeze()
  else if (what < 96) await store.flush()
  else {
    const numbers = store.metas.map(({ number }) => number).filter(() => random.below(2) === 0)
    await store.merge(numbers, snapshots[0] ?? store.sequence)
  }
}

for (const [name, options] of Object.entries(optionSets)) {
  test(`every lookup returns what a full scan finds (${name})`, async () => {
    const random = seededRandom()
    const store = await ValueStore.create(options, 1 + random.below(10))
    const snapshots: number[] = []
    for (let step = 0; step < 1200; step++) {
      await act(store, random, snapshots)
      if (random.below(60) === 0) snapshots.push(store.sequence)
      if (random.below(80) === 0) snapshots.shift()
      if (random.below(300) === 0) await store.reopen()
      if (step % 12 !== 0) continue

      const sequence = snapshots[random.below(snapshots.length * 3)] ?? store.sequence
      const query = {
        limit: random.below(2) === 0 ? undefined : random.below(5),
        reverse: random.below(2) === 0,
        prefix: random.below(4) === 0 ? Buffer.from('!other!') : undefined
      }
      const pair =
        random.below(2) === 0
          ? (['color', colors[random.below(colors.length)] as string] as const)
          : (['tags', `tag ${random.below(45)}`] as const)
      assertSame(
        await store.lookup(pair, query, store.view(sequence)),
        store.scan((value) => hasPair(value, pair), query, sequence),
        `${pair} ${JSON.stringify(query)} at ${sequence}`
      )

      const low = random.below(5) === 0 ? undefined : random.below(100) - 50
      const high = random.below(5) === 0 ? 'text 4' : (low ?? 0) + random.below(20)
      assertSame(
        await store.rangeLookup('n', low, high, query, store.view(sequence)),
        store.scan((value) => valuesAt(value, 'n').some((found) => isBetween(found, low, high)), query, sequence),
        `n in [${low}, ${high}] ${JSON.stringify(query)} at ${sequence}`
      )
    }
    assert.ok(store.metas.length > 0)
  })
}

function isBetween(value: unknown, low: number | undefined, high: number | string): boolean {
  if (typeof value === 'number')
    return (low === undefined || value >= low) && (typeof high === 'string' || value <= high)
  return typeof value === 'string' && typeof high === 'string' && value <= high
}

test('a newer version hides an older one that a value filter finds, wherever the newer one is', async () => {
  for (const hide of ['overwrite', 'delete'] as const) {
    for (const depth of ['same memtable', 'newer memtable', 'newer table', 'table merged below'] as const) {
      const store = await ValueStore.create({ blockFilterBits: 10 })
      store.put('a', { color: 'red' })
      store.put('b', { color: 'red' })
      if (depth !== 'same memtable') await store.flush()
      if (hide === 'delete') store.delete('a')
      else store.put('a', { color: 'green' })
      if (depth === 'newer memtable') store.freeze()
      if (depth.includes('table ') || depth === 'newer table') await store.flush()
      // Now the newer version is in a deeper level than the older one.
      if (depth === 'table merged below') await store.merge([2], store.sequence)
      assertSame(await store.lookup(['color', 'red']), [['b', '{"color":"red"}']], `${hide}, ${depth}`)
    }
  }
})

test('an entry that was written twice is found once, in the place of its newest version', async () => {
  const store = await ValueStore.create()
  store.put('a', { color: 'red' })
  await store.flush()
  store.put('b', { color: 'red' })
  await store.flush()
  store.put('a', { color: 'red' })
  assert.equal(
    (await store.lookup(['color', 'red'])).map(([key]) => key),
    ['a', 'b']
  )
  assert.equal(
    (await store.lookup(['color', 'red'], { reverse: true })).map(([key]) => key),
    ['b', 'a']
  )
})

test('a lookup with a limit does not read older tables than necessary', async () => {
  const store = await ValueStore.create({ blockFilterBits: 10 })
  for (let table = 0; table < 20; table++) {
    for (let i = 0; i < 50; i++) store.put(`key ${table} ${i}`, { color: 'red' })
    await store.flush()
  }
  await store.lookup(['color', 'red'])
  let blocks = 0
  const counting = store.watchedView(() => blocks++)
  assert.is((await store.lookup(['color', 'red'], { limit: 3 }, counting)).length, 3)
  const perTable = store.tables.table(store.metas[0] as (typeof store.metas)[number]).blockCount
  assert.ok(blocks <= perTable, `${blocks} blocks read, a table has ${perTable}`)

  blocks = 0
  assert.equal(await store.lookup(['color', 'green'], {}, counting), [])
  assert.is(blocks, 0)
})

test('an aborted lookup rejects with LEVEL_ABORTED', async () => {
  const store = await ValueStore.create({ filterBits: 8 })
  for (let i = 0; i < 2000; i++) store.put(`key ${i}`, { color: 'red', tags: 'x'.repeat(2000) })
  await store.flush()
  for (const when of ['before', 'during'] as const) {
    const controller = new AbortController()
    if (when === 'before') controller.abort(new Error('enough'))
    else setImmediate(() => controller.abort(new Error('enough')))
    try {
      await store.lookup(['color', 'red'], { signal: controller.signal })
      assert.unreachable()
    } catch (error) {
      const { code, name, cause } = error as Error & { code: string }
      assert.equal([code, name, (cause as Error).message], ['LEVEL_ABORTED', 'AbortError', 'enough'])
    }
  }
})

test('a lookup does not block the event loop', async () => {
  const store = await ValueStore.create({ filterBits: 8 })
  for (let i = 0; i < 20_000; i++) store.put(`key ${i}`, { color: 'red', n: i })
  await store.flush()
  for (let i = 0; i < 20_000; i++) store.put(`more ${i}`, { color: 'red', n: i })
  const longestTurn = async (): Promise<number> => {
    let longest = 0
    let last = cpuMilliseconds()
    let isDone = false
    const turn = (): void => {
      const now = cpuMilliseconds()
      longest = Math.max(longest, now - last)
      last = now
      if (!isDone) setImmediate(turn)
    }
    setImmediate(turn)
    assert.is((await store.lookup(['color', 'red'])).length, 40_000)
    isDone = true
    return longest
  }
  // Garbage collection may fall into one of the lookups; a lookup that blocks the loop would do so each time.
  const longest = [await longestTurn(), await longestTurn(), await longestTurn()]
  assert.ok(Math.min(...longest) < 40, `${longest.join(', ')} ms`)
})

test.run()
