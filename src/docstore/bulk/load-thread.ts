/** The thread that builds units of a bulk load: one after the other, each answered by what was built, or by an error. */
import { readlinkSync } from 'node:fs'
import { constants, setPriority } from 'node:os'
import { basename } from 'node:path'
import { parentPort } from 'node:worker_threads'
import { nodeFileSystem } from '../../lsm/fs/node-file-system.ts'
import type { LoadReply, LoadRequest } from './load-unit.ts'
import { buildUnit } from './unit-builder.ts'

yieldToOthers()

let last: Promise<unknown> = Promise.resolve()

parentPort?.on('message', (request: LoadRequest) => {
  last = last.then(() => answer(request))
})

async function answer(request: LoadRequest): Promise<void> {
  // What went wrong in the file system will do so again where it can be told of: in the write path.
  const built = await buildUnit(request, nodeFileSystem).catch(() => undefined)
  const reply: LoadReply = { built }
  parentPort?.postMessage(reply)
}

/**
 * Where there are no more processors than threads of the import, the event loop waits for one of them: Linux gives it to the
 * thread that is meant to have it as soon as it asks. Elsewhere a priority is that of the whole process.
 */
function yieldToOthers(): void {
  try {
    setPriority(Number(basename(readlinkSync('/proc/thread-self'))), constants.priority.PRIORITY_BELOW_NORMAL)
  } catch {
    // It is as good as the others then.
  }
}
