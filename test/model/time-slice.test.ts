import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { isTurnLong, nextTurn, runInSlices, runSteps, TimeSlice } from '../../src/model/time-slice.ts'

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

test('a slice is over when its time is used up, and renewed in another turn', () =>
  withClock(async (clock) => {
    const slice = new TimeSlice()
    assert.not.ok(slice.isOver())
    clock.now = 1001.5
    assert.ok(slice.isOver())
    await slice.renew()
    assert.not.ok(slice.isOver())
    clock.now = 1002.4
    assert.not.ok(slice.isOver())
    clock.now = 1002.5
    assert.ok(slice.isOver())
  }))

test('all slices of a turn share its time', () =>
  withClock(async (clock) => {
    assert.not.ok(isTurnLong())
    clock.now = 1003
    assert.ok(isTurnLong())
    const slice = new TimeSlice()
    assert.ok(slice.isOver(), 'others have used the turn up')
    await slice.renew()
    assert.not.ok(isTurnLong())
    assert.not.ok(slice.isOver())
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
    const slice = new TimeSlice()
    clock.now += 1.9
    assert.not.ok(slice.isOver())
    clock.now += 0.2
    assert.ok(slice.isOver())
    const renewed = slice.renew()
    await read
    await renewed
    clock.now += 1.1
    assert.ok(slice.isOver())
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
