import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { Arena, ArenaPool, chunkBytes } from '../../src/lsm/memtable/arena.ts'

test('a group never spans two chunks', () => {
  const arena = new Arena()
  arena.reserve(100)
  arena.commit(0, chunkBytes - 10)
  const next = arena.reserve(11)
  assert.is(next.chunk, 1)
  assert.is(next.offset, 0)
  assert.is(arena.usedBytes, chunkBytes - 10)
})

test('a group that is larger than a chunk gets one of its own', () => {
  const arena = new Arena()
  arena.reserve(10)
  arena.commit(0, 10)
  const { chunk, bytes, offset } = arena.reserve(3 * chunkBytes)
  assert.is(chunk, 1)
  assert.is(offset, 0)
  assert.is(bytes.length, 3 * chunkBytes)
  arena.commit(0, 3 * chunkBytes)
  assert.is(arena.usedBytes, 10 + 3 * chunkBytes)
  assert.is(arena.memoryBytes, 4 * chunkBytes)
})

test('what is reserved and not committed is handed out again', () => {
  const arena = new Arena()
  arena.reserve(100)
  assert.is(arena.reserve(50).offset, 0)
  arena.commit(24, 50)
  assert.is(arena.reserve(50).offset, 50)
})

test('a snapshot has the payloads committed so far, and shares their memory', () => {
  const arena = new Arena()
  arena.reserve(40).bytes.write('first', 24)
  arena.commit(24, 29)
  arena.reserve(40).bytes.write('second', 53)
  arena.commit(53, 59)
  arena.reserve(chunkBytes).bytes.write('third', 24)
  const before = arena.snapshot()
  arena.commit(24, 29)
  assert.equal(
    [...before.chunks].map(({ payloads }) => [...payloads]),
    [[24, 29, 53, 59]]
  )

  const copy = Arena.of(arena.snapshot())
  assert.is(copy.chunkCount, 2)
  const payloads = arena.snapshot().chunks.flatMap(({ payloads }, chunk) => {
    const texts: string[] = []
    for (let i = 0; i < payloads.length; i += 2)
      texts.push(copy.chunk(chunk).toString('utf8', payloads[i], payloads[i + 1]))
    return texts
  })
  assert.equal(payloads, ['first', 'second', 'third'])
  assert.is(copy.chunk(0).buffer, arena.chunk(0).buffer)
})

test('chunks go back to the pool and are used again, as many as it may keep', () => {
  const pool = new ArenaPool(2 * chunkBytes)
  const arena = new Arena(pool)
  for (let i = 0; i < 3; i++) {
    arena.reserve(chunkBytes)
    arena.commit(0, chunkBytes)
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

test('large chunks are not kept', () => {
  const pool = new ArenaPool(16 * chunkBytes)
  const arena = new Arena(pool)
  arena.reserve(2 * chunkBytes)
  arena.release()
  assert.is(pool.idleBytes, 0)
})

test.run()
