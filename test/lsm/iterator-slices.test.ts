import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { EntryKind } from '../../src/lsm/format/entry.ts'
import { nextTurn } from '../../src/model/time-slice.ts'
import { cpuMilliseconds } from '../support/cpu-time.ts'
import { ArrayCursor, type TestEntry } from './cursor-cases.ts'
import { levelWith, MemtableLevel } from './iterator-level.ts'

const pairs = Array.from({ length: 100_000 }, (_, i) => [`key ${String(i).padStart(6, '0')}`, `value ${i}`] as const)
const kib = pairs.slice(0, 200).map(([key]) => [key, 'x'.repeat(1024)] as const)

/** Mean processor time between two turns of the event loop while `work` runs, in milliseconds. */
async function meanTurn(work: () => Promise<unknown>): Promise<number> {
  let turns = 1
  let isDone = false
  const turn = (): void => {
    turns++
    if (!isDone) setImmediate(turn)
  }
  setImmediate(turn)
  const startedAt = cpuMilliseconds()
  await work()
  isDone = true
  return (cpuMilliseconds() - startedAt) / turns
}

const reads: Record<string, (level: MemtableLevel) => Promise<number>> = {
  // As buffers, because abstract-level decodes the result of all() in one go.
  'all()': async (level) => (await level.iterator({ keyEncoding: 'buffer', valueEncoding: 'buffer' }).all()).length,
  'for await': async (level) => {
    let count = 0
    for await (const _ of level.iterator()) count++
    return count
  },
  'nextv() of everything': async (level) => {
    let count = 0
    const iterator = level.iterator({ highWaterMarkBytes: Number.POSITIVE_INFINITY } as object)
    for (let got = await iterator.nextv(1e9); got.length > 0; got = await iterator.nextv(1e9)) count += got.length
    await iterator.close()
    return count
  }
}

for (const [name, read] of Object.entries(reads)) {
  test(`${name} of 100,000 entries does not block the event loop`, async () => {
    const level = await levelWith(pairs)
    let count = 0
    const turn = await meanTurn(async () => {
      for (let i = 0; i < 3; i++) count += await read(level)
    })
    assert.is(count, 3 * pairs.length)
    // Slices take 2 ms, plus the work of other threads such as compiling; in one go a read takes 150 ms and more.
    assert.ok(turn < 50, `${turn} ms to a turn`)
  })
}

const firstReads: Record<string, (level: MemtableLevel) => Promise<unknown>> = {
  'next()': (level) => level.iterator().next(),
  'nextv()': (level) => level.iterator().nextv(1),
  'all()': (level) => level.iterator({ limit: 1 }).all()
}
for (const [name, read] of Object.entries(firstReads)) {
  test(`a first ${name} does not block the event loop while the memtable is sorted`, async () => {
    const level = await levelWith(pairs)
    let hasTurned = false
    setImmediate(() => {
      hasTurned = true
    })
    assert.ok(await read(level))
    assert.ok(hasTurned)
    assert.not.ok(level.filled.memtable.sortSlice())
  })
}

test('nextv() stops after the high-water mark, 16 KiB by default, with at least one entry', async () => {
  const level = await levelWith(kib)
  /** Length of the longest of some first results: a result also ends with its time slice, however short it is. */
  const longest = async (options: object): Promise<number> => {
    let longest = 0
    for (let i = 0; i < 20; i++) {
      await nextTurn()
      const iterator = level.iterator(options)
      longest = Math.max(longest, (await iterator.nextv(1000)).length)
      await iterator.close()
    }
    return longest
  }
  assert.is(await longest({}), 16)
  assert.is(await longest({ highWaterMarkBytes: 0 }), 1)
  assert.is(await longest({ highWaterMarkBytes: 3000 }), 3)
  assert.is(await longest({ highWaterMarkBytes: 1 << 30 }), 200)
})

test('an iterator reads no further than requested', async () => {
  const level = new MemtableLevel()
  await level.open()
  for (let i = 0; i < 10; i++) level.filled.put(String(i), '')
  const moves: string[] = []
  class Watched extends ArrayCursor {
    override seekToFirst(): void {
      moves.push('first')
      super.seekToFirst()
    }
    override next(): void {
      moves.push('next')
      super.next()
    }
  }
  level.cursorOf = () => new Watched(level.filled.sorted)
  const iterator = level.iterator()
  assert.equal(moves, [])
  await iterator.next()
  assert.equal(moves, ['first'])
  await iterator.nextv(2)
  assert.equal(moves, ['first', 'next', 'next'])
  await iterator.close()
})

test('scans cache what they seek to unless told otherwise, and no scan reuses memory', async () => {
  const level = await levelWith([['a', '']])
  for (const options of [{}, { reverse: true }, { fillCache: false }, { fillCache: true }]) {
    await level.iterator(options).all()
  }
  assert.equal(level.cursorOptions, [
    { fillCache: 'sought', reusesMemory: false },
    { fillCache: 'sought', reusesMemory: false },
    { fillCache: 'none', reusesMemory: false },
    { fillCache: 'all', reusesMemory: false }
  ])
})

test('an abort signal ends all() between slices', async () => {
  const level = await levelWith(pairs)
  const controller = new AbortController()
  const all = level.iterator({ signal: controller.signal }).all()
  setImmediate(() => controller.abort(new Error('enough')))
  let error: unknown
  await all.catch((caught: unknown) => {
    error = caught
  })
  assert.is((error as { code?: string } | undefined)?.code, 'LEVEL_ABORTED')
  assert.is(level.openViews, 0)
})

test('an error of the cursor rejects the read, and close() still releases the view', async () => {
  const level = await levelWith([['a', '']])
  class Failing extends ArrayCursor {
    override next(): void {
      throw new Error('bad block')
    }
  }
  const entry = (key: string): TestEntry => ({
    key: Buffer.from(key),
    sequence: 1,
    kind: EntryKind.put,
    value: Buffer.alloc(0)
  })
  level.cursorOf = () => new Failing([entry('a'), entry('b')])
  const iterator = level.iterator()
  assert.equal(await iterator.next(), ['a', ''])
  let message = ''
  await iterator.next().catch((error: Error) => {
    message = error.message
  })
  assert.is(message, 'bad block')
  await iterator.close()
  assert.is(level.openViews, 0)
})

test.run()
