/** Space of entries that are deleted in the order of their keys is freed, as of a queue or of documents that expire. */
import { setTimeout as sleep } from 'node:timers/promises'
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { LsmLevel } from '../../src/lsm/index.ts'
import { temporaryDirectory } from '../support/temporary-directory.ts'

const live = 2000
/** Incompressible. */
const value = (i: number): Uint8Array =>
  Uint8Array.from({ length: 1000 }, (_, at) => (Math.imul(i * 1000 + at, 2654435761) >>> 13) & 255)
const key = (i: number): string => i.toString(16).padStart(12, '0')

class Queue {
  readonly db: LsmLevel<string, Uint8Array>
  #last = 0

  constructor() {
    this.db = new LsmLevel(temporaryDirectory(), {
      valueEncoding: 'view',
      writeBufferSize: 256 * 1024,
      maxFileSize: 128 * 1024,
      level1Bytes: 1024 * 1024
    })
  }

  /** Puts entries behind the last one, and deletes as many that are first. */
  async advance(entries: number): Promise<void> {
    for (const end = this.#last + entries; this.#last < end; this.#last++) {
      const i = this.#last
      await this.db.batch([
        { type: 'put', key: key(i), value: value(i) },
        ...(i < live ? [] : [{ type: 'del' as const, key: key(i - live) }])
      ])
    }
    await this.db.flush()
  }

  tableEntries(): number {
    return this.db.stats().levels.reduce((sum, { entries }) => sum + entries, 0)
  }

  /** Waits for merges, as long as the tables have more entries than that. */
  async untilEntries(most: number): Promise<number> {
    for (let tries = 0; tries < 1500 && this.tableEntries() > most; tries++) await sleep(20)
    return this.tableEntries()
  }
}

test('a queue takes no more space than its entries, and some', async () => {
  const queue = new Queue()
  for (let turn = 0; turn < 5; turn++) {
    await queue.advance(live)
    const entries = await queue.untilEntries(1.5 * live)
    assert.ok(entries <= 1.5 * live, `${entries} entries in tables, for ${live}`)
  }
  assert.is((await queue.db.keys().all()).length, live)
  await queue.db.close()
})

test('a snapshot sees what is deleted after it, and what it held back is freed when it is closed', async () => {
  const queue = new Queue()
  await queue.advance(live)
  const snapshot = queue.db.snapshot()
  await queue.advance(live)
  await sleep(300)
  assert.equal(
    await queue.db.keys({ snapshot }).all(),
    Array.from({ length: live }, (_, i) => key(i))
  )
  assert.ok(queue.tableEntries() > 2 * live, 'nothing was freed')
  await snapshot.close()
  const entries = await queue.untilEntries(1.5 * live)
  assert.ok(entries <= 1.5 * live, `${entries} entries in tables, for ${live}`)
  await queue.db.close()
})

test.run()
