/** Worker thread that builds units of bulk loads and segments of indexes, one after the other. */
import { parentPort, workerData } from 'node:worker_threads'
import { errorToData } from '../../lsm/compaction/job-errors.ts'
import { nodeFileSystem } from '../../lsm/fs/node-file-system.ts'
import { lowerThreadPriority } from '../../lsm/fs/thread-priority.ts'
import { EarlierChoices } from '../../sharded-bloom/bulk/earlier-choices.ts'
import { buildUnit } from '../bulk/unit-builder.ts'
import { buildSegmentTables } from '../rebuild/build-segment-tables.ts'
import type { ThreadMessage, ThreadReply, WorkKind } from './thread-work.ts'

/** Milliseconds between two reports of progress. */
const reportMilliseconds = 20

/** Nice values. The main thread serves the event loop; of the others, somebody waits for an import. */
const priorities: Record<WorkKind, number> = { unit: 4, segment: 10 }
lowerThreadPriority(priorities[workerData as WorkKind])

const earlier = new EarlierChoices()
let current = new AbortController()

parentPort?.on('message', async (message: ThreadMessage) => {
  if (message.kind === 'abort') {
    current.abort()
    return
  }
  current = new AbortController()
  try {
    reply({ kind: 'done', result: await resultOf(message, current.signal) })
  } catch (error) {
    reply({ kind: 'failed', error: errorToData(error) })
  }
})

function resultOf(message: Exclude<ThreadMessage, { kind: 'abort' }>, signal: AbortSignal) {
  if (message.kind === 'unit') return buildUnit(message.request, nodeFileSystem, earlier)
  return buildSegmentTables(message.request, nodeFileSystem, { signal, onProgress: progressReporter() })
}

function progressReporter(): (documents: number) => void {
  let reported = performance.now()
  return (documents) => {
    const now = performance.now()
    if (now - reported < reportMilliseconds) return
    reported = now
    reply({ kind: 'progress', documents })
  }
}

function reply(message: ThreadReply): void {
  parentPort?.postMessage(message)
}
