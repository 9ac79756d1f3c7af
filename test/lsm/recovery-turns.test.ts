/** Opening a store lets the event loop turn, however much is in its logs. */
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { LsmLevel, MemoryFileSystem } from '../../src/lsm/index.ts'
import { turnsDuring } from '../support/loop-turns.ts'

test('replaying logs allows a turn after each record', async () => {
  const fileSystem = new MemoryFileSystem()
  const db = new LsmLevel<string, string>('/db', { fileSystem })
  for (let i = 0; i < 500; i++) await db.put(`key ${i}`, 'value')
  const killed = fileSystem.snapshot()
  await db.close()
  const again = new LsmLevel<string, string>('/db', { fileSystem: killed })
  const turns = await turnsDuring(() => again.open())
  assert.ok(turns >= 500, `${turns} turns`)
  assert.is(await again.get('key 499'), 'value')
  await again.close()
})

test.run()
