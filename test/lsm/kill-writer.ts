/**
 * Writes to a store until it is killed: `node kill-writer.ts <directory> <first write>`. What every write does follows
 * from its number, see kill-writes.ts. A line `<number>` on standard output says that the write was acknowledged; the
 * pipe keeps it when the process dies.
 */
import { writeSync } from 'node:fs'
import { LsmLevel } from '../../src/lsm/index.ts'
import { asLevelOperation } from '../support/lsm-history.ts'
import { operationsOf, writerOptions } from './kill-writes.ts'

const [, , location = '', firstWrite = '1'] = process.argv
/** Writes on their way at a time. */
const maxPending = 8
const pause = new Int32Array(new SharedArrayBuffer(4))

let write = Number(firstWrite)
let db = await open()
say(`open ${write}`)

for (;;) {
  const pending: Promise<void>[] = []
  for (const count = 1 + (write % maxPending); pending.length < count; write++) pending.push(acknowledge(write))
  await Promise.all(pending)
  // Deaths while closing and recovering count, too.
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

/** Waits for whoever reads: a pipe that is full takes nothing, or a part. */
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
