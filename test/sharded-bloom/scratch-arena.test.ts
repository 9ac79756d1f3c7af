/** Records that are built in reused memory have the right content, whatever is written meanwhile. */
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { IndexArea } from '../../src/sharded-bloom/records/index-keys.ts'
import { ScratchArena } from '../../src/sharded-bloom/records/scratch-arena.ts'
import { IndexHarness } from '../support/index-harness.ts'

test('open arenas share no memory, not even for requests that do not fit', () => {
  const arenas = [new ScratchArena(), new ScratchArena()]
  const taken = arenas.flatMap((arena) => [arena.take(10), arena.take(2 ** 20), arena.copyOf(Uint8Array.of(1, 2, 3))])
  taken.forEach((bytes, i) => {
    bytes.fill(i)
  })
  taken.forEach((bytes, i) => {
    assert.ok(bytes.every((byte) => byte === i))
  })
  for (const arena of arenas) arena.close()
  arenas[0]!.close()
  const [third, fourth] = [new ScratchArena(), new ScratchArena()]
  assert.is.not(third.take(1).buffer, fourth.take(1).buffer, 'an arena that was closed twice is one arena')
  assert.is.not(arenas[0]!.take(1).buffer, third.take(1).buffer, 'a closed arena has no memory')
})

/** The records of an index that checkpoints and seals, more of each kind than a batch holds. */
async function recordsOf(seed: number): Promise<ReadonlyMap<string, Uint8Array>> {
  const harness = new IndexHarness({ segmentDocuments: 4096, shards: 2048, seed: { lo: seed, hi: 2 } })
  harness.usesBytes = true
  await harness.open()
  const documents = Array.from({ length: 4300 + seed * 100 }, (_, i) => ({
    _id: i,
    n: (i * 7919 * seed) % 1000,
    share: i / 7,
    tags: Array.from({ length: 90 + (i % 9) }, (_, j) => `${i} ${j * seed}`),
    text: `w${(i * seed) % 5000}`
  }))
  await harness.insert(documents, 400 + 37 * seed)
  await harness.close()
  assert.equal(harness.damage, [])
  assert.ok(harness.records.keysOf(IndexArea.upperLevel).length > 32)
  assert.ok(harness.records.keysOf(IndexArea.hashedRows).length > 32)
  return harness.records.records
}

/** The records of an index that seals a segment of the usual size, whose columns take more than one step to write. */
async function recordsOfColumns(seed: number): Promise<ReadonlyMap<string, Uint8Array>> {
  const harness = new IndexHarness({ segmentDocuments: 65_536, seed: { lo: seed, hi: 3 } })
  await harness.open()
  await harness.insert(Array.from({ length: 65_600 }, (_, i) => ({ _id: i, n: (i * 7919 * seed) % 65_521 })))
  await harness.close()
  assert.equal(harness.damage, [])
  assert.ok(harness.records.keysOf(IndexArea.columnKeys).length > 0)
  return harness.records.records
}

test('several indexes at once write the same records as each alone, though closed arenas are overwritten', async () => {
  const makers = [1, 3, 4]
    .map((seed) => () => recordsOf(seed))
    .concat([5, 6].map((seed) => () => recordsOfColumns(seed)))
  const expected: ReadonlyMap<string, Uint8Array>[] = []
  for (const make of makers) expected.push(await make())
  const { take, close } = ScratchArena.prototype
  const { now } = performance
  const taken = new WeakMap<ScratchArena, Uint8Array[]>()
  let time = now.call(performance)
  ScratchArena.prototype.take = function (bytes) {
    const memory = take.call(this, bytes)
    taken.set(this, [...(taken.get(this) ?? []), memory])
    return memory
  }
  ScratchArena.prototype.close = function () {
    for (const memory of taken.get(this) ?? []) memory.fill(0xa5)
    close.call(this)
  }
  // Time passes with every look at the clock, so that every step that may yield does.
  performance.now = () => {
    time += 3
    return time
  }
  try {
    const records = await Promise.all(makers.map((make) => make()))
    records.forEach((written, i) => {
      assert.equal([...written.keys()].sort(), [...expected[i]!.keys()].sort())
      for (const [key, value] of written) {
        assert.ok(Buffer.compare(value, expected[i]!.get(key)!) === 0, `record ${key} of index ${i}`)
      }
    })
  } finally {
    Object.assign(ScratchArena.prototype, { take, close })
    performance.now = now
  }
})

test.run()
