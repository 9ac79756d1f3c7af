/** Updates let the event loop turn between documents, whatever a pipeline does with each. */
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { open } from '../../src/index.ts'

test('a turn is due between two documents that take long', async () => {
  await using db = await open('unused', { store: 'memory' })
  await db.insertMany(Array.from({ length: 200 }, (_, i) => ({ _id: i, n: i })))
  const { now } = performance
  let passed = 0
  let turns = 0
  let isOver = false
  const turn = (): void => {
    turns++
    if (!isOver) setImmediate(turn)
  }
  /** In which turn each document was changed. */
  const changedIn: number[] = []
  const body = (n: number): number => {
    changedIn.push(turns)
    // As if it had taken so long.
    passed += 3
    return n + 1
  }
  performance.now = () => now.call(performance) + passed
  try {
    setImmediate(turn)
    await db.updateMany({}, [{ $set: { n: { $function: { body, args: ['$n'], lang: 'js' } } } }])
  } finally {
    isOver = true
    performance.now = now
  }
  assert.is(changedIn.length, 200)
  assert.ok(new Set(changedIn).size >= 190, `in ${new Set(changedIn).size} turns`)
})

test.run()
