import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { isTurnLong, nextTurn, runInSlices, runSteps, yieldIfDue } from '../../src/model/time-slice.ts'

test('one waiting computation resumes per turn of the event loop, in order', async () => {
  let turn = 0
  let isOver = false
  const count = (): void => {
    turn++
    if (!isOver) setImmediate(count)
  }
  setImmediate(count)
  const order: number[] = []
  const turns = await Promise.all(
    [0, 1, 2].map(async (n) => {
      await nextTurn()
      order.push(n)
      return turn
    })
  )
  isOver = true
  assert.equal(order, [0, 1, 2])
  assert.is(new Set(turns).size, 3)
})

/** Runs `work` with a clock that moves only when `work` sets it. */
async function withClock(work: (clock: { now: number }) => Promise<void>): Promise<void> {
  const { now } = performance
  const clock = { now: 1000 }
  performance.now = () => clock.now
  try {
    await nextTurn()
    await work(clock)
  } finally {
    performance.now = now
  }
}

test('breathe() returns at once while the slice has time left, and otherwise starts a slice in another turn', () =>
  withClock(async (clock) => {
    assert.is(yieldIfDue(1000), 1000)
    clock.now = 1001.5
    const later = yieldIfDue(1000)
    assert.instance(later, Promise)
    assert.is(await later, 1001.5)
  }))

test('all slices of a turn share its time', () =>
  withClock(async (clock) => {
    assert.not.ok(isTurnLong())
    clock.now = 1003
    assert.ok(isTurnLong())
    const later = yieldIfDue(1003)
    assert.instance(later, Promise)
    await later
    assert.not.ok(isTurnLong())
    assert.is(yieldIfDue(1003), 1003)
  }))

test('each computation that resumes gets a full turn, however long the previous one took', () =>
  withClock(async (clock) => {
    const left: boolean[] = []
    await Promise.all(
      [0, 1, 2].map(async () => {
        await nextTurn()
        left.push(isTurnLong())
        clock.now += 10
      })
    )
    assert.equal(left, [false, false, false])
  }))

test('a slice of work is as long as that of a read while one waits, and short again afterwards', () =>
  withClock(async (clock) => {
    const work = nextTurn()
    const read = nextTurn(2)
    await work
    const started = clock.now
    clock.now += 1.9
    assert.is(yieldIfDue(started), started)
    clock.now += 0.2
    const later = yieldIfDue(started)
    assert.instance(later, Promise)
    await read
    const alone = await later
    clock.now += 1.1
    assert.instance(yieldIfDue(alone as number), Promise)
  }))

test('runSteps() and runInSlices() return the same result', async () => {
  function* steps(): Generator<void, number> {
    let sum = 0
    for (let i = 0; i < 5; i++) {
      sum += i
      yield
    }
    return sum
  }
  assert.is(runSteps(steps()), 10)
  assert.is(await runInSlices(steps()), 10)
})

test.run()
