import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { Arena, ArenaPool, chunkBytes } from '../../src/lsm/memtable/arena.ts'

test('a reservation never spans two chunks', () => {
  const arena = new Arena()
  arena.reserve(100)
  arena.commit(chunkBytes - 10)
  const next = arena.reserve(11)
  assert.is(next.chunk, 1)
  assert.is(next.offset, 0)
  assert.is(arena.usedBytes, chunkBytes - 10)
})

test('a reservation larger than a chunk gets a chunk of its own', () => {
  const arena = new Arena()
  arena.reserve(10)
  arena.commit(10)
  const { chunk, bytes, offset } = arena.reserve(3 * chunkBytes)
  assert.is(chunk, 1)
  assert.is(offset, 0)
  assert.is(bytes.length, 3 * chunkBytes)
  arena.commit(3 * chunkBytes)
  assert.is(arena.usedBytes, 10 + 3 * chunkBytes)
  assert.is(arena.memoryBytes, 4 * chunkBytes)
})

test('space that was reserved but not committed is reserved again', () => {
  const arena = new Arena()
  arena.reserve(100)
  assert.is(arena.reserve(50).offset, 0)
  arena.commit(50)
  assert.is(arena.reserve(50).offset, 50)
})

test('a snapshot shares the chunks; copyOf() a snapshot has copies with the same numbers', () => {
  const arena = new Arena()
  arena.reserve(40).bytes.write('first')
  arena.commit(5)
  arena.reserve(chunkBytes).bytes.write('second')
  arena.commit(6)
  const snapshot = arena.snapshot()
  assert.equal(
    snapshot.map(({ buffer }) => buffer),
    [0, 1].map((chunk) => arena.chunk(chunk).buffer)
  )
  assert.is(snapshot[1]?.usedBytes, 6)

  const pool = new ArenaPool(2 * chunkBytes, (bytes) => Buffer.alloc(bytes))
  const copy = Arena.copyOf(snapshot, pool)
  assert.is(copy.chunkCount, 2)
  assert.is(copy.chunk(0).toString('utf8', 0, 5), 'first')
  assert.is(copy.chunk(1).toString('utf8', 0, 6), 'second')
  arena.chunk(0).write('other')
  assert.is(copy.chunk(0).toString('utf8', 0, 5), 'first')
  copy.release()
  assert.is(pool.idleBytes, 2 * chunkBytes)
})

test('released chunks return to the pool, which keeps and reuses as many as it may', () => {
  const pool = new ArenaPool(2 * chunkBytes)
  const arena = new Arena(pool)
  for (let i = 0; i < 3; i++) {
    arena.reserve(chunkBytes)
    arena.commit(chunkBytes)
  }
  const buffers = [0, 1, 2].map((chunk) => arena.chunk(chunk).buffer)
  arena.release()
  arena.release()
  assert.is(pool.idleBytes, 2 * chunkBytes)
  assert.is(arena.memoryBytes, 0)
  const next = new Arena(pool)
  assert.ok(buffers.includes(next.reserve(1).bytes.buffer))
  assert.is(pool.idleBytes, chunkBytes)
})

test('the pool does not keep oversized chunks', () => {
  const pool = new ArenaPool(16 * chunkBytes)
  const arena = new Arena(pool)
  arena.reserve(2 * chunkBytes)
  arena.release()
  assert.is(pool.idleBytes, 0)
})

test('chunks of a slab do not overlap, and an unused slab is freed if enough chunks are idle', () => {
  const slabs: Buffer[] = []
  const pool = new ArenaPool(16 * chunkBytes, (bytes) => {
    slabs.push(Buffer.alloc(bytes))
    return slabs.at(-1)!
  })
  const filled = (count: number): Arena => {
    const arena = new Arena(pool)
    for (let i = 0; i < count; i++) {
      const { chunk, bytes, offset } = arena.reserve(chunkBytes)
      assert.is(bytes.length, chunkBytes)
      bytes.fill(chunk + 1, offset)
      arena.commit(chunkBytes)
    }
    return arena
  }
  const first = filled(20)
  const second = filled(20)
  assert.is(slabs.length, 2)
  for (const arena of [first, second]) {
    for (let i = 0; i < 20; i++) assert.ok(arena.chunk(i).every((byte) => byte === i + 1))
  }
  second.release()
  // Some chunks of the first slab are in use; the second slab is completely idle.
  assert.is(pool.idleBytes, 13 * chunkBytes)
  const third = filled(13)
  assert.is(slabs.length, 2)
  third.release()
  first.release()
  assert.is(pool.idleBytes, 0)
})

test('a freed slab that still exists is reused before a new one is allocated', () => {
  const slabs: Buffer[] = []
  const pool = new ArenaPool(0, (bytes) => {
    slabs.push(Buffer.alloc(bytes))
    return slabs.at(-1)!
  })
  for (let i = 0; i < 3; i++) {
    const arena = new Arena(pool)
    arena.reserve(1)
    arena.commit(1)
    assert.is(arena.chunk(0).buffer, slabs[0]!.buffer)
    arena.release()
    assert.is(pool.idleBytes, 0)
  }
  const [first, second] = [new Arena(pool), new Arena(pool)]
  for (const arena of [first, second]) arena.reserve(1)
  assert.is(first.chunk(0).buffer, slabs[0]!.buffer)
  assert.is(second.chunk(0).buffer, slabs[1]!.buffer)
})

test('a snapshot contains the offsets of its chunks in the slab', () => {
  const pool = new ArenaPool(16 * chunkBytes)
  const arena = new Arena(pool)
  for (const text of ['first', 'second']) {
    const { bytes, offset } = arena.reserve(chunkBytes)
    bytes.write(text, offset)
    arena.commit(offset + chunkBytes)
  }
  const copy = Arena.copyOf(arena.snapshot(), new ArenaPool(0, (bytes) => Buffer.alloc(bytes)))
  assert.is(copy.chunk(0).toString('utf8', 0, 5), 'first')
  assert.is(copy.chunk(1).toString('utf8', 0, 6), 'second')
})

test.run()
