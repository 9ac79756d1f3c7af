/** The thread that builds units of a bulk load: one after the other, each answered by what was built, or by an error. */
import { parentPort } from 'node:worker_threads'
import { nodeFileSystem } from '../../lsm/fs/node-file-system.ts'
import { lowerThreadPriority } from '../../lsm/fs/thread-priority.ts'
import { EarlierChoices } from '../../sharded-bloom/bulk/earlier-choices.ts'
import type { LoadReply, LoadRequest } from './load-unit.ts'
import { buildUnit } from './unit-builder.ts'

// The import's other thread serves the event loop.
lowerThreadPriority()

const earlier = new EarlierChoices()
let last: Promise<unknown> = Promise.resolve()

parentPort?.on('message', (request: LoadRequest) => {
  last = last.then(() => answer(request))
})

async function answer(request: LoadRequest): Promise<void> {
  // What went wrong in the file system will do so again where it can be told of: in the write path.
  const built = await buildUnit(request, nodeFileSystem, earlier).catch(() => undefined)
  const reply: LoadReply = { built }
  parentPort?.postMessage(reply)
}
