/** The write queue of a collection leaves nothing running when it is closed. */
import { setTimeout as sleep } from 'node:timers/promises'
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import type { CollectionStore } from '../../src/docstore/store/collection-store.ts'
import type { Committer } from '../../src/docstore/write/committer.ts'
import { Writer } from '../../src/docstore/write/writer.ts'
import type { DocumentIndex } from '../../src/sharded-bloom/document-index.ts'

test('maintenance that becomes due while the writer closes does not run', async () => {
  let isClosed = false
  const maintained: boolean[] = []
  const index = {
    isMaintenanceDue: false,
    maintain: async () => {
      await sleep(5)
      maintained.push(isClosed)
      index.isMaintenanceDue = false
    }
  }
  // A task that writes nothing uses only these.
  const committer = { limit: 0, settle: async () => {} } as unknown as Committer
  const writer = new Writer(
    'c',
    {} as CollectionStore,
    index as unknown as DocumentIndex,
    committer,
    async () => undefined
  )
  const task = writer.exclusive(async () => {
    await sleep(5)
    index.isMaintenanceDue = true
  })
  await sleep(1)
  await writer.close()
  isClosed = true
  await task
  await sleep(20)
  assert.equal(maintained, [])
})

test.run()
