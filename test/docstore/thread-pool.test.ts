/** A thread of a pool answers, or is ended. */
import { Worker } from 'node:worker_threads'
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { ThreadPool } from '../../src/docstore/threads/thread-pool.ts'

interface Message {
  readonly kind: 'answer' | 'hang'
}

const program = `
const { parentPort } = require('node:worker_threads')
parentPort.on('message', ({ kind }) => {
  while (kind === 'hang') continue
  parentPort.postMessage({ kind: 'done' })
})`

const pool = new ThreadPool<Message, { readonly kind: 'done' }>(() => new Worker(program, { eval: true }))

async function fails(promise: Promise<unknown>): Promise<void> {
  const error = await promise.then(
    () => undefined,
    (reason: unknown) => reason
  )
  assert.instance(error, Error)
}

test('a thread that answers in time stays', async () => {
  const thread = pool.take()
  assert.equal(await thread.requestWithin(20_000, { kind: 'answer' }), { kind: 'done' })
  pool.putBack(thread)
  assert.is(pool.take(), thread)
  assert.equal(await thread.request({ kind: 'answer' }), { kind: 'done' })
  pool.putBack(thread)
})

test('a thread that hangs is ended, and owes nothing any more', async () => {
  const thread = pool.take()
  const hanging = fails(thread.request({ kind: 'hang' }))
  await fails(thread.requestWithin(50, { kind: 'answer' }))
  await hanging
  assert.ok(thread.isDead)
  pool.putBack(thread)
  const other = pool.take()
  assert.is.not(other, thread)
  assert.equal(await other.request({ kind: 'answer' }), { kind: 'done' })
  pool.putBack(other)
})

test.run()
