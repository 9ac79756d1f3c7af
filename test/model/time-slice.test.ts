import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { breathe, nextTurn } from '../../src/model/time-slice.ts'

test('of computations that wait one goes on in each turn of the event loop, in order', async () => {
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

test('a slice goes on at once while it has time, and begins anew in another turn when it has none', async () => {
  const start = performance.now()
  assert.is(breathe(start, 60_000), start)
  const later = breathe(start - 1000, 500)
  assert.instance(later, Promise)
  assert.ok((await later) >= start)
})

test.run()
