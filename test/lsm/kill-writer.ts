/**
 * Writes to a store until it is killed: `node kill-writer.ts <directory> <first write>`. A write's number determines
 * its operations, see kill-writes.ts. A line `<number>` on standard output reports that the write was acknowledged; it
 * stays in the pipe when the process dies.
 */
import { writeSync } from 'node:fs'
import { LsmLevel } from '../../src/lsm/index.ts'
import { asLevelOperation } from '../support/lsm-history.ts'
import { operationsOf, writerOptions } from './kill-writes.ts'

const [, , location = '', firstWrite = '1'] = process.argv
/** Concurrent writes. */
const maxPending = 8
const pause = new Int32Array(new SharedArrayBuffer(4))

let write = Number(firstWrite)
let db = await open()
say(`open ${write}`)

for (;;) {
  const pending: Promise<void>[] = []
  for (const count = 1 + (write % maxPending); pending.length < count; write++) pending.push(acknowledge(write))
  await Promise.all(pending)
  // Reopens now and then, so that it is also killed while closing and recovering.
  if (write % 397 < maxPending) {
    await db.close()
    db = await open()
  }
}

async function open(): Promise<LsmLevel> {
  const opened = new LsmLevel(location, writerOptions)
  await opened.open()
  return opened
}

async function acknowledge(number: number): Promise<void> {
  const sync = number % 50 === 0
  await db.batch(operationsOf(number).map(asLevelOperation), { sync })
  say(String(number))
}

/** Waits for the reader: a full pipe takes nothing or a part. */
function say(line: string): void {
  let rest = Buffer.from(`${line}\n`)
  while (rest.length > 0) {
    try {
      rest = rest.subarray(writeSync(1, rest))
    } catch (error) {
      if ((error as { readonly code?: string }).code !== 'EAGAIN') throw error
      Atomics.wait(pause, 0, 0, 1)
    }
  }
}
