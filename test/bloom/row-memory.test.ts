/** Frames and scratch space of the row memory. */
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { FRAME_BYTES, RowMemory, rowMemory } from '../../src/bloom/kernels/index.ts'
import { PetalError } from '../../src/model/errors.ts'

const codeIs = (code: string) => (error: unknown) => error instanceof PetalError && error.codeName === code

test('allocate() returns every frame once, aligned, without overlap and never at address 0', () => {
  const memory = new RowMemory(3 << 20)
  const addresses: number[] = []
  while (memory.freeFrames > 0) addresses.push(memory.allocate())
  assert.is(addresses.length, memory.frames)
  addresses.sort((a, b) => a - b)
  assert.ok((addresses[0] as number) >= memory.scratchEnd)
  addresses.forEach((address, i) => {
    assert.is(address % 64, 0)
    assert.ok(i === 0 || address - (addresses[i - 1] as number) >= FRAME_BYTES)
    assert.ok(address + FRAME_BYTES <= memory.u8.length)
  })
  assert.throws(() => memory.allocate(), codeIs('ExceededMemoryLimit'))
  assert.is(memory.freeFrames, 0, 'a failed allocation takes nothing')
})

test('a freed frame is allocated again', () => {
  const memory = new RowMemory(2 << 20)
  while (memory.freeFrames > 0) memory.allocate()
  const address = memory.scratchEnd
  memory.free(address)
  assert.is(memory.freeFrames, 1)
  assert.is(memory.allocate(), address)
})

test('allocateZeroed() returns frames of zeros, whatever was in them, or none at all', () => {
  const memory = new RowMemory(3 << 20)
  const used = Array.from({ length: 5 }, () => memory.allocate())
  for (const address of used) memory.kernels.fill(address, 0xff, FRAME_BYTES)
  for (const address of used.slice(1)) memory.free(address)
  const { freeFrames } = memory
  assert.throws(() => memory.allocateZeroed(freeFrames + 1), codeIs('ExceededMemoryLimit'))
  assert.is(memory.freeFrames, freeFrames, 'a failed allocation takes nothing')
  const addresses = memory.allocateZeroed(freeFrames)
  assert.is(new Set([...addresses, used[0]]).size, memory.frames)
  for (const address of addresses) assert.is(memory.kernels.popcount(address, FRAME_BYTES), 0)
})

test('free() refuses addresses that are not frames in use', () => {
  const memory = new RowMemory(2 << 20)
  const address = memory.allocate()
  for (const wrong of [0, -1, address + 16, address + FRAME_BYTES, memory.u8.length, Number.NaN]) {
    assert.throws(() => memory.free(wrong), codeIs('InternalError'))
  }
  memory.free(address)
  assert.throws(() => memory.free(address), codeIs('InternalError'))
})

test('scratch space is a stack of 16-aligned pieces', () => {
  const memory = new RowMemory(2 << 20)
  const base = memory.scratch
  const a = memory.push(5)
  const b = memory.push(100)
  assert.is(a, base)
  assert.is(b, base + 16)
  assert.is(memory.scratch, b + 112)
  memory.pop(a)
  assert.is(memory.scratch, base)
  assert.throws(() => memory.push(memory.scratchEnd - base + 1), codeIs('ExceededMemoryLimit'))
  assert.throws(() => memory.pop(b), codeIs('InternalError'))
  memory.pop(memory.push(memory.scratchEnd - base))
})

test('a process has one row memory, and its views are never detached', () => {
  const memory = rowMemory()
  const { u8 } = memory
  assert.is(rowMemory(), memory)
  const frames = Array.from({ length: 5000 }, () => memory.allocate())
  assert.is(memory.u8, u8)
  assert.ok(u8.length >= 512 << 20)
  for (const frame of frames) memory.free(frame)
})

test('V8 does not count the memory, whose full size would make it mark the whole heap', () => {
  const before = process.memoryUsage().external
  const memory = new RowMemory(512 << 20)
  assert.ok(memory.u8.length >= 512 << 20)
  const added = process.memoryUsage().external - before
  assert.ok(added < 8 << 20, `${added} bytes`)
})

test('a memory that cannot be allocated causes a typed error', () => {
  assert.throws(() => new RowMemory(2 ** 40), codeIs('ExceededMemoryLimit'))
})

test.run()
