/** Updates and merges let the event loop turn between documents, whatever a pipeline does with each. */
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { type Database, type Document, open } from '../../src/index.ts'
import { rejects } from './scratch.ts'

/**
 * Changes 200 documents by a function that appears to take three milliseconds each.
 * @returns in which turn of the event loop each was changed
 */
async function turnsOf(change: (db: Database, set: Document) => Promise<unknown>): Promise<readonly number[]> {
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
  const changedIn: number[] = []
  const body = (n: number): number => {
    changedIn.push(turns)
    passed += 3
    return n + 1
  }
  performance.now = () => now.call(performance) + passed
  try {
    setImmediate(turn)
    await change(db, { $set: { n: { $function: { body, args: ['$n'], lang: 'js' } } } })
  } finally {
    isOver = true
    performance.now = now
  }
  return changedIn
}

const merge = (set: Document): Document[] => [{ $merge: { into: 'default', whenMatched: [set] } }]

test('the event loop turns between two documents of a slow update', async () => {
  const changedIn = await turnsOf((db, set) => db.updateMany({}, [set]))
  assert.is(changedIn.length, 200)
  assert.ok(new Set(changedIn).size >= 190, `in ${new Set(changedIn).size} turns`)
})

test('the event loop turns between slow updates of single documents that share a commit', async () => {
  const changedIn = await turnsOf((db, set) =>
    Promise.all(Array.from({ length: 200 }, (_, _id) => db.updateOne({ _id }, [set])))
  )
  assert.is(changedIn.length, 200)
  assert.ok(new Set(changedIn).size >= 190, `in ${new Set(changedIn).size} turns`)
})

test('the event loop turns between two documents of a slow $merge', async () => {
  const changedIn = await turnsOf((db, set) => db.aggregate(merge(set)).toArray())
  assert.is(changedIn.length, 200)
  assert.ok(new Set(changedIn).size >= 190, `in ${new Set(changedIn).size} turns`)
})

test('a $merge ends at its time limit, and what is merged stays', async () => {
  const changedIn = await turnsOf(async (db, set) => {
    const error = await rejects(db.aggregate(merge(set), { maxTimeMS: 300 }).toArray(), 'MaxTimeMSExpired')
    assert.match(error.message, /^The operation exceeded/)
    const changed = await db.countDocuments({ $expr: { $ne: ['$_id', '$n'] } })
    assert.ok(changed > 20 && changed < 150, `${changed} merged`)
  })
  assert.ok(changedIn.length < 150, `${changedIn.length} changed`)
})

test.run()
