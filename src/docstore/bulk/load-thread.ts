/**
 * Worker thread that builds units of bulk loads one after the other, and replies to each request with the result or
 * undefined.
 */
import { parentPort } from 'node:worker_threads'
import { nodeFileSystem } from '../../lsm/fs/node-file-system.ts'
import { lowerThreadPriority } from '../../lsm/fs/thread-priority.ts'
import { EarlierChoices } from '../../sharded-bloom/bulk/earlier-choices.ts'
import type { LoadReply, LoadRequest } from './load-unit.ts'
import { buildUnit } from './unit-builder.ts'

// The main thread serves the event loop.
lowerThreadPriority()

const earlier = new EarlierChoices()
let last: Promise<unknown> = Promise.resolve()

parentPort?.on('message', (request: LoadRequest) => {
  last = last.then(() => answer(request))
})

async function answer(request: LoadRequest): Promise<void> {
  // File system errors will recur where they can be reported: in the write path.
  const built = await buildUnit(request, nodeFileSystem, earlier).catch(() => undefined)
  const reply: LoadReply = { built }
  parentPort?.postMessage(reply)
}
