/** Segments that were not written to for longest are sealed first to free row memory, and no caller waits for ever. */
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { RowMemory } from '../../src/bloom/kernels/index.ts'
import { type EarlySealer, EarlySeals } from '../../src/sharded-bloom/segment/early-seals.ts'

/** Holds frames until it is sealed. */
class Holder implements EarlySealer {
  readonly #memory: RowMemory
  #frames: Uint32Array
  sealed = 0

  constructor(memory: RowMemory, frames: number) {
    this.#memory = memory
    this.#frames = memory.allocateZeroed(frames)
    EarlySeals.of(memory).note(this)
  }

  get canSealEarly(): boolean {
    return this.#frames.length > 0
  }

  async sealEarly(): Promise<void> {
    this.sealed++
    const frames = this.#frames
    this.#frames = new Uint32Array(0)
    await null
    for (const address of frames) this.#memory.free(address)
  }
}

test('the segments not written to for longest are sealed, as many as necessary', async () => {
  const memory = new RowMemory(16 << 20)
  const seals = EarlySeals.of(memory)
  assert.is(EarlySeals.of(memory), seals)
  assert.is(seals.makeRoom(), undefined, 'there is room')
  const each = Math.floor(memory.frames / 7)
  const holders = Array.from({ length: 7 }, () => new Holder(memory, each))
  const sealed = (): number[] => holders.flatMap((holder, i) => Array.from({ length: holder.sealed }, () => i))
  seals.note(holders[0]!)
  await seals.makeRoom()
  assert.equal(sealed(), [1])
  memory.allocateZeroed(each)
  await seals.makeRoom(holders[2])
  assert.equal(sealed(), [1, 3], 'not the one that asks')
  seals.delete(holders[4]!)
  memory.allocateZeroed(each)
  await seals.makeRoom()
  assert.equal(sealed(), [1, 2, 3])
  memory.allocateZeroed(each)
  await seals.makeRoom()
  assert.equal(sealed(), [1, 2, 3, 5])
})

test('makeRoom() does not wait when nothing can be sealed', async () => {
  const memory = new RowMemory(4 << 20)
  memory.allocateZeroed(memory.freeFrames)
  await EarlySeals.of(memory).makeRoom()
})

test('makeRoom() waits for a seal that never ends for a second at most', async () => {
  const memory = new RowMemory(16 << 20)
  const seals = EarlySeals.of(memory)
  const frames = memory.allocateZeroed(memory.freeFrames)
  let isAsked = false
  const stuck: EarlySealer = {
    get canSealEarly() {
      return !isAsked
    },
    sealEarly: () => {
      isAsked = true
      assert.is(seals.makeRoom(stuck), undefined, 'it does not wait for itself')
      return new Promise(() => {})
    }
  }
  seals.note(stuck)
  const started = performance.now()
  await seals.makeRoom()
  assert.ok(performance.now() - started >= 990)
  seals.delete(stuck)
  for (const address of frames) memory.free(address)
  assert.is(seals.makeRoom(), undefined)
})

test('makeRoom() resolves when a seal fails', async () => {
  const memory = new RowMemory(16 << 20)
  memory.allocateZeroed(memory.freeFrames)
  let asked = 0
  EarlySeals.of(memory).note({
    get canSealEarly() {
      return asked === 0
    },
    sealEarly: () => {
      asked++
      return Promise.reject(new Error('no room on the disk'))
    }
  })
  await EarlySeals.of(memory).makeRoom()
  assert.is(asked, 1)
})

test.run()
